// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a command in a child process and waits for it. A pipe that exec closes tells why the command
// could not be started.
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

struct handlers {
    void (*interrupt)(int), (*quit)(int), (*child)(int);
};

// SIGCHLD gets its default action, since a process that ignores it cannot learn how children ended.
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

// Runs in the child: only calls that are allowed between fork and exec.
_Noreturn static void exec_command(const struct child *child, const struct handlers *before,
                                   int report)
{
    int nothing = child->silent ? open("/dev/null", O_WRONLY | O_CLOEXEC) : -1;
    if (nothing >= 0)
        dup2(nothing, STDOUT_FILENO);
    restore(before);
    if (child->loaded == NULL || ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
        execvpe(child->command[0], child->command,
                child->environment != NULL ? child->environment : environ);
    int code = errno;
    ssize_t written = write(report, &code, sizeof code);
    (void)written;
    _exit(127);
}

static int wait_for(pid_t process)
{
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

// Lets the command run until it is loaded, calls `loaded`, and waits for its end. *ret_status is
// how it ended, even if that was before it was loaded.
static struct error *run_traced(const struct child *child, pid_t process, int *ret_status)
{
    // A traced process stops at every signal, even before exec. Pass the signals on until the
    // SIGTRAP of exec.
    while (WIFSTOPPED(*ret_status = wait_for(process)) && WSTOPSIG(*ret_status) != SIGTRAP)
        ptrace(PTRACE_CONT, process, NULL, (void *)(intptr_t)WSTOPSIG(*ret_status));
    if (!WIFSTOPPED(*ret_status))
        return NULL;
    struct error *error = child->loaded(child->data, process);
    if (error != NULL)
        kill(process, SIGKILL);
    else
        ptrace(PTRACE_DETACH, process, NULL, NULL);
    *ret_status = wait_for(process);
    return error;
}

// Reads why the command was not started. False if it was: the pipe is empty then.
static bool read_report(int report, int *ret_code)
{
    ssize_t size;
    while ((size = read(report, ret_code, sizeof *ret_code)) < 0 && errno == EINTR)
        ;
    return size == sizeof *ret_code;
}

struct error *child_run(const struct child *child, int *ret_status)
{
    int report[2], status = 0, code = 0;
    if (pipe2(report, O_CLOEXEC) < 0)
        return error_from_errno(errno, "cannot make a pipe");
    const struct handlers before = ignore();
    pid_t process = fork();
    if (process == 0)
        exec_command(child, &before, report[1]);
    if (process < 0)
        code = errno;
    close(report[1]);
    struct error *error = NULL;
    if (process > 0 && child->loaded != NULL)
        error = run_traced(child, process, &status);
    else if (process > 0)
        status = wait_for(process);
    bool failed = process < 0 || read_report(report[0], &code);
    close(report[0]);
    restore(&before);
    if (failed) {
        error_free(error);
        return error_from_errno(code, "cannot run %s", child->command[0]);
    }
    if (error == NULL)
        *ret_status = status;
    return error;
}

int child_exit_status(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
