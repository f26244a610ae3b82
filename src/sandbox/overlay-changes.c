// SPDX-License-Identifier: GPL-3.0-or-later
// Lists what a run changed, from the upper layers. A layer shows where something happened;
// comparing with the file below shows what.
#include "sandbox/overlay.h"

#include "base/cleanup.h"
#include "base/tree.h"
#include "sandbox/changes.h"
#include "sandbox/digest.h"
#include "sandbox/working-copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

struct found {
    struct sandbox_change change;
    char *path, *open;
};
typedef ARRAY(struct found) found_list;

struct walk {
    struct sandbox *sandbox;
    const char *const *ignored;
    const char *layer; // where the layer lies; "" is the root
    char open[64];     // path of the layer for this process
    found_list found;
};

// A walk goes through the layer or the merged view, sides[0], and what was there before the run,
// sides[1]. Marks of a directory:
enum {
    WHOLE = 1,  // it is complete; else it lies over the one below
    MERGED = 2, // it is in the merged view
};

static bool is_whiteout(const struct stat *status)
{
    return S_ISCHR(status->st_mode) && status->st_rdev == 0;
}

// Whether a path is in a place that a run has for itself: what happens there is no result, unless
// the run works there.
static bool is_private(const struct sandbox *sandbox, const char *path)
{
    static const char *const places[] = {"/tmp", "/dev", "/run", "/proc", "/sys"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (path_below(path, places[i]))
            return !path_below(sandbox->directory, places[i]) ||
                   !(path_below(path, sandbox->directory) || path_below(sandbox->directory, path));
    return false;
}

static struct error *add(struct walk *walk, const char *path, const char *open,
                         const struct sandbox_change *change)
{
    struct found *found = ARRAY_ADD(&walk->found);
    if (found == NULL)
        return error_no_memory();
    found->change = *change;
    found->path = strdup(path);
    found->open = open == NULL ? NULL : strdup(open);
    if (found->path == NULL || (open != NULL && found->open == NULL))
        return error_no_memory();
    found->change.path = found->path;
    found->change.open = found->open;
    return NULL;
}

// Opens a file of the layer. The trial does not need it any more, so it may be made readable for
// us.
static int open_again(int directory, const char *name, int flags)
{
    int file = openat(directory, name, flags | O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0 && errno == EACCES && fchmodat(directory, name, 0700, 0) == 0)
        file = openat(directory, name, flags | O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    return file;
}

// Hashes what a path holds. False if it cannot be read.
static bool content(int directory, const char *name, const struct stat *status, bool ours,
                    uint64_t *ret_hash)
{
    *ret_hash = 0;
    if (S_ISLNK(status->st_mode)) {
        char target[PATH_MAX];
        ssize_t size = readlinkat(directory, name, target, sizeof target);
        if (size < 0)
            return false;
        *ret_hash = digest_bytes(target, (size_t)size);
        return true;
    }
    if (!S_ISREG(status->st_mode))
        return true;
    _cleanup_close_ int file =
        ours ? open_again(directory, name, 0)
             : openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    return file >= 0 && digest_file(file, (uint64_t)status->st_size, ret_hash);
}

static uint64_t size_of(const struct stat *status)
{
    return S_ISREG(status->st_mode) || S_ISLNK(status->st_mode) ? (uint64_t)status->st_size : 0;
}

// Compares modes. In the upper layer, directories of other users have modes that we gave them (see
// view_mode()).
static bool same_mode(const struct walk *walk, const struct stat *upper, const struct stat *lower)
{
    if (S_ISLNK(upper->st_mode))
        return true;
    return upper->st_mode == lower->st_mode ||
           (walk->sandbox->overlay->own_users && S_ISDIR(upper->st_mode) &&
            lower->st_uid != getuid());
}

// A file that was written again counts as changed even if its content is the same: a trial that
// does not write it is different.
static bool is_written(const struct stat *upper, const struct stat *lower)
{
    return S_ISREG(upper->st_mode) && (upper->st_mtim.tv_sec != lower->st_mtim.tv_sec ||
                                       upper->st_mtim.tv_nsec != lower->st_mtim.tv_nsec);
}

static bool is_same(struct walk *walk, int lower_directory, const char *name,
                    const struct stat *upper, const struct stat *lower, uint64_t hash)
{
    uint64_t other;
    return ((upper->st_mode ^ lower->st_mode) & S_IFMT) == 0 && same_mode(walk, upper, lower) &&
           !is_written(upper, lower) && size_of(upper) == size_of(lower) &&
           content(lower_directory, name, lower, false, &other) && other == hash;
}

// Whether a directory replaces the one below it, instead of being merged with it.
static bool replaces(const struct walk *walk, int directory)
{
    const char *opaque =
        walk->sandbox->overlay->own_users ? "user.overlay.opaque" : "trusted.overlay.opaque";
    char value;
    return fgetxattr(directory, opaque, &value, 1) == 1 && value == 'y';
}

static bool is_moved(const struct walk *walk, int directory)
{
    return !walk->sandbox->overlay->own_users &&
           fgetxattr(directory, "trusted.overlay.redirect", NULL, 0) > 0;
}

// Opens the two directories of this name, to be walked next.
static struct error *descend(const struct walk *walk, const struct tree_directory *directory,
                             const char *name, const char *path, struct tree_directory *below)
{
    const int *sides = directory->sides;
    _cleanup_close_ int upper = open_again(sides[0], name, O_DIRECTORY);
    if (upper < 0)
        return error_from_errno(errno, "cannot look into %s of a trial", path);
    if (sides[1] >= 0)
        below->sides[1] = openat(sides[1], name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (sides[1] >= 0 && below->sides[1] < 0 && (errno == EMFILE || errno == ENFILE))
        return error_from_errno(errno, "cannot look at what was in %s", path);
    below->marks = directory->marks;
    if ((directory->marks & WHOLE) == 0 && is_moved(walk, upper)) {
        // A moved directory: its content is elsewhere below, and only the merged view shows it.
        char merged[PATH_MAX];
        if ((size_t)snprintf(merged, sizeof merged, "%s%s", walk->sandbox->root, path) >=
            sizeof merged)
            return NULL; // see look_at()
        below->sides[0] = openat(AT_FDCWD, merged, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (below->sides[0] < 0)
            return error_from_errno(errno, "cannot look into %s of a trial", path);
        below->marks = WHOLE | MERGED;
        below->elsewhere = true;
        return NULL;
    }
    if (below->sides[1] < 0 || replaces(walk, upper))
        below->marks |= WHOLE;
    below->sides[0] = upper;
    upper = -1;
    return NULL;
}

// Whether a path is hidden by the copy of the working directory, which is compared by itself.
static bool is_copied(const struct walk *walk, const char *path)
{
    const char *directory = walk->sandbox->directory;
    bool above = !path_below(walk->layer, directory) || strcmp(walk->layer, directory) == 0;
    return walk->sandbox->copy.path != NULL && above && path_below(path, directory);
}

// The path of an entry, as seen from inside. False if it is too long for a path, or not of
// interest.
static bool path_of(const struct walk *walk, const struct tree_directory *directory,
                    const char *name, char path[PATH_MAX])
{
    const char *slash = directory->path[0] == '\0' ? "" : "/";
    // Too long: ordeal-campaign(5) says that such files are not compared.
    return (size_t)snprintf(path, PATH_MAX, "%s%s%s/%s", walk->layer, slash, directory->path,
                            name) < PATH_MAX &&
           !is_private(walk->sandbox, path) && !is_copied(walk, path) &&
           !change_ignored(path, walk->sandbox->directory, walk->ignored);
}

static struct error *add_entry(struct walk *walk, const struct tree_directory *directory,
                               const char *path, const struct stat *status, uint64_t hash)
{
    struct sandbox_change change = {.kind = change_kind(status->st_mode),
                                    .size = size_of(status),
                                    .hash = hash,
                                    .mode = status->st_mode & 07777};
    if (!S_ISREG(status->st_mode))
        return add(walk, path, NULL, &change);
    char open[PATH_MAX];
    bool merged = (directory->marks & MERGED) != 0;
    size_t size =
        (size_t)snprintf(open, sizeof open, "%s%s", merged ? walk->sandbox->root : walk->open,
                         path + (merged ? 0 : strlen(walk->layer)));
    return add(walk, path, size < sizeof open ? open : NULL, &change);
}

static struct error *look_at(void *data, const struct tree_directory *directory, const char *name,
                             struct tree_directory *below)
{
    struct walk *walk = data;
    const int *sides = directory->sides;
    struct stat upper, lower;
    char path[PATH_MAX];
    if (fstatat(sides[0], name, &upper, AT_SYMLINK_NOFOLLOW) < 0 ||
        !path_of(walk, directory, name, path))
        return NULL; // gone meanwhile, or not of interest
    bool was = sides[1] >= 0 && fstatat(sides[1], name, &lower, AT_SYMLINK_NOFOLLOW) == 0;
    if (is_whiteout(&upper))
        return was ? add(walk, path, NULL, &(struct sandbox_change){.kind = SANDBOX_DELETED})
                   : NULL;
    uint64_t hash;
    bool told = content(sides[0], name, &upper, true, &hash);
    if (!was || !told || !is_same(walk, sides[1], name, &upper, &lower, hash))
        TRY(add_entry(walk, directory, path, &upper, hash));
    return S_ISDIR(upper.st_mode) ? descend(walk, directory, name, path, below) : NULL;
}

// Adds what was below and is missing in a directory that replaces it.
static struct error *look_for_missing(void *data, const struct tree_directory *parent,
                                      const char *own_name, const struct tree_directory *directory)
{
    struct walk *walk = data;
    const int *sides = directory->sides;
    if ((directory->marks & WHOLE) == 0 || sides[1] < 0)
        return NULL;
    int copy = openat(sides[1], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    if (stream == NULL) {
        int code = errno;
        if (copy >= 0)
            close(copy);
        return error_from_errno(code, "cannot list what was in %s", own_name);
    }
    struct error *error = NULL;
    for (struct dirent *entry; error == NULL && (entry = readdir(stream)) != NULL;) {
        struct stat status;
        char path[PATH_MAX];
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            fstatat(sides[0], entry->d_name, &status, AT_SYMLINK_NOFOLLOW) < 0 &&
            path_of(walk, directory, entry->d_name, path))
            error = add(walk, path, NULL, &(struct sandbox_change){.kind = SANDBOX_DELETED});
    }
    closedir(stream);
    return error;
}

static struct error *walk_layer(struct walk *walk, size_t number)
{
    static const struct tree_visitor visitor = {look_at, look_for_missing};
    struct overlay *overlay = walk->sandbox->overlay;
    char name[32];
    walk->layer = overlay->layers.items[number];
    snprintf(name, sizeof name, "u%zu", number);
    _cleanup_close_ int upper = open_again(overlay->upper_layers, name, O_DIRECTORY);
    if (upper < 0)
        return errno == ENOENT ? NULL : error_from_errno(errno, "cannot look into a layer");
    _cleanup_close_ int lower =
        open(walk->layer[0] == '\0' ? "/" : walk->layer, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    snprintf(walk->open, sizeof walk->open, "/proc/%ld/fd/%d/u%zu", (long)getpid(),
             overlay->upper_layers, number);
    return tree_walk(&(struct tree_directory){.sides = {upper, lower}}, &visitor, walk);
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct found *)a)->path, ((const struct found *)b)->path);
}

static struct error *add_copied(void *data, const struct sandbox_change *change)
{
    return add(data, change->path, change->open, change);
}

struct error *overlay_each_change(struct sandbox *sandbox, const char *const *ignored,
                                  struct error *(*change)(void *, const struct sandbox_change *),
                                  void *data)
{
    struct walk walk = {.sandbox = sandbox, .ignored = ignored};
    struct error *error = NULL;
    for (size_t i = 0; error == NULL && i < sandbox->overlay->layers.count; i++)
        error = walk_layer(&walk, i);
    if (error == NULL && sandbox->copy.path != NULL)
        error = working_copy_each_change(sandbox, ignored, add_copied, &walk);
    if (error == NULL && walk.found.count != 0)
        qsort(walk.found.items, walk.found.count, sizeof *walk.found.items, by_path);
    for (size_t i = 0; i < walk.found.count; i++) {
        if (error == NULL)
            error = change(data, &walk.found.items[i].change);
        free(walk.found.items[i].path);
        free(walk.found.items[i].open);
    }
    ARRAY_DEINIT(&walk.found);
    return error;
}
