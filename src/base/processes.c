// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the processes below this one in /proc and signals them. Process numbers are reused, so a
// signal goes through a pidfd, and the process is checked again after the pidfd was opened.
#include "base/processes.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum place { PLACE_UNKNOWN, PLACE_ON_THE_WAY, PLACE_BELOW, PLACE_ELSEWHERE };

struct process {
    long pid, parent;
    unsigned long long born; // start time: with the pid, an identity
    bool gone;               // a zombie, without threads that go on
    enum place place;
};
typedef ARRAY(struct process) process_list;

static void process_list_deinit(process_list *list)
{
    ARRAY_DEINIT(list);
}

static bool process_read(long pid, struct process *ret_process)
{
    char path[40], text[512];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    _cleanup_close_ int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    ssize_t size = read(file, text, sizeof text - 1);
    if (size <= 0)
        return false;
    text[size] = '\0';
    // The name in parentheses may itself hold blanks and parentheses.
    const char *rest = strrchr(text, ')');
    char state;
    long threads;
    struct process process = {.pid = pid};
    if (rest == NULL ||
        sscanf(rest + 1,
               " %c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld "
               "%*d %llu",
               &state, &process.parent, &threads, &process.born) != 4)
        return false;
    // The first thread may end before the others: its state is that of a zombie then, too.
    process.gone = (state == 'Z' || state == 'X') && threads <= 1;
    *ret_process = process;
    return true;
}

// Until `deadline_ns`; then *ret_complete is false.
static struct error *process_list_read(uint64_t deadline_ns, process_list *ret_list,
                                       bool *ret_complete)
{
    *ret_complete = true;
    DIR *stream = opendir("/proc");
    if (stream == NULL)
        return error_from_errno(errno, "cannot list processes in /proc");
    struct error *error = NULL;
    for (struct dirent *entry; error == NULL && (entry = readdir(stream)) != NULL;) {
        struct process process;
        if (!isdigit((unsigned char)entry->d_name[0]) ||
            !process_read(strtol(entry->d_name, NULL, 10), &process))
            continue;
        if (deadline_ns != UINT64_MAX && clock_ns() > deadline_ns) {
            *ret_complete = false;
            break;
        }
        struct process *added = ARRAY_ADD(ret_list);
        if (added == NULL)
            error = error_no_memory();
        else
            *added = process;
    }
    closedir(stream);
    return error;
}

static bool spares(const pid_list *spared, long pid)
{
    for (size_t i = 0; spared != NULL && i < spared->count; i++)
        if (spared->items[i] == pid)
            return true;
    return false;
}

static int compare_pids(const void *left, const void *right)
{
    long a = ((const struct process *)left)->pid, b = ((const struct process *)right)->pid;
    return (a > b) - (a < b);
}

static struct process *parent_of(const process_list *list, const struct process *process)
{
    struct process wanted = {.pid = process->parent};
    return bsearch(&wanted, list->items, list->count, sizeof wanted, compare_pids);
}

// Walks from a process up to its parents until it meets the root, a process whose place is known,
// or one that is not in the list. All on the way get the same place, so each process is looked at
// once, however long the chain is. Numbers that were reused while /proc was read may form a circle.
// The children of a zombie have been handed to us already.
static void mark_way(const process_list *list, struct process *start, long root,
                     const pid_list *spared)
{
    enum place place = PLACE_ELSEWHERE;
    for (struct process *at = start; at != NULL; at = parent_of(list, at)) {
        if (at->place != PLACE_UNKNOWN) {
            place = at->place == PLACE_ON_THE_WAY ? PLACE_ELSEWHERE : at->place;
            break;
        }
        at->place = PLACE_ON_THE_WAY;
        if (at->parent == root) {
            place = spares(spared, at->pid) ? PLACE_ELSEWHERE : PLACE_BELOW;
            break;
        }
    }
    for (struct process *at = start; at != NULL && at->place == PLACE_ON_THE_WAY;
         at = parent_of(list, at))
        at->place = place;
}

static struct error *process_list_read_all(process_list *ret_list)
{
    bool complete;
    return process_list_read(UINT64_MAX, ret_list, &complete);
}

static struct error *find_descendants(const pid_list *spared, uint64_t deadline_ns,
                                      process_list *ret_list, bool *ret_complete)
{
    TRY(process_list_read(deadline_ns, ret_list, ret_complete));
    if (ret_list->count != 0)
        qsort(ret_list->items, ret_list->count, sizeof *ret_list->items, compare_pids);
    for (size_t i = 0; i < ret_list->count; i++)
        mark_way(ret_list, &ret_list->items[i], (long)getpid(), spared);
    return NULL;
}

// Sends a signal. True if we are not allowed to.
static bool process_signal(const struct process *process, int signal)
{
    _cleanup_close_ int handle = (int)syscall(SYS_pidfd_open, process->pid, 0);
    struct process again;
    if (!process_read(process->pid, &again) || again.gone || again.born != process->born)
        return false;
    int result = handle >= 0 ? (int)syscall(SYS_pidfd_send_signal, handle, signal, NULL, 0)
                             : kill((pid_t)process->pid, signal);
    return result < 0 && errno == EPERM;
}

struct error *processes_signal(int signal, const pid_list *spared, size_t *ret_count,
                               size_t *ret_refused)
{
    _cleanup_(process_list_deinit) process_list list = {0};
    bool complete;
    TRY(find_descendants(spared, UINT64_MAX, &list, &complete));
    size_t count = 0, refused = 0;
    for (size_t i = 0; i < list.count; i++) {
        if (list.items[i].place != PLACE_BELOW || list.items[i].gone)
            continue;
        count++;
        refused += process_signal(&list.items[i], signal);
    }
    *ret_count = count;
    *ret_refused = refused;
    return NULL;
}

struct error *processes_count(const pid_list *spared, uint64_t patience_ns, size_t *ret_count)
{
    _cleanup_(process_list_deinit) process_list list = {0};
    bool complete;
    TRY(find_descendants(spared, clock_ns() + patience_ns, &list, &complete));
    *ret_count = 0;
    for (size_t i = 0; complete && i < list.count; i++)
        *ret_count += list.items[i].place == PLACE_BELOW && !list.items[i].gone;
    return NULL;
}

struct error *processes_children(pid_list *ret_children)
{
    return processes_children_of(getpid(), ret_children);
}

// Adds the numbers in a file "12 345 6789 ".
static bool add_numbers(int file, pid_list *list)
{
    char text[4096];
    pid_t number = 0;
    ssize_t size;
    while ((size = read(file, text, sizeof text)) > 0)
        for (ssize_t i = 0; i < size; i++) {
            if (isdigit((unsigned char)text[i])) {
                number = number * 10 + (text[i] - '0');
                continue;
            }
            pid_t *place = number == 0 ? NULL : ARRAY_ADD(list);
            if (number != 0 && place == NULL)
                return false;
            if (number != 0)
                *place = number;
            number = 0;
        }
    return size == 0;
}

// Calls `look` for each thread of a process, with the path of the thread's directory. `processes`
// is a /proc, `process` a name in it. False if there is no such process, or `look` says so.
static bool each_thread(const char *processes, const char *process,
                        bool (*look)(void *data, const char *thread), void *data)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s/task", processes, process);
    _cleanup_closedir_ DIR *threads = opendir(path);
    bool done = threads != NULL;
    size_t size = strlen(path);
    for (struct dirent *entry; done && (entry = readdir(threads)) != NULL;) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        snprintf(path + size, sizeof path - size, "/%s", entry->d_name);
        done = look(data, path);
    }
    return done;
}

static bool add_children(void *data, const char *thread)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/children", thread);
    _cleanup_close_ int file = open(path, O_RDONLY | O_CLOEXEC);
    return file >= 0 && add_numbers(file, data);
}

bool processes_children_quick(pid_list *ret_children)
{
    return each_thread("/proc", "self", add_children, ret_children);
}

struct running {
    size_t count, most;
    pid_list children; // of the processes that were looked at
};

static bool count_running(void *data, const char *thread)
{
    struct running *running = data;
    char path[PATH_MAX], text[512], state;
    snprintf(path, sizeof path, "%s/stat", thread);
    _cleanup_close_ int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? 0 : read(file, text, sizeof text - 1);
    text[size > 0 ? size : 0] = '\0';
    const char *rest = strrchr(text, ')');
    running->count += rest != NULL && sscanf(rest + 1, " %c", &state) == 1 && state == 'R';
    return running->count < running->most;
}

static bool count_and_descend(void *data, const char *thread)
{
    struct running *running = data;
    add_children(&running->children, thread);
    return count_running(data, thread);
}

static void count_in(const char *processes, struct running *running)
{
    _cleanup_closedir_ DIR *stream = opendir(processes);
    for (struct dirent *entry;
         stream != NULL && running->count < running->most && (entry = readdir(stream)) != NULL;)
        if (isdigit((unsigned char)entry->d_name[0]))
            each_thread(processes, entry->d_name, count_running, running);
}

size_t processes_running(const char *own, const pid_list *spared, size_t most)
{
    struct running running = {.most = most};
    if (own != NULL)
        count_in(own, &running);
    else
        processes_children_quick(&running.children);
    size_t direct = running.children.count;
    for (size_t i = 0; i < running.children.count && running.count < most; i++) {
        char number[24];
        snprintf(number, sizeof number, "%d", (int)running.children.items[i]);
        if (i >= direct || !spares(spared, running.children.items[i]))
            each_thread("/proc", number, count_and_descend, &running);
    }
    ARRAY_DEINIT(&running.children);
    return running.count;
}

// The number of a child is not reused before it is waited for. So no look is needed whose it is.
bool processes_kill_children(const pid_list *spared, size_t *ret_refused)
{
    pid_list children = {0};
    *ret_refused = 0;
    bool told = processes_children_quick(&children);
    for (size_t i = 0; i < children.count; i++)
        if (!spares(spared, children.items[i]) && kill(children.items[i], SIGKILL) < 0 &&
            errno == EPERM)
            ++*ret_refused;
    ARRAY_DEINIT(&children);
    return told;
}

struct error *processes_children_of(pid_t parent, pid_list *ret_children)
{
    _cleanup_(process_list_deinit) process_list list = {0};
    TRY(process_list_read_all(&list));
    for (size_t i = 0; i < list.count; i++) {
        if (list.items[i].parent != (long)parent)
            continue;
        pid_t *child = ARRAY_ADD(ret_children);
        if (child == NULL)
            return error_no_memory();
        *child = (pid_t)list.items[i].pid;
    }
    return NULL;
}

struct error *processes_below(pid_t ancestor, pid_list *ret_processes)
{
    pid_t *first = ARRAY_ADD(ret_processes);
    if (first == NULL)
        return error_no_memory();
    *first = ancestor;
    for (size_t i = ret_processes->count - 1; i < ret_processes->count; i++) {
        char number[24];
        snprintf(number, sizeof number, "%d", (int)ret_processes->items[i]);
        each_thread("/proc", number, add_children, ret_processes);
    }
    return NULL;
}

struct error *processes_alone(pid_t pid, const pid_list *spared, bool *ret_alone)
{
    _cleanup_(process_list_deinit) process_list list = {0};
    struct process process;
    bool alone = process_read((long)pid, &process);
    if (alone)
        TRY(process_list_read_all(&list));
    for (size_t i = 0; i < list.count; i++) {
        const struct process *other = &list.items[i];
        bool near = other->parent == process.pid || other->parent == process.parent;
        alone &= !near || other->pid == process.pid || spares(spared, other->pid);
    }
    *ret_alone = alone;
    return NULL;
}
