// SPDX-License-Identifier: GPL-3.0-or-later
// Trials without a run of their own: where a rule fires, the workload forks, the child takes the
// fault, and the workload goes on without it when the child is gone. ARCHITECTURE.md says what must
// hold for that.
#ifndef ORDEAL_RUNTIME_FORK_H
#define ORDEAL_RUNTIME_FORK_H

#include "wire/region.h"

#include <stdbool.h>

extern bool fork_mode; // the controller asked for it

void fork_prepare(void); // the constructor's part
// Whether to check the rule: in a child only its own, in the workload those that have not fired.
bool fork_wants(uint32_t rule);
// The rule fires. True in the child, which takes the fault; false in the workload.
bool fork_here(uint32_t rule);
// The same for a fault of the coverage file, and whether there may be more of them.
bool fork_stop(uint32_t stop);
bool fork_stops(void);

// fork-safety.c: checked once, before the first fork; after it the filter keeps things as they are.
enum wire_fork_refusal fork_safety(void);
void fork_note_streams(void); // at the start
// The child's files get positions of their own: the workload opens them again before the fork, the
// child takes them over, the workload closes them.
enum wire_fork_refusal fork_open_files(void);
bool fork_take_files(void);
void fork_close_files(void);

// fork-filter.c: from now on only system calls that leave nothing behind outside this process,
// apart from output to stdout and stderr. Any other kills the process. Children inherit this; it
// cannot be undone.
bool fork_filter(void);
// Makes a system call from the one place that the filter lets all of them through.
long fork_system(long number, long a, long b, long c, long d);

#endif
