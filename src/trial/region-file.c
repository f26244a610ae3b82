// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the files of regions and removes what killed controllers left. Directories are named
// ordeal-OWNER-RANDOM, so that a later run can tell which of them have no owner any more.
#include "trial/region-file.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/stale.h"
#include "trial/region.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define PREFIX "ordeal-"

static struct error *make_in(const char *parent, int *ret_file, char **ret_path,
                             char **ret_directory)
{
    // Everybody can see the names of mounts, so only the directory keeps other users out. The file
    // itself is open to all: in a sandbox it is mounted where any user of the trial can reach it.
    uint64_t seen, secret[2];
    TRY(random_word(&seen));
    TRY(random_word(&secret[0]));
    TRY(random_word(&secret[1]));
    _cleanup_free_ char *directory = NULL, *path = NULL;
    if (asprintf(&directory, "%s/" PREFIX "%s-%08llx", parent, stale_owner(),
                 (unsigned long long)(seen & 0xffffffff)) < 0)
        return directory = NULL, error_no_memory();
    if (asprintf(&path, "%s/region-%016llx%016llx", directory, (unsigned long long)secret[0],
                 (unsigned long long)secret[1]) < 0)
        return path = NULL, error_no_memory();
    if (mkdir(directory, 0700) < 0)
        return error_from_errno(errno, "cannot make a directory in %s", parent);
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    int code = errno;
    // The lock shows that the controller lives, even to processes that cannot see its pid.
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0 && fchmod(file, 0666) == 0) {
        *ret_file = file;
        *ret_path = TAKE(path);
        *ret_directory = TAKE(directory);
        return NULL;
    }
    if (file >= 0) {
        code = errno;
        unlink(path);
        close(file);
    }
    rmdir(directory);
    return error_from_errno(code, "cannot make %s", path);
}

struct error *region_file_make_shared(bool sweep, unsigned *place, int *ret_file, char **ret_path,
                                      char **ret_directory)
{
    const char *temporary = getenv("TMPDIR");
    const char *parents[REGION_FILE_PLACES] = {"/dev/shm", temporary, "/tmp"};
    struct error *first = NULL;
    for (unsigned i = *place; i < REGION_FILE_PLACES; i++) {
        if (parents[i] == NULL || parents[i][0] != '/')
            continue;
        if (sweep)
            region_sweep(parents[i], UINT_MAX);
        struct error *error = make_in(parents[i], ret_file, ret_path, ret_directory);
        if (error == NULL) {
            *place = i + 1;
            error_free(first);
            return NULL;
        }
        if (first == NULL)
            first = error;
        else
            error_free(error);
    }
    return first != NULL ? first : error_new("there is no directory for shared memory");
}

// Whether a controller holds the file, perhaps one in another process namespace.
static bool is_locked(int directory, const char *name)
{
    _cleanup_close_ int file = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    return file >= 0 && flock(file, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

static _Thread_local unsigned may_remove; // directories, by this sweep

static void remove_stale(int parent, const char *name)
{
    struct stat facts;
    if (may_remove == 0 || fstatat(parent, name, &facts, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISDIR(facts.st_mode) || facts.st_uid != geteuid())
        return;
    int directory = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory < 0)
        return;
    DIR *stream = fdopendir(directory);
    if (stream == NULL) {
        close(directory);
        return;
    }
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;)
        if (strncmp(entry->d_name, "region-", strlen("region-")) == 0 &&
            !is_locked(directory, entry->d_name))
            unlinkat(directory, entry->d_name, 0);
    closedir(stream);
    // Fails if something is left in it. Such a directory does not count: else a few that stay for
    // ever would use up the limit in every sweep.
    if (unlinkat(parent, name, AT_REMOVEDIR) == 0)
        may_remove--;
}

void region_sweep(const char *parent, unsigned most)
{
    may_remove = most;
    stale_each(parent, PREFIX, true, remove_stale);
}

// Splits a path into its directory, resolved, and its last part.
static struct error *split_path(const char *path, char **ret_directory, const char **ret_name)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return error_new("the journal's name '%s' is that of a directory", path);
    _cleanup_free_ char *directory =
        slash == NULL ? strdup(".") : strndup(path, slash == path ? 1 : (size_t)(slash - path));
    if (directory == NULL)
        return error_no_memory();
    char *resolved = realpath(directory, NULL);
    if (resolved == NULL)
        return error_from_errno(errno, "cannot write the journal %s", path);
    *ret_directory = resolved;
    *ret_name = name;
    return NULL;
}

struct error *region_file_make_journal(const char *path, int *ret_file, char **ret_path,
                                       char **ret_temporary)
{
    struct stat facts;
    if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode))
        return error_new("cannot write the journal %s: it exists and is not a regular file", path);
    _cleanup_free_ char *directory = NULL, *full = NULL;
    const char *name = NULL;
    TRY(split_path(path, &directory, &name));
    if (asprintf(&full, "%s/%s", strcmp(directory, "/") == 0 ? "" : directory, name) < 0)
        return full = NULL, error_no_memory();
    struct error *error = file_beside(full, ret_file, ret_temporary);
    if (error != NULL)
        return error_prefix(error, "cannot keep the journal");
    *ret_path = TAKE(full);
    return NULL;
}
