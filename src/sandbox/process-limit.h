// SPDX-License-Identifier: GPL-3.0-or-later
// A command that starts processes without end would take the machine with it long before its time
// is over. Every now and then somebody looks how many there are, and where that costs nothing the
// kernel has a limit of its own, for whoever is too fast for that.
#ifndef ORDEAL_SANDBOX_PROCESS_LIMIT_H
#define ORDEAL_SANDBOX_PROCESS_LIMIT_H

#include "base/processes.h"

#include <stdint.h>

#define PROCESS_LIMIT        2048 // processes of a step, unless a limit was asked for
#define PROCESS_LIMIT_KERNEL 4096 // threads and processes that the kernel allows

struct process_limit {
    uint64_t limit;   // 0: nobody looks
    uint64_t next_ns; // after the start, when to look again
    uint64_t tasks;   // of the whole system when our own were last counted, or fewer since
};

// `now_ns`: after the start of the step. *ret_count: how many processes there are if they are more
// than the limit, otherwise 0.
_must_check_ struct error *process_limit_check(struct process_limit *limit, uint64_t now_ns,
                                               const pid_list *spared, size_t *ret_count);

#endif
