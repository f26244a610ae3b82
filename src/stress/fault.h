// SPDX-License-Identifier: GPL-3.0-or-later
// Faults in a running process: in its registers, its memory, its next call about a file. A
// null fault does all the same and changes nothing.
#ifndef ORDEAL_STRESS_FAULT_H
#define ORDEAL_STRESS_FAULT_H

#include "base/array.h"
#include "stats/stats.h"
#include "stress/load.h"

enum fault_model { FAULT_FLIP, FAULT_FLIPS, FAULT_ZERO, FAULT_SET, FAULT_MODELS };
extern const char *const fault_model_names[FAULT_MODELS];

struct stress_fault {
    enum fault_model model;
    bool null;
};

// Whether this process may do all that faults need to others: trace them, and change their memory.
_must_check_ struct error *fault_check(void);

// All of these stop the process, or a thread, for a moment. *ret_done is false if
// it has ended, or could not be stopped: nothing was injected. `ret_text` gets what was done, in
// words.

// One of the registers that hold values for long: callee-saved ones, stack pointer, program
// counter, vector registers.
_must_check_ struct error *fault_register(pid_t process, const struct stress_fault *fault,
                                          struct stats_random *random, struct buffer *ret_text,
                                          bool *ret_done);
// The byte at this address.
_must_check_ struct error *fault_byte(pid_t process, uint64_t address,
                                      const struct stress_fault *fault, struct stats_random *random,
                                      struct buffer *ret_text, bool *ret_done);
// A byte of what the member's function uses: its memory, or the array and the stack.
_must_check_ struct error *fault_memory(const struct load_status *status, unsigned member,
                                        pid_t process, const struct stress_fault *fault,
                                        struct stats_random *random, struct buffer *ret_text,
                                        bool *ret_done);
// The next call that opens, reads, writes, syncs or closes a file fails with EIO. Not done if there
// is none within STRESS_CALL_WAIT_NS.
_must_check_ struct error *fault_call(pid_t process, const struct stress_fault *fault,
                                      struct buffer *ret_text, bool *ret_done);

#endif
