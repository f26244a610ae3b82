// SPDX-License-Identifier: GPL-3.0-or-later
// The command has a process group of its own: a submission must not be interrupted in the middle.
#include "engines/slurm/command.h"

#include "base/cleanup.h"
#include "base/quote.h"
#include "base/timeouts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_MOST (256u << 20) // of squeue about a million tasks

static void become(char *const *words, int output, int complaints)
{
    static const int usual[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD, SIGXFSZ};
    sigset_t none;
    sigemptyset(&none);
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        signal(usual[i], SIG_DFL);
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (setpgid(0, 0) < 0 || sigprocmask(SIG_SETMASK, &none, NULL) < 0 || nothing < 0 ||
        dup2(nothing, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(complaints, STDERR_FILENO) < 0)
        _exit(126);
    execvp(words[0], words);
    _exit(127);
}

// Reads both pipes until they are closed. *ret_late: that took too long.
static struct error *drain(int output, int complaints, struct buffer *out, struct buffer *err,
                           bool *ret_late)
{
    struct pollfd polled[] = {{.fd = output, .events = POLLIN},
                              {.fd = complaints, .events = POLLIN}};
    struct buffer *const into[] = {out, err};
    uint64_t deadline_ns = clock_ns() + CLUSTER_COMMAND_WAIT_NS;
    while (polled[0].fd >= 0 || polled[1].fd >= 0) {
        uint64_t now_ns = clock_ns();
        *ret_late = now_ns >= deadline_ns;
        if (*ret_late)
            return NULL;
        if (poll(polled, 2, clock_poll_ms(deadline_ns - now_ns)) < 0 && errno != EINTR)
            return error_from_errno(errno, "cannot wait for a command");
        for (size_t i = 0; i < 2; i++) {
            char bytes[16384];
            if (polled[i].fd < 0 || polled[i].revents == 0)
                continue;
            ssize_t got = read(polled[i].fd, bytes, sizeof bytes);
            if (got < 0 && errno == EINTR)
                continue;
            if (got <= 0)
                polled[i].fd = -1;
            else if (into[i]->size < OUTPUT_MOST)
                TRY(buffer_append(into[i], bytes, (size_t)got));
        }
    }
    return NULL;
}

static struct error *tell_failure(const char *name, int status, const struct buffer *err)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return error_new("%s is not there: is Slurm installed on this machine?", name);
    if (WIFSIGNALED(status))
        TRY(buffer_printf(&text, "%s was killed by signal %d", name, WTERMSIG(status)));
    else
        TRY(buffer_printf(&text, "%s failed with status %d", name, WEXITSTATUS(status)));
    TRY(quote_put_last_line(&text, ": ", err->data, err->size));
    return error_new("%s", text.data);
}

static struct error *finish(const char *name, pid_t pid, bool late, const struct buffer *err)
{
    int status;
    if (late)
        kill(-pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return error_from_errno(errno, "cannot wait for %s", name);
    if (late)
        return error_new("%s did not end within %.0f s", name,
                         clock_seconds(CLUSTER_COMMAND_WAIT_NS));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return tell_failure(name, status, err);
    return NULL;
}

struct error *command_run(char *const *words, struct buffer *output)
{
    _cleanup_(buffer_deinit) struct buffer err = {0};
    int out[2], complaints[2];
    if (pipe2(out, O_CLOEXEC) < 0)
        return error_from_errno(errno, "cannot make a pipe");
    _cleanup_close_ int out_end = out[0], out_begin = out[1];
    if (pipe2(complaints, O_CLOEXEC) < 0)
        return error_from_errno(errno, "cannot make a pipe");
    _cleanup_close_ int err_end = complaints[0], err_begin = complaints[1];
    pid_t pid = fork();
    if (pid < 0)
        return error_from_errno(errno, "cannot start %s", words[0]);
    if (pid == 0)
        become(words, out_begin, err_begin);
    close(out_begin);
    close(err_begin);
    out_begin = err_begin = -1;
    bool late = false;
    struct error *error = drain(out_end, err_end, output, &err, &late);
    struct error *second = finish(words[0], pid, late || error != NULL, &err);
    if (error == NULL)
        return second;
    error_free(second);
    return error;
}
