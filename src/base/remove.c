// SPDX-License-Identifier: GPL-3.0-or-later
// Removes directory trees through descriptors, so that it never follows a link.
#include "base/remove.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static struct error *remove_entries(int directory);

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

static struct error *remove_directory(int directory, const char *name)
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
    TRY(remove_entries(below));
    if (unlinkat(directory, name, AT_REMOVEDIR) < 0)
        return error_from_errno(errno, "cannot remove %s", name);
    return NULL;
}

// Closes the descriptor.
static struct error *remove_entries(int directory)
{
    DIR *stream = fdopendir(directory);
    if (stream == NULL) {
        int code = errno;
        close(directory);
        return error_from_errno(code, "cannot list a directory");
    }
    struct error *error = NULL;
    for (struct dirent *entry; error == NULL && (entry = readdir(stream)) != NULL;) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        int result;
        do
            result = unlinkat(dirfd(stream), name, 0);
        while (result < 0 && errno == EBUSY && unmount(dirfd(stream), name));
        if (result == 0 || errno == ENOENT)
            continue;
        if (errno == EISDIR || errno == EPERM)
            error = remove_directory(dirfd(stream), name);
        else
            error = error_from_errno(errno, "cannot remove %s", name);
    }
    closedir(stream);
    return error;
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
