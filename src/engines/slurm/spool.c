// SPDX-License-Identifier: GPL-3.0-or-later
// Reads and writes the shared directory.
#include "engines/slurm/spool.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEW ".new-" // as of file_beside()

static const char *const folders[] = {"work", "done", "nodes", "output"};

static void close_directory(DIR **directory)
{
    if (*directory != NULL)
        closedir(*directory);
}

static struct error *make_one(const char *path)
{
    struct stat status;
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return error_from_errno(errno, "cannot make the shared directory %s", path);
    if (lstat(path, &status) < 0)
        return error_from_errno(errno, "%s", path);
    if (!S_ISDIR(status.st_mode))
        return error_new("%s is no directory", path);
    if (status.st_uid != geteuid() || (status.st_mode & 077) != 0)
        return error_new("others may enter %s, where trials are exchanged with the nodes: it must "
                         "be yours, with mode 700",
                         path);
    return NULL;
}

struct error *spool_open(const char *path, struct spool *ret_spool)
{
    TRY(make_one(path));
    ret_spool->path = strdup(path);
    return ret_spool->path == NULL ? error_no_memory() : NULL;
}

struct error *spool_make(const char *path, struct spool *ret_spool)
{
    _cleanup_free_ char *above = strdup(path);
    _cleanup_(spool_deinit) struct spool spool = {0};
    if (above == NULL)
        return error_no_memory();
    char *slash = strrchr(above, '/');
    if (slash != NULL && slash != above) {
        *slash = '\0';
        if (mkdir(above, 0700) < 0 && errno != EEXIST)
            return error_from_errno(errno, "cannot make the shared directory %s", above);
    }
    TRY(spool_open(path, &spool));
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        _cleanup_free_ char *folder = spool_file(&spool, folders[i]);
        if (folder == NULL)
            return error_no_memory();
        TRY(make_one(folder));
    }
    *ret_spool = spool;
    spool.path = NULL;
    return NULL;
}

void spool_deinit(struct spool *spool)
{
    free(TAKE(spool->path));
}

char *spool_file(const struct spool *spool, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", spool->path, name) < 0 ? NULL : path;
}

// Makes a new name durable.
static struct error *sync_folder(const char *path)
{
    _cleanup_free_ char *folder = strdup(path);
    if (folder == NULL)
        return error_no_memory();
    *strrchr(folder, '/') = '\0';
    _cleanup_close_ int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0 || (fsync(file) < 0 && errno != EINVAL && errno != EROFS))
        return error_from_errno(errno, "cannot write %s", path);
    return NULL;
}

static struct error *fill(int file, const char *path, const struct buffer *content)
{
    TRY(file_write(file, path, content));
    if (fchmod(file, 0600) < 0 || fsync(file) < 0)
        return error_from_errno(errno, "cannot write to %s", path);
    return NULL;
}

struct error *spool_write(const struct spool *spool, const char *name, const struct buffer *content)
{
    _cleanup_free_ char *path = spool_file(spool, name), *temporary = NULL;
    if (path == NULL)
        return error_no_memory();
    int file = -1;
    TRY(file_beside(path, &file, &temporary));
    struct error *error = fill(file, path, content);
    // Some file systems report only in close() that the disk is full.
    if (close(file) < 0 && error == NULL)
        error = error_from_errno(errno, "cannot write to %s", path);
    if (error == NULL && rename(temporary, path) < 0)
        error = error_from_errno(errno, "cannot write %s", path);
    if (error != NULL) {
        unlink(temporary);
        return error;
    }
    return sync_folder(path);
}

struct error *spool_read(const struct spool *spool, const char *name, struct buffer *ret_content)
{
    _cleanup_free_ char *path = spool_file(spool, name);
    if (path == NULL)
        return error_no_memory();
    return buffer_read_own(path, SPOOL_FILE_MOST, ret_content);
}

bool spool_has(const struct spool *spool, const char *name)
{
    _cleanup_free_ char *path = spool_file(spool, name);
    return path != NULL && access(path, F_OK) == 0;
}

void spool_remove(const struct spool *spool, const char *name)
{
    _cleanup_free_ char *path = spool_file(spool, name);
    if (path != NULL)
        unlink(path);
}

struct error *spool_list(const struct spool *spool, const char *folder, struct words *names)
{
    _cleanup_free_ char *path = spool_file(spool, folder);
    if (path == NULL)
        return error_no_memory();
    _cleanup_(close_directory) DIR *directory = opendir(path);
    if (directory == NULL)
        return error_from_errno(errno, "cannot look into %s", path);
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(directory);
        if (entry == NULL && errno != 0)
            return error_from_errno(errno, "cannot look into %s", path);
        if (entry == NULL)
            return NULL;
        if (entry->d_name[0] != '.' && strstr(entry->d_name, NEW) == NULL)
            TRY(words_add(names, entry->d_name, strlen(entry->d_name)));
    }
}

uint64_t spool_number(const char *name)
{
    uint64_t number = 0;
    size_t digits = 0;
    for (; name[digits] >= '0' && name[digits] <= '9' && digits < 18; digits++)
        number = number * 10 + (uint64_t)(name[digits] - '0');
    return digits != 0 && (name[digits] == '.' || name[digits] == '\0') ? number : 0;
}
