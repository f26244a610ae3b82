// SPDX-License-Identifier: GPL-3.0-or-later
// Writes files, and replaces them as a whole through a temporary file beside them.
#include "base/file.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

const char *file_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

size_t file_library_stem(const char *name)
{
    const char *end = name;
    while ((end = strstr(end, ".so")) != NULL && end[3] != '\0' && end[3] != '.')
        end += 3;
    return end != NULL ? (size_t)(end - name) : strlen(name);
}

struct error *random_word(uint64_t *ret_word)
{
    ssize_t size;
    do
        size = getrandom(ret_word, sizeof *ret_word, 0);
    while (size < 0 && errno == EINTR);
    if (size != (ssize_t)sizeof *ret_word)
        return error_from_errno(size < 0 ? errno : EIO, "cannot get random bytes");
    return NULL;
}

struct error *file_write(int descriptor, const char *name, const struct buffer *text)
{
    for (size_t at = 0; at < text->size;) {
        ssize_t part = write(descriptor, text->data + at, text->size - at);
        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0)
            return error_from_errno(errno, "cannot write to %s", name);
        at += (size_t)part;
    }
    return NULL;
}

struct error *file_beside(const char *path, int *ret_descriptor, char **ret_temporary)
{
    uint64_t word;
    TRY(random_word(&word));
    _cleanup_free_ char *temporary = NULL;
    if (asprintf(&temporary, "%s.new-%016llx", path, (unsigned long long)word) < 0)
        return temporary = NULL, error_no_memory();
    int file = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file < 0)
        return error_from_errno(errno, "cannot write %s", path);
    *ret_descriptor = file;
    *ret_temporary = TAKE(temporary);
    return NULL;
}

struct error *file_replace(const char *path, const struct buffer *text)
{
    _cleanup_free_ char *temporary = NULL;
    int file = -1;
    TRY(file_beside(path, &file, &temporary));
    struct error *error = file_write(file, path, text);
    // Some file systems report only in close() that the disk is full.
    if (close(file) < 0 && error == NULL)
        error = error_from_errno(errno, "cannot write to %s", path);
    if (error == NULL && rename(temporary, path) < 0)
        error = error_from_errno(errno, "cannot write %s", path);
    if (error != NULL)
        unlink(temporary);
    return error;
}
