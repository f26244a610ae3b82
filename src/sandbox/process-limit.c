// SPDX-License-Identifier: GPL-3.0-or-later
// Counts the processes of a step, as seldom as possible.
#include "sandbox/process-limit.h"

#include "base/cleanup.h"
#include "base/timeouts.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#define MOST_RUNNING 32 // threads for each processor
#define LEAST_GAIN   16 // one more count for each 16th of the limit, at the most

// Threads and processes of the whole system, and those of them that want to run, which takes one
// short read; 0: not known.
static uint64_t count_tasks(uint64_t *ret_running)
{
    char text[128];
    _cleanup_close_ int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    unsigned long long tasks = 0, running = 0;
    *ret_running = 0;
    if (size <= 0)
        return 0;
    text[size] = '\0';
    if (sscanf(text, "%*s %*s %*s %llu/%llu", &running, &tasks) != 2)
        return 0;
    *ret_running = running;
    return tasks;
}

bool process_limit_is_flooded(const char *own, const pid_list *spared)
{
    cpu_set_t processors;
    uint64_t running;
    int count =
        sched_getaffinity(0, sizeof processors, &processors) < 0 ? 1 : CPU_COUNT(&processors);
    size_t most = MOST_RUNNING * (size_t)count;
    return count_tasks(&running) != 0 && running > most &&
           processes_running(own, spared, most + 1) > most;
}

static struct error *count_entries(const char *processes, size_t *ret_count)
{
    _cleanup_closedir_ DIR *stream = opendir(processes);
    if (stream == NULL)
        return error_from_errno(errno, "cannot list the processes of a trial");
    *ret_count = 0;
    for (struct dirent *entry; (entry = readdir(stream)) != NULL;)
        *ret_count += isdigit((unsigned char)entry->d_name[0]) != 0;
    return NULL;
}

// Counting our own processes may mean looking at every process there is. So it is done only when
// the system has gained as many since the last time as could be too many of ours, but not for every
// few; or seldom, if that number is not known.
struct error *process_limit_check(struct process_limit *limit, uint64_t now_ns, const char *own,
                                  const pid_list *spared, size_t *ret_count)
{
    *ret_count = 0;
    if (limit->limit == 0 || now_ns < limit->next_ns)
        return NULL;
    limit->next_ns = now_ns + PROCESS_LIMIT_PAUSE_NS;
    uint64_t running, tasks = count_tasks(&running);
    if (tasks < limit->tasks)
        limit->tasks = tasks;
    if (tasks == 0)
        limit->next_ns = now_ns + PROCESS_BLIND_PAUSE_NS;
    else if (tasks < limit->limit ||
             tasks - limit->tasks < (limit->room != 0 ? limit->room : limit->limit / 2))
        return NULL;
    size_t count;
    TRY(own != NULL ? count_entries(own, &count)
                    : processes_count(spared, PROCESS_COUNT_WAIT_NS, &count));
    uint64_t least = limit->limit / LEAST_GAIN + 1;
    limit->tasks = tasks;
    limit->room = count + least < limit->limit ? limit->limit - count : least;
    *ret_count = count > limit->limit ? count : 0;
    return NULL;
}
