// SPDX-License-Identifier: GPL-3.0-or-later
// Where faults can go in a process that is nobody's copy: its threads, its memory.
#ifndef ORDEAL_STRESS_TARGET_H
#define ORDEAL_STRESS_TARGET_H

#include "stats/stats.h"

#include <stdbool.h>
#include <sys/types.h>

// One of its threads; 0 if it has ended.
pid_t target_draw_thread(pid_t process, struct stats_random *random);
// A byte of its own memory that it may write to, in a page that it has used. False if there is
// none.
bool target_draw_byte(pid_t process, struct stats_random *random, uint64_t *ret_address);
// Its name, as the kernel has it; room for 16 bytes.
void target_name(pid_t process, char *ret_name);

#endif
