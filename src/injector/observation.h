// SPDX-License-Identifier: GPL-3.0-or-later
// What an injector saw of one run: where its faults were injected, and what crashed.
#ifndef ORDEAL_INJECTOR_OBSERVATION_H
#define ORDEAL_INJECTOR_OBSERVATION_H

#include "base/array.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct injection { // one activation
    char *fault, *function, *module, *file, *symbol, *program, *stack;
    uint64_t offset, occurrence;
    unsigned line;
    int error;     // the errno that was injected, or 0; known where the run is observed
    uint32_t rule; // of the spec: 0, or 1 for the second of two faults
    uint32_t process, thread;
    int signal; // that was sent, or 0
    double seconds;
};
struct observation {
    uint64_t activations;
    ARRAY(struct injection) injections; // the first ones, at most a hundred
    uint64_t plan_hash;
    int crash_signal;      // that the first process to die of one died of; 0: none did
    char *crash;           // the same for people: "SIGSEGV at 0x0 in PROGRAM", or NULL
    char *crash_stack;     // frames, one per line, innermost first, or NULL
    char *crash_key;       // the same without addresses, for grouping; or NULL
    bool crash_in_command; // it was the command itself and not something it started
    char *note;            // what the user should know, or NULL
};
void observation_deinit(struct observation *observation);
// Leaves only injections by this rule, which fired so often.
void observation_keep_rule(struct observation *observation, uint32_t rule, uint64_t fired);
// The first activation of another of the spec's faults than the first one's, or NULL.
const struct injection *injection_second(const struct observation *observation);

// The thread that a fault was injected into last, by its numbers inside the sandbox; 0: none.
struct injected_thread {
    pid_t process, thread;
};

#endif
