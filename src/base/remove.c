// SPDX-License-Identifier: GPL-3.0-or-later
// Removes directory trees through descriptors, so that it never follows a link.
#include "base/remove.h"

#include "base/cleanup.h"
#include "base/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

// Opens a directory that is in the same mount. The source of a bind mount must stay, and device
// numbers do not tell a bind mount from its surroundings.
static int open_below(int directory, const char *name)
{
    struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
                           .resolve = directory == AT_FDCWD ? 0 : RESOLVE_NO_XDEV};
    return (int)syscall(SYS_openat2, directory, name, &how, sizeof how);
}

static bool unmount(int directory, const char *name)
{
    char path[NAME_MAX + 32];
    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", directory, name);
    return directory != AT_FDCWD && umount2(path, MNT_DETACH | UMOUNT_NOFOLLOW) == 0;
}

// Opens a directory whose entries are to be removed.
static struct error *open_to_remove(int directory, const char *name, int *ret_below)
{
    int below = open_below(directory, name);
    while (below < 0 && errno == EXDEV) {
        if (!unmount(directory, name))
            return error_new("something is mounted on %s", name);
        below = open_below(directory, name);
    }
    if (below < 0 && errno == EACCES && fchmodat(directory, name, 0700, 0) == 0)
        below = open_below(directory, name);
    if (below < 0)
        return error_from_errno(errno, "cannot open %s to remove it", name);
    fchmod(below, 0700);
    *ret_below = below;
    return NULL;
}

static struct error *remove_entry(void *data, const struct tree_directory *directory,
                                  const char *name, struct tree_directory *below)
{
    int result;
    do
        result = unlinkat(directory->sides[0], name, 0);
    while (result < 0 && errno == EBUSY && unmount(directory->sides[0], name));
    if (result == 0 || errno == ENOENT)
        return NULL;
    if (errno == EISDIR || errno == EPERM)
        return open_to_remove(directory->sides[0], name, &below->sides[0]);
    return error_from_errno(errno, "cannot remove %s", name);
}

static struct error *remove_empty(void *data, const struct tree_directory *parent, const char *name,
                                  const struct tree_directory *directory)
{
    if (unlinkat(parent->sides[0], name, AT_REMOVEDIR) < 0)
        return error_from_errno(errno, "cannot remove %s", name);
    return NULL;
}

static struct error *remove_directory(int directory, const char *name)
{
    static const struct tree_visitor visitor = {remove_entry, remove_empty};
    _cleanup_close_ int root = -1;
    TRY(open_to_remove(directory, name, &root));
    TRY(tree_walk(&(struct tree_directory){.sides = {root, -1}}, &visitor, NULL));
    return remove_empty(NULL, &(struct tree_directory){.sides = {directory, -1}}, name, NULL);
}

struct error *remove_tree(const char *path)
{
    struct stat status;
    if (lstat(path, &status) < 0)
        return errno == ENOENT ? NULL : error_from_errno(errno, "cannot remove %s", path);
    if (S_ISDIR(status.st_mode))
        return remove_directory(AT_FDCWD, path);
    if (unlink(path) < 0)
        return error_from_errno(errno, "cannot remove %s", path);
    return NULL;
}

void remove_stale(int parent, const char *name)
{
    struct stat status;
    if (fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode) &&
        status.st_uid == geteuid())
        error_free(remove_directory(parent, name));
}
