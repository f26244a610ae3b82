// SPDX-License-Identifier: GPL-3.0-or-later
// Changes files inside a run.
#include "sandbox/changes.h"
#include "sandbox/internal.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// The way to a file of the inside; *ret_path is the caller's to free.
static struct error *find_inside(const struct sandbox *sandbox, const char *real, char **ret_path)
{
    bool below = path_below(real, sandbox->directory);
    const char *directory = below ? sandbox_directory(sandbox) : "";
    if (!sandbox->in_use || sandbox->kind == SANDBOX_NONE)
        return error_new("%s cannot get another content without a sandbox: it would be the user's "
                         "own file",
                         real);
    if (!below && sandbox->kind != SANDBOX_OVERLAY)
        return error_new("%s is not below %s, and a sandbox of the kind 'copy' has a private view "
                         "of nothing else",
                         real, sandbox->directory);
    char *path = NULL;
    if (asprintf(&path, "%s%s%s", sandbox->root, directory,
                 real + (below ? strlen(sandbox->directory) : 0)) < 0)
        return error_no_memory();
    *ret_path = path;
    return NULL;
}

struct error *sandbox_put_file(const struct sandbox *sandbox, const char *path,
                               const struct buffer *content)
{
    _cleanup_free_ char *real = realpath(path, NULL);
    _cleanup_free_ char *inside = NULL;
    struct stat status;
    if (real == NULL)
        return error_from_errno(errno, "cannot find %s", path);
    TRY(find_inside(sandbox, real, &inside));
    _cleanup_close_ int file = open(inside, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (file < 0 && errno == EACCES && stat(inside, &status) == 0 &&
        chmod(inside, status.st_mode | 0200) == 0) {
        file = open(inside, O_WRONLY | O_TRUNC | O_CLOEXEC);
        if (chmod(inside, status.st_mode & 07777) < 0)
            return error_from_errno(errno, "cannot give %s its mode back", path);
    }
    if (file < 0)
        return error_from_errno(errno, "cannot change %s in the sandbox", path);
    return file_write(file, path, content);
}
