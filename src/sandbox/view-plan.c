// SPDX-License-Identifier: GPL-3.0-or-later
// Plans a private view. Where the kernel allows it, that is one overlay over the root. Else there
// is one over every directory that has no mount below: in a user namespace, mounts of the outside
// cannot be taken apart. Every other file system gets its own overlay. What cannot be overlaid is
// read-only.
#include "sandbox/changes.h"
#include "sandbox/mounts.h"
#include "sandbox/view.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define ENTRIES_LIMIT 512 // at most, of a directory that is built from its entries

struct planning {
    struct view *view;
    const char *directory; // where the trials work
    struct mounts mounts;
};

// Whether a path is made anew for every run.
static bool is_special(const char *path)
{
    return path_below(path, "/proc") || path_below(path, "/sys") || path_below(path, "/dev");
}

static struct error *outside(const char *path, struct buffer *ret_path)
{
    return buffer_printf(ret_path, "/old%s", path);
}

static struct error *add_part(struct view *view, enum view_part_kind kind, const char *path,
                              const struct stat *status, struct view_part **ret_part)
{
    _cleanup_(buffer_deinit) struct buffer full = {0};
    TRY(outside(path, &full));
    struct view_part *part = ARRAY_ADD(&view->parts);
    if (part == NULL || (part->path = strdup(path)) == NULL)
        return error_no_memory();
    part->kind = kind;
    part->mode = view_mode(view, full.data, status->st_mode);
    part->uid = status->st_uid;
    part->gid = status->st_gid;
    *ret_part = part;
    return NULL;
}

// Shows a path read-only. `refused`: it should be writable. Nothing is added if it is gone
// meanwhile, as files in /tmp may be.
static struct error *add_bind(struct planning *planning, const char *path,
                              const struct stat *status, bool refused)
{
    struct view *view = planning->view;
    _cleanup_(buffer_deinit) struct buffer from = {0}, to = {0};
    struct view_part *part = NULL;
    TRY(outside(path, &from));
    TRY(buffer_printf(&to, "/ro/%u", view->binds++));
    if (S_ISDIR(status->st_mode) ? mkdir(to.data, 0755) < 0 : mknod(to.data, S_IFREG | 0644, 0) < 0)
        return error_from_errno(errno, "cannot make a place for %s", path);
    int result = mount(from.data, to.data, NULL, MS_BIND | MS_REC, NULL);
    if (result < 0 && errno == ENOENT)
        return NULL;
    if (result < 0 || view_readonly(to.data, false) < 0)
        return error_from_errno(errno, "cannot show %s read-only", path);
    TRY(add_part(view, VIEW_BIND, path, status, &part));
    part->number = view->binds - 1;
    part->refused = refused;
    return NULL;
}

// Adds an overlay if mounting it works; *ret_works is false (errno) if it does not.
static struct error *add_overlay(struct planning *planning, const char *path,
                                 const struct stat *status, unsigned long flags, bool *ret_works)
{
    struct view *view = planning->view;
    struct view_part *part = NULL;
    TRY(add_part(view, VIEW_OVERLAY, path, status, &part));
    part->number = (unsigned)view->layers.count;
    part->flags = flags;
    if (mount("ordeal", "/layer", "tmpfs", MS_NOSUID | MS_NODEV, "mode=755") < 0)
        return error_from_errno(errno, "cannot mount a tmpfs");
    int code = view_mount_overlay(view, part, "/new");
    *ret_works = code == 0;
    if (code == 0)
        umount2("/new", MNT_DETACH);
    umount2("/layer", MNT_DETACH);
    if (*ret_works) {
        char **layer = ARRAY_ADD(&view->layers);
        if (layer == NULL || (*layer = strdup(path)) == NULL)
            return error_no_memory();
        return NULL;
    }
    free(part->path);
    view->parts.count--;
    errno = code;
    return NULL;
}

static struct error *add_tree(struct planning *planning, const char *path);

// Whether a directory of other users has no directories and nothing that we could change: then an
// overlay would cost each run time for nothing.
static bool has_nothing_to_change(const struct view *view, const char *path)
{
    DIR *stream = view->own_users && access(path, W_OK) < 0 ? opendir(path) : NULL;
    if (stream == NULL)
        return false;
    bool nothing = true;
    for (struct dirent *entry; nothing && (entry = readdir(stream)) != NULL;)
        nothing = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
                  (entry->d_type == DT_REG && faccessat(dirfd(stream), entry->d_name, W_OK, 0) < 0);
    closedir(stream);
    return nothing;
}

// Whether the copy of the working directory will lie over a path: see add_copy().
static bool is_copied(const struct planning *planning, const char *path)
{
    return planning->view->copy != NULL && path_below(path, planning->directory) &&
           (strcmp(path, planning->directory) == 0 || mounts_at(&planning->mounts, path) == NULL);
}

// Adds a mount, or a directory without mounts below, as a whole.
static struct error *add_whole(struct planning *planning, const char *path,
                               const struct stat *status, const struct mount_entry *entry)
{
    if (entry != NULL && (entry->readonly || mount_is_virtual(entry)))
        return add_bind(planning, path, status, false);
    _cleanup_(buffer_deinit) struct buffer full = {0};
    TRY(outside(path, &full));
    if (has_nothing_to_change(planning->view, full.data))
        return add_bind(planning, path, status, false);
    int code = ENOTDIR;
    if (S_ISDIR(status->st_mode)) {
        bool works;
        TRY(add_overlay(planning, path, status, entry == NULL ? 0 : entry->flags, &works));
        if (works)
            return NULL;
        code = errno;
    }
    bool refused = code != ENOTDIR || access(full.data, W_OK) == 0;
    if (refused && !is_copied(planning, path))
        TRY(view_warn(planning->view, "%s is read-only in trials: it cannot be overlaid (%s)",
                      path[0] == '\0' ? "/" : path, strerror(code)));
    return add_bind(planning, path, status, refused);
}

static struct error *add_link(struct planning *planning, const char *path, const char *full,
                              const struct stat *status)
{
    char target[4096];
    ssize_t size = readlink(full, target, sizeof target - 1);
    if (size < 0)
        return error_from_errno(errno, "cannot read the link %s", path);
    target[size] = '\0';
    struct view_part *part = NULL;
    TRY(add_part(planning->view, VIEW_LINK, path, status, &part));
    part->target = strdup(target);
    return part->target == NULL ? error_no_memory() : NULL;
}

static struct error *add_entry(struct planning *planning, const char *path)
{
    struct stat status;
    _cleanup_(buffer_deinit) struct buffer full = {0};
    TRY(outside(path, &full));
    if (lstat(full.data, &status) < 0)
        return NULL; // gone, or a mount that does not answer
    if (S_ISLNK(status.st_mode))
        return add_link(planning, path, full.data, &status);
    if (S_ISDIR(status.st_mode) && is_special(path)) {
        struct view_part *part = NULL;
        return add_part(planning->view, VIEW_DIRECTORY, path, &status, &part);
    }
    if (S_ISDIR(status.st_mode))
        return add_tree(planning, path);
    if (S_ISREG(status.st_mode))
        return add_whole(planning, path, &status, NULL);
    return NULL;
}

// Whether a path is shown read-only as it should be, and all that is mounted below it.
static bool already_bound(const struct view *view, const char *path)
{
    for (size_t i = 0; i < view->parts.count; i++) {
        const struct view_part *part = &view->parts.items[i];
        if (part->kind == VIEW_BIND && !part->refused && path_below(path, part->path))
            return true;
    }
    return false;
}

// Adds the file systems that are mounted below `path`, over a part that shows it as a whole.
static struct error *add_mounts(struct planning *planning, const char *path)
{
    for (size_t i = 0; i < planning->mounts.entries.count; i++) {
        const struct mount_entry *entry = &planning->mounts.entries.items[i];
        struct stat status;
        _cleanup_(buffer_deinit) struct buffer full = {0};
        if (!path_below(entry->path, path) || strcmp(entry->path, path) == 0 ||
            is_special(entry->path) || already_bound(planning->view, entry->path))
            continue;
        TRY(outside(entry->path, &full));
        if (stat(full.data, &status) == 0)
            TRY(add_whole(planning, entry->path, &status, entry));
    }
    return NULL;
}

// Adds a directory with mounts below, entry by entry.
static struct error *add_pieces(struct planning *planning, const char *path,
                                const struct stat *status)
{
    _cleanup_(buffer_deinit) struct buffer full = {0};
    TRY(outside(path, &full));
    struct dirent **entries = NULL;
    int count = scandir(full.data, &entries, NULL, alphasort);
    struct error *error = NULL;
    if (count < 0 || count > ENTRIES_LIMIT) {
        error =
            view_warn(planning->view, "%s is read-only in trials: there are mounts below it and %s",
                      path, count < 0 ? strerror(errno) : "too many entries in it");
        if (error == NULL)
            error = add_bind(planning, path, status, true);
        if (error == NULL)
            error = add_mounts(planning, path);
    } else {
        struct view_part *part = NULL;
        error = add_part(planning->view, VIEW_DIRECTORY, path, status, &part);
    }
    for (int i = 0; i < count; i++) {
        _cleanup_(buffer_deinit) struct buffer below = {0};
        const char *name = entries[i]->d_name;
        if (error == NULL && count <= ENTRIES_LIMIT && strcmp(name, ".") != 0 &&
            strcmp(name, "..") != 0 && (error = buffer_printf(&below, "%s/%s", path, name)) == NULL)
            error = add_entry(planning, below.data);
        free(entries[i]);
    }
    free(entries);
    return error;
}

static struct error *add_tree(struct planning *planning, const char *path)
{
    struct stat status;
    _cleanup_(buffer_deinit) struct buffer full = {0};
    TRY(outside(path, &full));
    if (stat(full.data, &status) < 0)
        return NULL;
    if (planning->view->own_users && access(full.data, X_OK) < 0) {
        struct view_part *part = NULL; // we may not enter it: a closed, empty one is as good
        return add_part(planning->view, VIEW_DIRECTORY, path, &status, &part);
    }
    if (mounts_below(&planning->mounts, path))
        return add_pieces(planning, path, &status);
    return add_whole(planning, path, &status, mounts_at(&planning->mounts, path));
}

static struct error *add_shared_memory(struct planning *planning)
{
    struct stat status;
    bool works;
    if (stat("/old/dev/shm", &status) < 0)
        return NULL;
    return add_overlay(planning, "/dev/shm", &status, 0, &works);
}

// The part that holds a path, or NULL.
static const struct view_part *part_of(const struct view *view, const char *path)
{
    const struct view_part *inner = NULL;
    for (size_t i = 0; i < view->parts.count; i++) {
        const struct view_part *part = &view->parts.items[i];
        if (part->kind != VIEW_LINK && path_below(path, part->path) &&
            (inner == NULL || strlen(part->path) > strlen(inner->path)))
            inner = part;
    }
    return inner;
}

// Adds the directories of other users on the way to `path`, and ours that lead to them.
static struct error *add_paths_to(struct view *view, const char *path)
{
    const struct view_part *inner = part_of(view, path);
    if (inner == NULL || inner->kind != VIEW_OVERLAY)
        return NULL;
    size_t start = strlen(inner->path), needed = view->paths.count;
    for (size_t end = start; path[end] != '\0';) {
        end += 1 + strcspn(path + end + 1, "/");
        _cleanup_(buffer_deinit) struct buffer full = {0};
        struct stat status;
        TRY(buffer_printf(&full, "/old%.*s", (int)end, path));
        if (lstat(full.data, &status) < 0 || !S_ISDIR(status.st_mode))
            break;
        struct view_path *way = ARRAY_ADD(&view->paths);
        if (way == NULL || (way->path = strndup(path + start, end - start)) == NULL)
            return error_no_memory();
        way->layer = inner->number;
        way->mode = view_mode(view, full.data, status.st_mode);
        if (!view_owns(view, full.data))
            needed = view->paths.count;
    }
    while (view->paths.count > needed)
        free(view->paths.items[--view->paths.count].path);
    return NULL;
}

static struct error *add_paths(struct view *view, const char *directory)
{
    const char *const places[] = {directory, "/var/tmp", "/run/lock"};
    if (!view->own_users)
        return NULL;
    for (size_t i = view->copy == NULL ? 0 : 1; i < sizeof places / sizeof *places; i++)
        TRY(add_paths_to(view, places[i]));
    return NULL;
}

// Shows the copy over the directory, and the file systems that are mounted below it over the copy.
// What else is planned there is dropped.
static struct error *add_copy(struct planning *planning, const char *directory)
{
    struct view *view = planning->view;
    __typeof__(view->parts) below = {0};
    size_t kept = 0;
    struct stat status;
    _cleanup_(buffer_deinit) struct buffer full = {0};
    TRY(outside(directory, &full));
    if (stat(full.data, &status) < 0)
        return error_from_errno(errno, "cannot look at %s", directory);
    for (size_t i = 0; i < view->parts.count; i++) {
        const struct view_part part = view->parts.items[i];
        if (!path_below(part.path, directory) || strcmp(part.path, directory) == 0) {
            view->parts.items[kept++] = part;
        } else if (!is_copied(planning, part.path)) {
            struct view_part *place = ARRAY_ADD(&below);
            if (place == NULL)
                return error_no_memory();
            *place = part;
        }
    }
    view->parts.count = view->early = kept;
    struct view_part *part = NULL;
    TRY(add_part(view, VIEW_COPY, directory, &status, &part));
    for (size_t i = 0; i < below.count; i++) {
        struct view_part *place = ARRAY_ADD(&view->parts);
        if (place == NULL)
            return error_no_memory();
        *place = below.items[i];
    }
    ARRAY_DEINIT(&below);
    return NULL;
}

// Says in one sentence what would be one for every directory.
static struct error *warn_of_none(struct view *view)
{
    for (size_t i = 0; i < view->warnings.count; i++)
        free(view->warnings.items[i]);
    view->warnings.count = 0;
    return view_warn(view, "the kernel refuses overlays here: all files outside the working "
                           "directory are read-only in trials, and /tmp is empty");
}

// Whether the directory or something of its own, not of a file system that is mounted below, is
// read-only for want of an overlay.
static bool lacks(const struct planning *planning, const char *directory)
{
    const struct view *view = planning->view;
    const struct view_part *part = part_of(view, directory);
    bool refused = part != NULL && part->refused;
    for (size_t i = 0; i < view->parts.count; i++)
        refused |= view->parts.items[i].refused &&
                   path_below(view->parts.items[i].path, directory) &&
                   mounts_at(&planning->mounts, view->parts.items[i].path) == NULL;
    return refused;
}

static struct error *plan(struct planning *planning, const char *directory)
{
    struct stat status;
    static const char file[] = "/old/proc/self/mountinfo";
    if (access(file, R_OK) < 0 && errno == ENOENT)
        return error_new("/proc is not mounted, which tells what is mounted where");
    TRY(mounts_read(file, "/old", &planning->mounts));
    if (stat("/old", &status) < 0)
        return error_from_errno(errno, "cannot look at /");
    const struct mount_entry *root = mounts_at(&planning->mounts, "");
    bool works = false;
    if (!planning->view->own_users)
        TRY(add_overlay(planning, "", &status, root == NULL ? 0 : root->flags, &works));
    TRY(works ? add_mounts(planning, "") : add_pieces(planning, "", &status));
    struct view *view = planning->view;
    view->lacks_directory = lacks(planning, directory);
    if (view->layers.count == 0)
        TRY(warn_of_none(view));
    TRY(add_shared_memory(planning));
    TRY(add_paths(view, directory));
    view->early = view->parts.count;
    return view->copy == NULL ? NULL : add_copy(planning, directory);
}

struct error *view_plan(struct view *view, const char *directory)
{
    struct planning planning = {.view = view, .directory = directory};
    struct error *error = plan(&planning, directory);
    mounts_deinit(&planning.mounts);
    return error;
}
