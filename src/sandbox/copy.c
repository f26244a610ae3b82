// SPDX-License-Identifier: GPL-3.0-or-later
// Copies a directory tree entry by entry. Left out are files that cannot be read, files that must
// not be opened (base/protected-files.h), sockets and devices.
#include "sandbox/copy.h"

#include "base/cleanup.h"
#include "base/protected-files.h"

#include <dirent.h>
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
    if (fchown(to, status->st_uid, status->st_gid) < 0 && errno != EPERM)
        return error_from_errno(errno, "cannot give away %s", name);
    if (fchmod(to, status->st_mode & 07777) < 0)
        return error_from_errno(errno, "cannot set the mode of %s", name);
    return NULL;
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

static struct error *copy_entries(struct copying *copying, int from, int to);

static struct error *copy_directory(struct copying *copying, int from_directory, int to_directory,
                                    const char *name, const struct stat *status)
{
    if (mkdirat(to_directory, name, 0700) < 0)
        return error_from_errno(errno, "cannot make the directory %s", name);
    int from = openat(from_directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    _cleanup_close_ int to =
        openat(to_directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (from < 0 && errno != EACCES)
        return error_from_errno(errno, "cannot open %s", name);
    if (to < 0) {
        close(from);
        return error_from_errno(errno, "cannot open %s", name);
    }
    if (from >= 0 && status->st_dev == copying->device)
        TRY(copy_entries(copying, from, to));
    else if (from >= 0)
        close(from);
    if (fchown(to, status->st_uid, status->st_gid) < 0 && errno != EPERM)
        return error_from_errno(errno, "cannot give away %s", name);
    if (fchmod(to, status->st_mode & 07777) < 0)
        return error_from_errno(errno, "cannot set the mode of %s", name);
    return NULL;
}

static struct error *copy_one(struct copying *copying, int from, int to, const char *name)
{
    struct stat status;
    if (fstatat(from, name, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return NULL; // gone meanwhile
    copying->entries++;
    copying->bytes += S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
    if (copying->entries > COPY_ENTRIES || copying->bytes > COPY_BYTES)
        return error_new("%s is too large to be copied for every trial (more than %d files or %llu "
                         "GiB); run in a smaller directory",
                         copying->name, COPY_ENTRIES, COPY_BYTES >> 30);
    if (S_ISREG(status.st_mode))
        TRY(copy_file(from, to, name, &status));
    else if (S_ISDIR(status.st_mode))
        TRY(copy_directory(copying, from, to, name, &status));
    else if (S_ISLNK(status.st_mode))
        TRY(copy_link(from, to, name));
    else if (S_ISFIFO(status.st_mode) && mkfifoat(to, name, status.st_mode & 07777) < 0)
        return error_from_errno(errno, "cannot make the pipe %s", name);
    struct timespec times[2] = {status.st_atim, status.st_mtim};
    utimensat(to, name, times, AT_SYMLINK_NOFOLLOW); // sockets and devices were not copied
    return NULL;
}

// Closes `from`.
static struct error *copy_entries(struct copying *copying, int from, int to)
{
    DIR *stream = fdopendir(from);
    if (stream == NULL) {
        int code = errno;
        close(from);
        return error_from_errno(code, "cannot list a directory");
    }
    struct error *error = NULL;
    for (struct dirent *entry; error == NULL && (entry = readdir(stream)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            error = copy_one(copying, dirfd(stream), to, entry->d_name);
    closedir(stream);
    return error;
}

struct error *copy_tree(const char *from, const char *to)
{
    struct copying copying = {.name = from};
    struct stat status;
    if (mkdir(to, 0700) < 0)
        return error_from_errno(errno, "cannot make %s", to);
    _cleanup_close_ int target = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int source = open(from, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (target < 0 || source < 0 || fstat(source, &status) < 0) {
        int code = errno;
        if (source >= 0)
            close(source);
        return error_from_errno(code, "cannot copy %s", from);
    }
    copying.device = status.st_dev;
    TRY(copy_entries(&copying, source, target));
    if (fchmod(target, status.st_mode & 07777) < 0)
        return error_from_errno(errno, "cannot set the mode of %s", to);
    if (fchown(target, status.st_uid, status.st_gid) < 0 && errno != EPERM)
        return error_from_errno(errno, "cannot give away %s", to);
    return NULL;
}
