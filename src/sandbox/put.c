// SPDX-License-Identifier: GPL-3.0-or-later
// Changes files inside a run.
#include "sandbox/changes.h"
#include "sandbox/internal.h"

#include "base/cleanup.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct error *check_private(const struct sandbox *sandbox, const char *real)
{
    if (!sandbox->in_use || sandbox->kind == SANDBOX_NONE)
        return error_new("%s cannot get another content without a sandbox: it would be the user's "
                         "own file",
                         real);
    if (!path_below(real, sandbox->directory) && sandbox->kind != SANDBOX_OVERLAY)
        return error_new("%s is not below %s, and a sandbox of the kind 'copy' has a private view "
                         "of nothing else",
                         real, sandbox->directory);
    return NULL;
}

// An earlier step may have put links on the way, which lead outside if this process follows them.
// `real` has none. -1: errno says why not.
static int find_private(const struct sandbox *sandbox, const char *real)
{
    bool overlay = sandbox->kind == SANDBOX_OVERLAY;
    _cleanup_close_ int base = open(overlay ? sandbox->root : sandbox_directory(sandbox),
                                    O_PATH | O_DIRECTORY | O_CLOEXEC);
    const char *rest = overlay ? real : real + strlen(sandbox->directory);
    rest += strspn(rest, "/");
    const struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
                                 .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS};
    return base < 0 ? -1 : (int)syscall(SYS_openat2, base, rest, &how, sizeof how);
}

struct error *sandbox_put_file(const struct sandbox *sandbox, const char *path,
                               const struct buffer *content)
{
    _cleanup_free_ char *real = realpath(path, NULL);
    if (real == NULL)
        return error_from_errno(errno, "cannot find %s", path);
    TRY(check_private(sandbox, real));
    _cleanup_close_ int found = find_private(sandbox, real);
    struct stat status;
    if (found < 0 || fstat(found, &status) < 0)
        return error_from_errno(errno, "cannot find %s in the sandbox", path);
    if (!S_ISREG(status.st_mode))
        return error_new("%s is no regular file in the sandbox", path);
    char inside[40];
    snprintf(inside, sizeof inside, "/proc/self/fd/%d", found);
    _cleanup_close_ int file = open(inside, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (file < 0 && errno == EACCES && chmod(inside, status.st_mode | 0200) == 0) {
        file = open(inside, O_WRONLY | O_TRUNC | O_CLOEXEC);
        if (chmod(inside, status.st_mode & 07777) < 0)
            return error_from_errno(errno, "cannot give %s its mode back", path);
    }
    if (file < 0)
        return error_from_errno(errno, "cannot change %s in the sandbox", path);
    return file_write(file, path, content);
}
