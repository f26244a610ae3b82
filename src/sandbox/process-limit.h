// SPDX-License-Identifier: GPL-3.0-or-later
// Stops commands that start processes without end: they would take the machine with them long
// before their time is over. The processes are counted now and then. Where that costs nothing, the
// kernel has a limit of its own, for commands that are too fast for us.
#ifndef ORDEAL_SANDBOX_PROCESS_LIMIT_H
#define ORDEAL_SANDBOX_PROCESS_LIMIT_H

#include "base/processes.h"

#include <stdint.h>

#define PROCESS_LIMIT        2048 // processes of a step, unless the user sets a limit
#define PROCESS_LIMIT_KERNEL 4096 // threads and processes that the kernel allows

struct process_limit {
    uint64_t limit;   // 0: not checked
    uint64_t next_ns; // when to check again, after the start of the step
    uint64_t tasks;   // of the whole system when ours were last counted, or fewer since
    uint64_t room;    // how many more of ours there could be then; 0: not counted yet
};

// Counts if it is time to. `now_ns` is after the start of the step. `own` is a /proc that has the
// processes of the run alone; NULL: there is none, and children in `spared` and their descendants
// do not count. *ret_count is the number of processes if it exceeds the limit, else 0.
_must_check_ struct error *process_limit_check(struct process_limit *limit, uint64_t now_ns,
                                               const char *own, const pid_list *spared,
                                               size_t *ret_count);
// Whether so many processes of the step want to run that looking at them would take many seconds.
// However many others there are, a look at one process is worth its time.
bool process_limit_is_flooded(const char *own, const pid_list *spared);

#endif
