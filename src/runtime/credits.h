// SPDX-License-Identifier: GPL-3.0-or-later
// Credits: calls that a thread may make without asking, because no rule can want them.
#ifndef ORDEAL_RUNTIME_CREDITS_H
#define ORDEAL_RUNTIME_CREDITS_H

#include <stdbool.h>
#include <stdint.h>

struct function;

// Calls up to `next` - 1 are of no interest, and this is call `now`. Decides how they are counted.
void credits_until(struct function *function, uint64_t now, uint64_t next);
// No rule looks at the function's calls. They are only recorded.
void credits_for_recording(struct function *function);
// The thread came without a credit: gives it some, or has calls counted one by one.
void credits_refill(struct function *function);
void credits_threads_start(void); // before the first thread is made
// Calls all in for good, under the lock: the barrier for that may be forbidden from now on, or a
// row is no longer one thread's alone.
void credits_stop(void);
void credits_note_fork(bool begins); // in the parent, before a fork and after it
void credits_after_fork(struct function *function);
void credits_forked(void); // after all functions

#endif
