// SPDX-License-Identifier: GPL-3.0-or-later
// Reads /proc/PID/syscall to tell what processes wait for. What cannot be told counts as something
// else, so that no command is blamed by mistake.
#include "oracle/terminal-wait.h"

#include "base/cleanup.h"
#include "base/processes.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define DEPTH 32 // of a chain of processes that wait for each other
#define MANY  8  // descriptors: a program that waits for a terminal waits for fewer

struct call {
    long number;
    unsigned long long arguments[5];
};

// False if the thread runs, or if we may not look.
static bool read_call(const char *path, struct call *ret_call)
{
    char line[256];
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    unsigned long long *arguments = ret_call->arguments;
    return file != NULL && fgets(line, sizeof line, file) != NULL &&
           isdigit((unsigned char)line[0]) &&
           sscanf(line, "%ld %llx %llx %llx %llx %llx", &ret_call->number, &arguments[0],
                  &arguments[1], &arguments[2], &arguments[3], &arguments[4]) == 6;
}

static bool read_process_call(pid_t pid, struct call *ret_call)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/syscall", (int)pid);
    return read_call(path, ret_call);
}

bool waits_for_children(pid_t pid)
{
    static const long calls[] = {SYS_wait4, SYS_waitid, SYS_rt_sigsuspend, SYS_pause,
                                 SYS_rt_sigtimedwait};
    struct call call;
    bool found = false;
    if (!read_process_call(pid, &call))
        return false;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        found |= call.number == calls[i];
    return found;
}

static bool is_only_written(pid_t pid, int descriptor)
{
    char path[64], line[128];
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)pid, descriptor);
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    unsigned flags;
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "flags: %o", &flags) == 1)
            return (flags & O_ACCMODE) == O_WRONLY;
    return false;
}

static bool read_memory(pid_t pid, unsigned long long address, void *bytes, size_t size)
{
    struct iovec here = {bytes, size}, there = {(void *)(uintptr_t)address, size};
    return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

static bool polls_output(pid_t pid, const struct call *call)
{
    struct pollfd polled[MANY];
    unsigned long long count = call->arguments[1];
    if (count == 0 || count > MANY ||
        !read_memory(pid, call->arguments[0], polled, count * sizeof *polled))
        return false;
    for (unsigned long long i = 0; i < count; i++)
        if ((polled[i].events & POLLIN) == 0 || (polled[i].events & POLLOUT) != 0 ||
            !is_only_written(pid, polled[i].fd))
            return false;
    return true;
}

// Reads an fd_set; a NULL pointer is an empty set.
static bool read_set(pid_t pid, unsigned long long address, fd_set *ret_set)
{
    FD_ZERO(ret_set);
    return address == 0 || read_memory(pid, address, ret_set, sizeof(long));
}

static bool selects_output(pid_t pid, const struct call *call)
{
    fd_set input, output, other;
    unsigned long long below = call->arguments[0];
    bool found = false;
    if (below > MANY || !read_set(pid, call->arguments[1], &input) ||
        !read_set(pid, call->arguments[2], &output) || !read_set(pid, call->arguments[3], &other))
        return false;
    for (int i = 0; i < (int)below; i++) {
        bool awaited = FD_ISSET(i, &input) || FD_ISSET(i, &other);
        if (FD_ISSET(i, &output) || (awaited && !is_only_written(pid, i)))
            return false;
        found |= FD_ISSET(i, &input);
    }
    return found;
}

// Whether the call waits for such descriptors and has no timeout.
static bool awaits_output(pid_t pid, const struct call *call)
{
    switch (call->number) {
    case SYS_poll:
        return (int)call->arguments[2] < 0 && polls_output(pid, call);
    case SYS_ppoll:
        return call->arguments[2] == 0 && polls_output(pid, call);
    case SYS_select:
    case SYS_pselect6:
        return call->arguments[4] == 0 && selects_output(pid, call);
    default:
        return false;
    }
}

// Whether the call waits, without a timeout, until another thread wakes it or, as the C library's
// own timer thread does, for a signal.
static bool awaits_thread(const struct call *call)
{
    int operation = (int)call->arguments[1] & FUTEX_CMD_MASK;
    if (call->number == SYS_rt_sigtimedwait)
        return call->arguments[2] == 0;
    return call->number == SYS_futex && call->arguments[3] == 0 &&
           (operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET);
}

// Other ways to wait for a child may have a timeout.
static bool awaits_child(const struct call *call)
{
    return call->number == SYS_wait4 || call->number == SYS_waitid;
}

// Whether the threads only wait for each other, and at least one of them waits for a child or, if
// `child` is false, for output descriptors.
static bool does_nothing_but_wait(pid_t pid, bool child)
{
    char path[384];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    _cleanup_closedir_ DIR *threads = opendir(path);
    const struct dirent *entry;
    bool found = false;
    while (threads != NULL && (entry = readdir(threads)) != NULL) {
        struct call call;
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%s/syscall", (int)pid, entry->d_name);
        if (!read_call(path, &call))
            return false;
        bool asked = child ? awaits_child(&call) : awaits_output(pid, &call);
        if (!asked && !awaits_thread(&call))
            return false;
        found |= asked;
    }
    return found;
}

// Whether a parent may end the wait by a timer or an alarm. An alarm cannot be seen, only its
// handler. Only parents are asked: editors themselves have timers that are not set, and handlers
// for everything that could end them.
static bool may_end_it(pid_t parent)
{
    char path[64], line[256];
    unsigned long long handled = 0;
    snprintf(path, sizeof path, "/proc/%d/timers", (int)parent);
    _cleanup_fclose_ FILE *timers = fopen(path, "re");
    if (timers != NULL && fgets(line, sizeof line, timers) != NULL)
        return true;
    snprintf(path, sizeof path, "/proc/%d/status", (int)parent);
    _cleanup_fclose_ FILE *status = fopen(path, "re");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (sscanf(line, "SigCgt: %llx", &handled) == 1)
            return (handled >> (SIGALRM - 1) & 1) != 0;
    return true;
}

static void cleanup_pids(pid_list *pids)
{
    ARRAY_DEINIT(pids);
}

bool waits_for_terminal(pid_t pid)
{
    for (int depth = 0; depth < DEPTH; depth++) {
        _cleanup_(cleanup_pids) pid_list children = {0};
        struct error *error = processes_children_of(pid, &children);
        if (error != NULL) {
            error_free(error);
            return false;
        }
        bool child = children.count != 0;
        if (children.count > 1 || !does_nothing_but_wait(pid, child) || (child && may_end_it(pid)))
            return false;
        if (!child)
            return true;
        pid = children.items[0];
    }
    return false;
}
