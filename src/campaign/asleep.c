// SPDX-License-Identifier: GPL-3.0-or-later
// See asleep.h. What cannot be told is taken for something else: nobody is blamed by mistake.
#include "campaign/asleep.h"

#include "base/cleanup.h"
#include "base/processes.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define DEPTH 32 // of processes that wait for each other
#define MANY  8  // descriptors that one is not for

struct call {
    long number;
    unsigned long long arguments[3];
};

// False if the thread runs, or nobody may know.
static bool read_call(const char *path, struct call *ret_call)
{
    char line[256];
    _cleanup_fclose_ FILE *file = fopen(path, "re");
    unsigned long long *arguments = ret_call->arguments;
    return file != NULL && fgets(line, sizeof line, file) != NULL &&
           isdigit((unsigned char)line[0]) &&
           sscanf(line, "%ld %llx %llx %llx", &ret_call->number, &arguments[0], &arguments[1],
                  &arguments[2]) == 4;
}

static bool read_process_call(pid_t pid, struct call *ret_call)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/syscall", (int)pid);
    return read_call(path, ret_call);
}

bool asleep_for_children(pid_t pid)
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
        if ((polled[i].events & POLLIN) == 0 || !is_only_written(pid, polled[i].fd))
            return false;
    return true;
}

static bool selects_output(pid_t pid, const struct call *call)
{
    fd_set set;
    unsigned long long below = call->arguments[0];
    bool found = false;
    if (below > MANY || call->arguments[1] == 0 ||
        !read_memory(pid, call->arguments[1], &set, sizeof(long)))
        return false;
    for (int i = 0; i < (int)below; i++) {
        if (!FD_ISSET(i, &set))
            continue;
        if (!is_only_written(pid, i))
            return false;
        found = true;
    }
    return found;
}

static bool awaits_output(pid_t pid)
{
    struct call call;
    if (!read_process_call(pid, &call))
        return false;
    switch (call.number) {
    case SYS_poll:
    case SYS_ppoll:
        return polls_output(pid, &call);
    case SYS_select:
    case SYS_pselect6:
        return selects_output(pid, &call);
    default:
        return false;
    }
}

static void cleanup_closedir(DIR **directory)
{
    if (*directory != NULL)
        closedir(*directory);
}

static bool is_all_asleep(pid_t pid)
{
    char path[384];
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    _cleanup_(cleanup_closedir) DIR *threads = opendir(path);
    const struct dirent *entry;
    struct call call;
    while (threads != NULL && (entry = readdir(threads)) != NULL) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%s/syscall", (int)pid, entry->d_name);
        if (!read_call(path, &call))
            return false;
    }
    return threads != NULL;
}

static void cleanup_pids(pid_list *pids)
{
    ARRAY_DEINIT(pids);
}

// Whoever waits in another way may have set a time for it.
static bool waits_for_child(pid_t pid)
{
    struct call call;
    return read_process_call(pid, &call) && (call.number == SYS_wait4 || call.number == SYS_waitid);
}

bool asleep_for_terminal(pid_t pid)
{
    for (int depth = 0; depth < DEPTH; depth++) {
        _cleanup_(cleanup_pids) pid_list children = {0};
        struct error *error = processes_children_of(pid, &children);
        if (error != NULL) {
            error_free(error);
            return false;
        }
        if (children.count == 0)
            return awaits_output(pid) && is_all_asleep(pid);
        if (children.count != 1 || !waits_for_child(pid))
            return false;
        pid = children.items[0];
    }
    return false;
}
