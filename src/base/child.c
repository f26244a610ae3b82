// SPDX-License-Identifier: GPL-3.0-or-later
// See child.h.
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

struct handlers {
    void (*interrupt)(int), (*quit)(int), (*child)(int);
};

// Who ignores that children end never learns how.
static struct handlers ignore(void)
{
    return (struct handlers){signal(SIGINT, SIG_IGN), signal(SIGQUIT, SIG_IGN),
                             signal(SIGCHLD, SIG_DFL)};
}

static void restore(const struct handlers *before)
{
    signal(SIGINT, before->interrupt);
    signal(SIGQUIT, before->quit);
    signal(SIGCHLD, before->child);
}

// Only what can be done between fork and exec.
_Noreturn static void become(const struct child *child, const struct handlers *before, int report)
{
    int nothing = child->silent ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    if (nothing >= 0)
        dup2(nothing, STDOUT_FILENO);
    restore(before);
    execvpe(child->command[0], child->command,
            child->environment != NULL ? child->environment : environ);
    int code = errno;
    ssize_t written = write(report, &code, sizeof code);
    (void)written;
    _exit(127);
}

struct error *child_run(const struct child *child, int *ret_status)
{
    int report[2], status = 0, code = 0;
    if (pipe2(report, O_CLOEXEC) < 0)
        return error_from_errno(errno, "cannot make a pipe");
    const struct handlers before = ignore();
    pid_t process = fork();
    if (process == 0)
        become(child, &before, report[1]);
    if (process < 0)
        code = errno;
    close(report[1]);
    // Nothing comes of a command that is started.
    ssize_t size = process > 0 ? read(report[0], &code, sizeof code) : 0;
    close(report[0]);
    while (process > 0 && waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    restore(&before);
    if (process < 0 || size == sizeof code)
        return error_from_errno(code, "cannot run %s", child->command[0]);
    *ret_status = status;
    return NULL;
}
