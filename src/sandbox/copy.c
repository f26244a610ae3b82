// SPDX-License-Identifier: GPL-3.0-or-later
// Copies a directory tree entry by entry. Left out are files that cannot be read, files that must
// not be opened (base/protected-files.h), sockets and devices.
#include "sandbox/copy.h"

#include "base/cleanup.h"
#include "base/protected-files.h"
#include "base/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

struct copying {
    const char *name; // of the whole tree, for errors
    dev_t device;
    uint64_t bytes, entries;
};

static struct error *copy_content(int from, int to, const char *name)
{
    if (ioctl(to, FICLONE, from) == 0)
        return NULL;
    for (bool easy = true;;) {
        ssize_t size = easy ? copy_file_range(from, NULL, to, NULL, 1 << 30, 0)
                            : sendfile(to, from, NULL, 1 << 30);
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0 && easy) {
            easy = false;
            continue;
        }
        if (size < 0)
            return error_from_errno(errno, "cannot copy %s", name);
        if (size == 0) {
            if (!easy)
                return NULL;
            easy = false; // some file systems answer 0 for files that have content
        }
    }
}

// Sets owner, group and mode. Where the owner is not allowed, the group alone may be.
static struct error *copy_owner(int to, const char *name, const struct stat *status)
{
    if (fchown(to, status->st_uid, status->st_gid) < 0) {
        if (errno != EPERM)
            return error_from_errno(errno, "cannot give away %s", name);
        if (fchown(to, (uid_t)-1, status->st_gid) < 0 && errno != EPERM)
            return error_from_errno(errno, "cannot give away %s", name);
    }
    if (fchmod(to, status->st_mode & 07777) < 0)
        return error_from_errno(errno, "cannot set the mode of %s", name);
    return NULL;
}

static struct error *copy_file(int from_directory, int to_directory, const char *name,
                               const struct stat *status)
{
    if (protected_files_has(status))
        return NULL;
    _cleanup_close_ int from =
        openat(from_directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (from < 0)
        return errno == EACCES ? NULL : error_from_errno(errno, "cannot read %s", name);
    _cleanup_close_ int to =
        openat(to_directory, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (to < 0)
        return error_from_errno(errno, "cannot write %s", name);
    TRY(copy_content(from, to, name));
    return copy_owner(to, name, status);
}

static struct error *copy_link(int from_directory, int to_directory, const char *name)
{
    char target[PATH_MAX];
    ssize_t size = readlinkat(from_directory, name, target, sizeof target - 1);
    if (size < 0)
        return error_from_errno(errno, "cannot read the link %s", name);
    target[size] = '\0';
    if (symlinkat(target, to_directory, name) < 0)
        return error_from_errno(errno, "cannot make the link %s", name);
    return NULL;
}

static void copy_times(int to, const char *name, const struct stat *status)
{
    struct timespec times[2] = {status->st_atim, status->st_mtim};
    utimensat(to, name, times, AT_SYMLINK_NOFOLLOW); // sockets and devices were not copied
}

// Makes the directory. It stays writable for us until its entries are copied.
static struct error *begin_directory(struct copying *copying, const int sides[TREE_SIDES],
                                     const char *name, const struct stat *status, int below[])
{
    if (mkdirat(sides[1], name, 0700) < 0)
        return error_from_errno(errno, "cannot make the directory %s", name);
    below[1] = openat(sides[1], name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below[1] < 0)
        return error_from_errno(errno, "cannot open %s", name);
    if (status->st_dev == copying->device) {
        below[0] = openat(sides[0], name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below[0] < 0 && errno != EACCES)
            return error_from_errno(errno, "cannot open %s", name);
    }
    if (below[0] >= 0)
        return NULL;
    TRY(copy_owner(below[1], name, status));
    copy_times(sides[1], name, status);
    return NULL;
}

static struct error *end_directory(void *data, const struct tree_directory *parent,
                                   const char *name, const struct tree_directory *directory)
{
    struct stat status;
    if (fstat(directory->sides[0], &status) < 0)
        return error_from_errno(errno, "cannot copy %s", name);
    TRY(copy_owner(directory->sides[1], name, &status));
    copy_times(parent->sides[1], name, &status);
    return NULL;
}

static struct error *copy_one(void *data, const struct tree_directory *directory, const char *name,
                              struct tree_directory *below)
{
    struct copying *copying = data;
    int from = directory->sides[0], to = directory->sides[1];
    struct stat status;
    if (fstatat(from, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return NULL; // gone meanwhile
    copying->entries++;
    copying->bytes += S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
    if (copying->entries > COPY_ENTRIES || copying->bytes > COPY_BYTES)
        return error_new("%s is too large to be copied for every trial (more than %d files or %llu "
                         "GiB); run in a smaller directory",
                         copying->name, COPY_ENTRIES, COPY_BYTES >> 30);
    if (S_ISDIR(status.st_mode))
        return begin_directory(copying, directory->sides, name, &status, below->sides);
    if (S_ISREG(status.st_mode))
        TRY(copy_file(from, to, name, &status));
    else if (S_ISLNK(status.st_mode))
        TRY(copy_link(from, to, name));
    else if (S_ISFIFO(status.st_mode) && mkfifoat(to, name, status.st_mode & 07777) < 0)
        return error_from_errno(errno, "cannot make the pipe %s", name);
    copy_times(to, name, &status);
    return NULL;
}

struct error *copy_tree(const char *from, const char *to)
{
    struct copying copying = {.name = from};
    struct stat status;
    if (mkdir(to, 0700) < 0)
        return error_from_errno(errno, "cannot make %s", to);
    static const struct tree_visitor visitor = {copy_one, end_directory};
    _cleanup_close_ int target = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    _cleanup_close_ int source = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (target < 0 || source < 0 || fstat(source, &status) < 0)
        return error_from_errno(errno, "cannot copy %s", from);
    copying.device = status.st_dev;
    TRY(tree_walk(&(struct tree_directory){.sides = {source, target}}, &visitor, &copying));
    return copy_owner(target, to, &status);
}
