// SPDX-License-Identifier: GPL-3.0-or-later
// What an injector saw of one run: where faults were injected, and what crashed. The holder of an
// observation owns its strings.
#ifndef ORDEAL_INJECTOR_OBSERVATION_H
#define ORDEAL_INJECTOR_OBSERVATION_H

#include "base/array.h"
#include "base/code-place.h"
#include "wire/view.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct injection { // one activation
    char *fault, *function, *module, *file, *symbol, *program, *stack;
    char *library; // path of the file that defines the function, or NULL
    // The stream (FILE) whose writing failed: a frame, where it was opened; or the descriptor of
    // standard output or error. NULL and 0: it is not known, or there is none.
    char *stream;
    uint32_t standard_stream;
    char *read_stream; // the stream that could not be read: a frame, where it was opened; or NULL
    uint64_t offset, occurrence;
    unsigned line;
    int error;     // the errno that was injected, or 0; known where the run is observed
    uint32_t rule; // of the spec: 0, or 1 for the second of two faults
    uint32_t process, thread;
    int signal;        // that was sent, or 0
    bool stream_write; // the C library's write of what a stream has buffered
    bool observed;     // nothing was injected; the other injections happened inside this call
    bool failed;       // the process ended with another exit status than 0, or by a signal, as its
                       // parent learnt; known where the run is observed
    bool child;        // the command started the process
    char *parent;      // the program that started the process; no shell between them; or NULL
    double seconds;
    // Of the first injection by each rule:
    struct code_places frames; // return addresses, the call's own first
    bool returned;             // it returned `value` without the original's doing
    int64_t value;
    uint64_t arguments[WIRE_ARGUMENTS]; // in registers
};

// All calls of a function from one place inside an observed call.
struct inner_call {
    char *function, *module, *symbol; // symbol: of the caller, or NULL
    uint64_t offset;                  // of the place
    uint64_t first;                   // number of the first one among the function's calls inside
    uint64_t count;
    uint64_t order; // of its first one among all places
};
// A call that was performed and observed.
struct observed_call {
    bool began, returned;
    int64_t result;   // if it returned
    int error;        // errno then
    uint32_t changed; // bit i: it changed what argument i points to
    bool lost;        // not all calls inside are known
    ARRAY(int64_t)
    results; // of all calls that were observed and returned; each once, not all of
             // many
    ARRAY(struct inner_call) calls;
};
// A whole system as the target.
enum observed_system {
    SYSTEM_NONE,
    SYSTEM_STABLE,
    SYSTEM_NOT_RUN,        // says nothing about it
    SYSTEM_PRETEST_FAILED, // or was never reached
    SYSTEM_UNFINISHED,     // the run was ended after the pretest: by its time limit, or it is none
    // The pretest passed, and then:
    SYSTEM_CRASHED,
    SYSTEM_HANGS,
    SYSTEM_BROKEN, // it answers, and the posttest failed
};
struct observation {
    uint64_t activations;
    ARRAY(struct injection) injections; // the first ones, at most a hundred
    uint64_t plan_hash;
    int crash_signal;  // that killed the first process to die of one; 0: none did
    char *crash;       // the same for people: "SIGSEGV at 0x0 in PROGRAM", or NULL
    char *crash_stack; // frames, one per line, innermost first, or NULL
    char *crash_key;   // the same without addresses, for grouping; or NULL
    // File names of the libraries in directories of the system that were loaded, one per line, or
    // NULL; known where the run is observed
    char *system_libraries;
    // The instruction that crashed and the return addresses above it
    struct code_places crash_frames;
    bool crash_fault; // by an access to `crash_address`
    uint64_t crash_address;
    double crash_delay;    // seconds from the activation of the fault to the crash; 0: not known
    bool crash_in_command; // it was the command itself and not something it started
    struct observed_call observed;
    // The process ended itself, by abort() or an instruction for that, and not in a handler of a
    // fault that it had made
    bool crash_by_itself;
    enum observed_system system;
    char *system_reason; // what was wrong with it, in one line; or NULL
    char *system_cause;  // what findings about it are told apart by, instead of a stack; or NULL
    char *note;          // what the user should know, or NULL
    enum wire_damage damage; // if there is any, nothing else here is known
};
void observation_deinit(struct observation *observation);
// Keeps only injections by this rule, which fired `fired` times.
void observation_keep_rule(struct observation *observation, uint32_t rule, uint64_t fired);
// The first injection by another rule than the first injection's, or NULL. What is injected inside
// an observed call is the cause of what that call does, and no second fault.
const struct injection *injection_second(const struct observation *observation);

// The thread that the last fault was injected into. Its numbers are those inside the sandbox; 0:
// none.
struct injected_thread {
    pid_t process, thread;
};

#endif
