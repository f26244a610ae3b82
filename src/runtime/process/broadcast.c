// SPDX-License-Identifier: GPL-3.0-or-later
// Signals that a target sends to every process, or to a process group that it shares with the
// controller. Often it does not mean to: kill(pid, ...) with the -1 of a fork() that failed is such
// a broadcast. They reach the processes of the trial, but neither the controller nor the user's
// others.
#include "runtime/journal.h"
#include "runtime/runtime.h"
#include "runtime/signals.h"
#include "runtime/system.h"

#include <errno.h>
#include <limits.h>
#include <linux/fcntl.h>
#include <linux/stat.h>
#include <sys/stat.h>

#define EVERYONE (-1)
#define DEEPEST  10000 // generations of processes

// Room for one call: a signal handler may have called it on a small stack.
struct broadcast {
    char entries[16384]; // of /proc
    char stat[512];
    char path[32];
    int signal;
    int group; // or EVERYONE
    int root;  // everything below this process belongs to the trial; 1: everything else does
    int sent;
    long error; // of the last signal that could not be sent
};

struct process {
    int pid, parent, group;
};

// One of the numbers of /proc/PID/stat, and what follows it.
static const char *take_number(const char *text, int *ret_number)
{
    int number = 0;
    while (*text == ' ')
        text++;
    for (; *text >= '0' && *text <= '9'; text++)
        number = number * 10 + (*text - '0');
    *ret_number = number;
    return text;
}

// Reads "PID (NAME) STATE PARENT GROUP". The name may itself hold parentheses.
static bool process_read(struct broadcast *broadcast, const char *which, struct process *process)
{
    char *path = broadcast->path;
    text_copy(path, sizeof broadcast->path, "/proc/");
    text_copy(path + 6, sizeof broadcast->path - 12, which);
    text_copy(path + text_length(path), 6, "/stat");
    long file = SYSTEM_3(__NR_open, path, O_RDONLY | O_CLOEXEC, 0);
    if (system_failed(file))
        return false;
    long size = SYSTEM_3(__NR_read, file, broadcast->stat, sizeof broadcast->stat - 1);
    SYSTEM_1(__NR_close, file);
    if (size <= 0)
        return false;
    const char *text = broadcast->stat, *name = NULL;
    broadcast->stat[size] = '\0';
    for (const char *at = text; *at != '\0'; at++)
        if (*at == ')')
            name = at;
    if (name == NULL || name[1] != ' ' || name[2] == '\0')
        return false;
    take_number(text, &process->pid);
    take_number(take_number(name + 3, &process->parent), &process->group);
    return true;
}

// Whether a process belongs to the trial: whether one above it is the root.
static bool is_of_trial(struct broadcast *broadcast, struct process process)
{
    if (broadcast->root == 1)
        return process.pid != 1;
    for (int i = 0; i < DEEPEST && process.parent != broadcast->root; i++) {
        char number[12];
        text_put_number(number, (unsigned)process.parent);
        if (process.parent <= 1 || !process_read(broadcast, number, &process))
            return false;
    }
    return process.parent == broadcast->root;
}

static void send(struct broadcast *broadcast, int pid)
{
    long result = SYSTEM_2(__NR_kill, pid, broadcast->signal);
    if (system_failed(result))
        broadcast->error = result;
    else
        broadcast->sent++;
}

static void visit(struct broadcast *broadcast, const char *name)
{
    struct process process;
    int pid;
    if (!text_number(name, &pid) || pid == (int)system_pid() ||
        !process_read(broadcast, name, &process))
        return;
    if ((broadcast->group == EVERYONE || process.group == broadcast->group) &&
        is_of_trial(broadcast, process))
        send(broadcast, pid);
}

static bool visit_all(struct broadcast *broadcast)
{
    long size, at, proc = SYSTEM_3(__NR_open, "/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    if (system_failed(proc))
        return false;
    while ((size = SYSTEM_3(__NR_getdents64, proc, broadcast->entries, sizeof broadcast->entries)) >
           0)
        for (at = 0; at < size;) {
            const struct system_entry *entry = (const void *)(broadcast->entries + at);
            visit(broadcast, entry->name);
            at += entry->size;
        }
    SYSTEM_1(__NR_close, proc);
    return size == 0;
}

enum reach {
    REACH_TRIAL,   // the call cannot reach anything outside the trial
    REACH_OUTSIDE, // it can
    REACH_UNKNOWN,
};

// Finds out what a call would reach. In a PID namespace that the trial has made, or that its
// sandbox is, it reaches nothing outside, except through a process group that it brought along:
// that has the number 0 there.
static enum reach reach_of(struct broadcast *broadcast)
{
    const struct wire_region *region = runtime.region;
    struct statx space;
    struct process own;
    bool seen = !system_failed(
                    SYSTEM_6(__NR_statx, AT_FDCWD, "/proc/self/ns/pid", 0, STATX_INO, &space, 0)) &&
                region->namespace != 0;
    bool shared = broadcast->group == EVERYONE || broadcast->group == (int)region->controller_group;
    if (seen && space.stx_ino != region->namespace) {
        if (broadcast->group != 0)
            return REACH_TRIAL;
        broadcast->root = 1;
    } else {
        if (!shared)
            return REACH_TRIAL;
        broadcast->root = (int)region->controller;
    }
    // Is this the /proc of our namespace?
    if (!seen || !process_read(broadcast, "self", &own) || own.pid != (int)system_pid())
        return REACH_UNKNOWN;
    return is_of_trial(broadcast, own) ? REACH_OUTSIDE : REACH_TRIAL;
}

static void note(const struct broadcast *broadcast, enum wire_note kind, int pid)
{
    char text[48] = "kill(";
    char *end = text + 5;
    if (pid < 0)
        *end++ = '-';
    end = text_put_number(end, (unsigned)(pid < 0 ? -pid : pid));
    text_copy(end, 3, ", ");
    end = text_put_number(end + 2, (unsigned)broadcast->signal);
    text_copy(end, 2, ")");
    journal_note(kind, text);
}

// What kill() would do, to the processes of the trial. Returns 0 or a negative error number.
static long limit(struct broadcast *broadcast, int pid)
{
    note(broadcast, WIRE_NOTE_SIGNAL_LIMITED, pid);
    if (!visit_all(broadcast))
        return -EPERM;
    // A group has the caller in it; everyone does not.
    if (broadcast->group != EVERYONE && broadcast->group == SYSTEM_1(__NR_getpgid, 0))
        send(broadcast, (int)system_pid());
    if (broadcast->sent != 0)
        return 0;
    return broadcast->error != 0 ? broadcast->error : -ESRCH;
}

static bool limited(int pid, int signal, int *ret_result)
{
    const int private_anonymous = 0x22, read_write = 3;
    if (pid > 0 || pid == INT_MIN || signal == 0)
        return false;
    long memory =
        SYSTEM_6(__NR_mmap, 0, sizeof(struct broadcast), read_write, private_anonymous, -1, 0);
    if (system_failed(memory))
        return false;
    struct broadcast *broadcast = (struct broadcast *)memory;
    broadcast->signal = signal;
    broadcast->group = pid == 0 ? (int)SYSTEM_1(__NR_getpgid, 0) : pid == -1 ? EVERYONE : -pid;
    enum reach reach = reach_of(broadcast);
    long result = reach == REACH_OUTSIDE ? limit(broadcast, pid) : -EPERM;
    if (reach == REACH_UNKNOWN)
        note(broadcast, WIRE_NOTE_SIGNAL_REFUSED, pid);
    SYSTEM_2(__NR_munmap, memory, sizeof *broadcast);
    if (result < 0 && reach != REACH_TRIAL && __errno_location != NULL)
        *__errno_location() = (int)-result;
    *ret_result = result < 0 ? -1 : 0;
    return reach != REACH_TRIAL;
}

typedef int kill_function(int, int);

static void *real_kill, *real_killpg;

static int hook_kill(int pid, int signal)
{
    int result;
    if (limited(pid, signal, &result))
        return result;
    return ((kill_function *)hook_real(&real_kill, "kill"))(pid, signal);
}

static int hook_killpg(int group, int signal)
{
    int result;
    if (group >= 0 && limited(-group, signal, &result))
        return result;
    return ((kill_function *)hook_real(&real_killpg, "killpg"))(group, signal);
}

const struct hook broadcast_hooks[BROADCAST_HOOKS] = {
    {"kill", (void *)hook_kill, &real_kill},
    {"killpg", (void *)hook_killpg, &real_killpg},
};
