// SPDX-License-Identifier: GPL-3.0-or-later
// Counts the processes of a step, as seldom as possible.
#include "sandbox/process-limit.h"

#include "base/cleanup.h"
#include "base/timeouts.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

// Threads and processes of the whole system, which takes one short read; 0: not known.
static uint64_t count_tasks(void)
{
    char text[128];
    _cleanup_close_ int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    unsigned long long tasks = 0;
    if (size <= 0)
        return 0;
    text[size] = '\0';
    return sscanf(text, "%*s %*s %*s %*u/%llu", &tasks) == 1 ? tasks : 0;
}

// Counting our own processes means looking at every process there is. So it is done only when the
// system has gained enough of them since the last time; or seldom, if that number is not known.
struct error *process_limit_check(struct process_limit *limit, uint64_t now_ns,
                                  const pid_list *spared, size_t *ret_count)
{
    *ret_count = 0;
    if (limit->limit == 0 || now_ns < limit->next_ns)
        return NULL;
    limit->next_ns = now_ns + PROCESS_LIMIT_PAUSE_NS;
    uint64_t tasks = count_tasks();
    if (tasks < limit->tasks)
        limit->tasks = tasks;
    if (tasks == 0)
        limit->next_ns = now_ns + PROCESS_BLIND_PAUSE_NS;
    else if (tasks < limit->limit || tasks - limit->tasks < limit->limit / 2)
        return NULL;
    size_t count;
    TRY(processes_count(spared, &count));
    limit->tasks = tasks;
    *ret_count = count > limit->limit ? count : 0;
    return NULL;
}
