// SPDX-License-Identifier: GPL-3.0-or-later
// Lists what a run changed, from the upper layers. A layer shows where something happened;
// comparing with the file below shows what.
#include "sandbox/overlay.h"

#include "base/cleanup.h"
#include "sandbox/changes.h"
#include "sandbox/digest.h"

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
    found_list found;
};

// Both sides of a directory. `upper` is in the layer or in the merged view. `lower` is -1 if there
// is none.
struct sides {
    const char *path; // as seen from inside; "" is the root
    const char *open; // path of `upper`
    int upper, lower;
    bool whole; // upper is complete; else it lies over lower
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

static bool is_same(struct walk *walk, const struct sides *sides, const char *name,
                    const struct stat *upper, const struct stat *lower, uint64_t hash)
{
    uint64_t other;
    return ((upper->st_mode ^ lower->st_mode) & S_IFMT) == 0 && same_mode(walk, upper, lower) &&
           !is_written(upper, lower) && size_of(upper) == size_of(lower) &&
           content(sides->lower, name, lower, false, &other) && other == hash;
}

static struct error *compare(struct walk *walk, const struct sides *sides);

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

// Every level needs descriptors, and they ran out. If the directory was there before (`was`),
// something in it is different, or it would not be in the layer: add it as changed. Otherwise it is
// far below something that the trial made, which is listed already.
static struct error *add_too_deep(struct walk *walk, bool was, const char *path)
{
    return was ? add(walk, path, NULL, &(struct sandbox_change){.kind = SANDBOX_DIRECTORY}) : NULL;
}

static struct error *descend(struct walk *walk, const struct sides *sides, const char *name,
                             const char *path, const char *open)
{
    bool was = sides->lower >= 0;
    _cleanup_close_ int upper = open_again(sides->upper, name, O_DIRECTORY);
    if (upper < 0 && errno == EMFILE)
        return add_too_deep(walk, was, path);
    if (upper < 0)
        return error_from_errno(errno, "cannot look into %s of a trial", path);
    _cleanup_close_ int lower =
        was ? openat(sides->lower, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (was && lower < 0 && errno == EMFILE)
        return add_too_deep(walk, was, path);
    if (!sides->whole && is_moved(walk, upper)) {
        // A moved directory: its content is elsewhere below, and only the merged view shows it.
        char merged[PATH_MAX];
        if ((size_t)snprintf(merged, sizeof merged, "%s%s", walk->sandbox->root, path) >=
            sizeof merged)
            return NULL; // see look_at()
        _cleanup_close_ int view = openat(AT_FDCWD, merged, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (view < 0)
            return error_from_errno(errno, "cannot look into %s of a trial", path);
        return compare(walk, &(struct sides){path, merged, view, lower, true});
    }
    bool whole = sides->whole || lower < 0 || replaces(walk, upper);
    return compare(walk, &(struct sides){path, open, upper, lower, whole});
}

static struct error *look_at(struct walk *walk, const struct sides *sides, const char *name)
{
    struct stat upper, lower;
    if (fstatat(sides->upper, name, &upper, AT_SYMLINK_NOFOLLOW) < 0)
        return NULL; // gone meanwhile
    bool was = sides->lower >= 0 && fstatat(sides->lower, name, &lower, AT_SYMLINK_NOFOLLOW) == 0;
    char path[PATH_MAX], open[PATH_MAX];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", sides->path, name) >= sizeof path ||
        (size_t)snprintf(open, sizeof open, "%s/%s", sides->open, name) >= sizeof open)
        return NULL; // far below something that the trial made, which is listed
    if (is_private(walk->sandbox, path) ||
        change_ignored(path, walk->sandbox->directory, walk->ignored))
        return NULL;
    if (is_whiteout(&upper))
        return was ? add(walk, path, NULL, &(struct sandbox_change){.kind = SANDBOX_DELETED})
                   : NULL;
    uint64_t hash;
    bool told = content(sides->upper, name, &upper, true, &hash);
    if (!was || !told || !is_same(walk, sides, name, &upper, &lower, hash)) {
        struct sandbox_change change = {.kind = change_kind(upper.st_mode),
                                        .size = size_of(&upper),
                                        .hash = hash,
                                        .mode = upper.st_mode & 07777};
        TRY(add(walk, path, S_ISREG(upper.st_mode) ? open : NULL, &change));
    }
    return S_ISDIR(upper.st_mode) ? descend(walk, sides, name, path, open) : NULL;
}

// Adds what was below and is missing in a directory that replaces it.
static struct error *look_for_missing(struct walk *walk, const struct sides *sides,
                                      const char *name)
{
    struct stat status;
    char path[PATH_MAX];
    if (fstatat(sides->upper, name, &status, AT_SYMLINK_NOFOLLOW) == 0)
        return NULL;
    if ((size_t)snprintf(path, sizeof path, "%s/%s", sides->path, name) >= sizeof path ||
        is_private(walk->sandbox, path) ||
        change_ignored(path, walk->sandbox->directory, walk->ignored))
        return NULL;
    return add(walk, path, NULL, &(struct sandbox_change){.kind = SANDBOX_DELETED});
}

static struct error *each_name(struct walk *walk, const struct sides *sides, int directory,
                               struct error *(*look)(struct walk *, const struct sides *,
                                                     const char *))
{
    int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy < 0 ? NULL : fdopendir(copy);
    if (stream == NULL) {
        int code = errno;
        if (copy >= 0)
            close(copy);
        if (code == EMFILE)
            return add_too_deep(walk, sides->lower >= 0, sides->path);
        return error_from_errno(code, "cannot list %s of a trial", sides->path);
    }
    struct error *error = NULL;
    for (struct dirent *entry; error == NULL && (entry = readdir(stream)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            error = look(walk, sides, entry->d_name);
    closedir(stream);
    return error;
}

static struct error *compare(struct walk *walk, const struct sides *sides)
{
    TRY(each_name(walk, sides, sides->upper, look_at));
    if (!sides->whole || sides->lower < 0)
        return NULL;
    return each_name(walk, sides, sides->lower, look_for_missing);
}

static struct error *walk_layer(struct walk *walk, size_t number)
{
    struct overlay *overlay = walk->sandbox->overlay;
    const char *path = overlay->layers.items[number];
    char name[32], open_path[64];
    snprintf(name, sizeof name, "u%zu", number);
    _cleanup_close_ int upper = open_again(overlay->upper_layers, name, O_DIRECTORY);
    if (upper < 0)
        return errno == ENOENT ? NULL : error_from_errno(errno, "cannot look into a layer");
    _cleanup_close_ int lower =
        open(path[0] == '\0' ? "/" : path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    snprintf(open_path, sizeof open_path, "/proc/%ld/fd/%d/u%zu", (long)getpid(),
             overlay->upper_layers, number);
    return compare(walk, &(struct sides){path, open_path, upper, lower, false});
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct found *)a)->path, ((const struct found *)b)->path);
}

struct error *overlay_each_change(struct sandbox *sandbox, const char *const *ignored,
                                  struct error *(*change)(void *, const struct sandbox_change *),
                                  void *data)
{
    struct walk walk = {.sandbox = sandbox, .ignored = ignored};
    struct error *error = NULL;
    for (size_t i = 0; error == NULL && i < sandbox->overlay->layers.count; i++)
        error = walk_layer(&walk, i);
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
