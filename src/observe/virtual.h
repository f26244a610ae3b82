// SPDX-License-Identifier: GPL-3.0-or-later
// Virtual sources of what differs from run to run: clocks, process numbers and random numbers.
// Traced tasks read these in place of the system's. A task inherits the state of its maker, and
// shares it with nobody afterwards, so that it does not depend on who runs first.
//
// The clock starts at a fixed time. It advances by VIRTUAL_TICK_NS when it is read, by the time
// that a wait was to take, when it took that long, and to the clock of a process that was waited
// for. Timeouts and timers run in real time; absolute ones are as far from now as they are on the
// virtual clock. File times are the system's.
#ifndef ORDEAL_OBSERVE_VIRTUAL_H
#define ORDEAL_OBSERVE_VIRTUAL_H

#include "observe/inside/virtual-clock.h"
#include "observe/process-numbers.h"
#include "observe/tracer.h"

enum virtual_kind {
    VIRTUAL_NONE,
    VIRTUAL_CLOCK,            // argument 1 is a timespec, argument 0 a clock
    VIRTUAL_TIMEVAL,          // argument 0 is a timeval
    VIRTUAL_SECONDS,          // is the result; also through argument 0
    VIRTUAL_TICKS,            // likewise, and argument 0 gets processor times
    VIRTUAL_USAGE,            // argument 1 gets processor times and other counts
    VIRTUAL_MACHINE,          // argument 0 gets uptime, load and free memory
    VIRTUAL_SLEEP,            // waits for a timespec
    VIRTUAL_RESTART,          // goes on with a wait that a signal has interrupted
    VIRTUAL_MILLISECONDS,     // waits; the argument that stops it says how long
    VIRTUAL_TIMEOUT,          // likewise, as a timespec or timeval that gets what is left of it
    VIRTUAL_DEADLINE,         // waits until the absolute time in argument 3
    VIRTUAL_TIMER,            // starts one; argument 2 is an itimerspec
    VIRTUAL_RANDOM,           // fills argument 0
    VIRTUAL_RANDOM_FILE,      // reads, perhaps from a device with random numbers
    VIRTUAL_OWN_PROCESS,      // returns the number of its process
    VIRTUAL_OWN_TASK,         // of its thread
    VIRTUAL_PARENT,           // of the process that made it
    VIRTUAL_ARGUMENTS,        // only arguments are virtual
    VIRTUAL_RESULT,           // returns the number of a process
    VIRTUAL_GROUP_RESULT,     // of a group
    VIRTUAL_SESSION_RESULT,   // of a session
    VIRTUAL_WAIT_INFO,        // waitid()
    VIRTUAL_SIGNAL_INFO,      // argument 1 gets a siginfo
    VIRTUAL_OWNERS,           // fcntl() about owners of descriptors and locks
    VIRTUAL_TERMINAL,         // ioctl() about the groups of a terminal
    VIRTUAL_PEER,             // argument 3 gets the credentials of a socket's peer
    VIRTUAL_CREDENTIALS_SENT, // may be in a message that is sent
    VIRTUAL_CREDENTIALS_GOT,  // or received
    VIRTUAL_LINK,             // argument 1 or 2 gets the target of a link, perhaps /proc/self
};

struct virtual_call {
    enum virtual_kind kind;
    unsigned argument; // that makes it stop
    const char *letters;
};
// NULL: nothing of it is virtual.
const struct virtual_call *virtual_call_of(const struct linux_call *call);

#define VIRTUAL_PATCHES 4

// Of a task.
struct virtual_task {
    uint64_t now_ns;    // since the start
    uint64_t waited_ns; // of that: in waits that timed out, its makers' included
    uint64_t random;    // state of the stream
    unsigned children;
    uint64_t wait_ns;  // that the call is to take; 0: it is no wait
    bool random_file;  // the call reads random numbers
    bool link_to_self; // it reads where /proc/self leads
    size_t patch_count;
    struct virtual_patch { // of memory, which its end undoes
        uint64_t address;
        size_t size;
        unsigned char bytes[16];
    } patches[VIRTUAL_PATCHES];
};

// Makes the calls of the table stop.
void virtual_add_stops(unsigned char *stops);

// `maker` may be NULL.
void virtual_task_start(struct virtual_task *maker, struct virtual_task *ret_task);
// At each exec: hides the vDSO, whose clocks are the system's, and gives 16 random bytes.
void virtual_executes(const struct tracer_task *task, struct virtual_task *state);

// Handlers of calls and signals.
void virtual_begin(struct process_numbers *numbers, struct tracer_task *task,
                   struct virtual_task *state, const struct tracer_call *call,
                   struct tracer_order *order);
void virtual_end(struct process_numbers *numbers, const struct tracer_task *task,
                 struct virtual_task *state, const struct tracer_call *call,
                 struct tracer_order *order);
// Also for reading the time stamp counter, which is a signal.
void virtual_signal(const struct process_numbers *numbers, const struct tracer_task *task,
                    struct virtual_task *state, int *signal);

// For this part of the room only.
uint64_t virtual_read_clock(struct virtual_task *state);
uint64_t virtual_random(struct virtual_task *state);
// Changes memory until the end of the call.
void virtual_patch(const struct tracer_task *task, struct virtual_task *state, uint64_t address,
                   const void *bytes, size_t size);
// Clocks and waits.
void virtual_time_begin(const struct tracer_task *task, struct virtual_task *state,
                        const struct tracer_call *call, const struct virtual_call *facts,
                        struct tracer_order *order);
void virtual_time_end(const struct tracer_task *task, struct virtual_task *state,
                      const struct tracer_call *call, const struct virtual_call *facts);
// Process numbers.
void virtual_processes_begin(struct process_numbers *numbers, struct tracer_task *task,
                             struct virtual_task *state, const struct tracer_call *call,
                             const struct virtual_call *facts, struct tracer_order *order);
void virtual_processes_end(struct process_numbers *numbers, const struct tracer_task *task,
                           struct virtual_task *state, const struct tracer_call *call,
                           const struct virtual_call *facts, struct tracer_order *order);
void virtual_signal_info(const struct process_numbers *numbers, const struct tracer_task *task);

#endif
