// SPDX-License-Identifier: GPL-3.0-or-later
// The keeper process: starts a command, adopts what it leaves behind, and reports the command's
// end. Also accounts for resources of processes that were waited for.
#include "sandbox/keeper.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "sandbox/descriptors.h"
#include "sandbox/message.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static uint64_t ns_of(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * NS_PER_S + (uint64_t)time->tv_usec * NS_PER_US;
}

void progress_count(struct progress *progress, const struct rusage *usage)
{
    progress->cpu_ns += ns_of(&usage->ru_utime) + ns_of(&usage->ru_stime);
    uint64_t peak = (uint64_t)usage->ru_maxrss * 1024;
    if (peak > progress->peak_memory)
        progress->peak_memory = peak;
}

void progress_note_orphan_signal(struct progress *progress, int status)
{
    static const int defects[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    for (size_t i = 0; i < sizeof defects / sizeof *defects; i++)
        if (progress->orphan == 0 && WIFSIGNALED(status) && WTERMSIG(status) == defects[i])
            progress->orphan = defects[i];
}

// Closes the descriptors that are not for the command, such as the ends of our caller's pipes. They
// must not stay open as long as a server runs.
static void close_others(const struct spawn *spawn, int socket)
{
    int kept[8] = {socket, spawn->input, spawn->output, spawn->errors, spawn->announce};
    size_t count = 5;
    for (const int *group = spawn->groups; group != NULL && *group >= 0 && count < 8; group++)
        kept[count++] = *group;
    descriptors_close_but(kept, count);
}

static void tell_end(int socket, int status, const struct rusage *usage)
{
    struct progress progress = {0};
    progress_count(&progress, usage);
    struct message head = {
        .kind = MESSAGE_COMMAND,
        .values = {status, (int64_t)progress.cpu_ns, (int64_t)progress.peak_memory}};
    error_free(message_send(socket, &head, NULL, NULL));
}

static void keep(const struct spawn *spawn, int socket)
{
    close_others(spawn, socket);
    pid_t command;
    int handle;
    struct error *error = prctl(PR_SET_CHILD_SUBREAPER, 1) < 0
                              ? error_from_errno(errno, "cannot adopt processes")
                              : spawn_start(spawn, &command, &handle);
    if (error != NULL) {
        message_fail(socket, error);
        return;
    }
    struct message head = {.kind = MESSAGE_STARTED, .values = {command}};
    error_free(message_send(socket, &head, NULL, NULL));
    descriptors_close_but(&(int){socket}, 1);
    for (;;) {
        int status;
        struct rusage usage;
        pid_t pid = wait4(-1, &status, 0, &usage);
        if (pid < 0 && errno != EINTR)
            return;
        if (pid == command)
            tell_end(socket, status, &usage);
    }
}

struct error *keeper_start(const struct spawn *spawn, pid_t *ret_keeper, int *ret_socket,
                           pid_t *ret_command)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return error_from_errno(errno, "cannot make a socket");
    pid_t parent = getpid(), keeper = fork();
    if (keeper == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        long now = syscall(SYS_getppid);
        if (now == 0 || now == parent)
            keep(spawn, ends[1]);
        _exit(0);
    }
    int code = errno;
    close(ends[1]);
    if (keeper < 0) {
        close(ends[0]);
        return error_from_errno(code, "cannot start a process");
    }
    *ret_keeper = keeper;
    _cleanup_(incoming_deinit) struct incoming answer;
    struct error *error = message_receive(ends[0], &answer);
    if (error == NULL)
        error = message_failure(&answer);
    if (error != NULL) {
        close(ends[0]);
        return error;
    }
    *ret_socket = ends[0];
    *ret_command = (pid_t)answer.head.values[0];
    return NULL;
}

struct error *keeper_news(int socket, struct progress *progress)
{
    _cleanup_(incoming_deinit) struct incoming news;
    TRY(message_receive(socket, &news));
    progress->command_gone = true;
    progress->status = (int)news.head.values[0];
    progress->cpu_ns += (uint64_t)news.head.values[1];
    progress->peak_memory = (uint64_t)news.head.values[2];
    return NULL;
}
