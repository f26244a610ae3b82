// SPDX-License-Identifier: GPL-3.0-or-later
// See crowd.h.
#include "sandbox/crowd.h"

#include "base/cleanup.h"
#include "base/timeouts.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

// Threads and processes of the whole system, which is one short read; 0: not known.
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

// To count our own takes a look at every process there is, so it is done only when the system has
// gained enough of them since; or seldom, where nobody knows.
struct error *crowd_look(struct crowd *crowd, uint64_t now_ns, const pid_list *spared,
                         size_t *ret_count)
{
    *ret_count = 0;
    if (crowd->limit == 0 || now_ns < crowd->next_ns)
        return NULL;
    crowd->next_ns = now_ns + CROWD_PAUSE_NS;
    uint64_t tasks = count_tasks();
    if (tasks < crowd->tasks)
        crowd->tasks = tasks;
    if (tasks == 0)
        crowd->next_ns = now_ns + CROWD_BLIND_PAUSE_NS;
    else if (tasks < crowd->limit || tasks - crowd->tasks < crowd->limit / 2)
        return NULL;
    size_t count;
    TRY(processes_count(spared, &count));
    crowd->tasks = tasks;
    *ret_count = count > crowd->limit ? count : 0;
    return NULL;
}
