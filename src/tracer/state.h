// SPDX-License-Identifier: GPL-3.0-or-later
// A fault in a register or in memory, injected from outside by breakpoints, so that it works for
// every program. The plan comes from a state file, the result goes there (wire/state.h).
#ifndef ORDEAL_TRACER_STATE_H
#define ORDEAL_TRACER_STATE_H

#include "base/array.h"
#include "base/error.h"
#include "observe/tracer.h"
#include "wire/state.h"

#include <sys/user.h>

struct state_process {
    pid_t pid;
    unsigned tasks;      // that live
    unsigned threads;    // started so far
    bool runs_program;   // or has the library mapped, and the fields below are set
    uint64_t bias;       // of addresses in memory against link-time addresses
    uint64_t executions; // of the stop address
    uint64_t stub;       // its address, or 0
    bool stopping;       // there is a breakpoint at the stop address
    uint64_t placed;     // where the breakpoint or the jump to the stub is, and its first byte
    unsigned char placed_byte;
    bool faulty;        // its memory has the fault
    uint64_t begun_ns;  // processor time that it had used when it began to execute the program
    uint64_t looked_ns; // and at the last look
    int signal;         // the last one that may kill it, and where it happened
    uint64_t signal_ns, signal_place, signal_address;
};

struct state_thread {
    const struct tracer_task *task;
    unsigned number;     // in its process, by creation, from 1
    uint64_t executions; // of the stop address
};

// A piece of memory that debug registers watch: 1, 2, 4 or 8 bytes, aligned.
struct state_unit {
    uint64_t address;
    unsigned size;
};
#define STATE_UNITS 2 // each takes two of the four debug registers

struct state_trial {
    struct wire_state *file;
    ARRAY(struct state_process *) processes;
    ARRAY(struct tracer_task *) tasks;
    ARRAY(struct state_thread) threads; // the same ones
    unsigned char *originals;           // the first bytes of blocks
    unsigned char stop_byte;            // at the stop address, under the breakpoint
    unsigned char jump_bytes[8];        // under the counter's jump
    struct state_unit units[STATE_UNITS];
    unsigned unit_count;
    bool watching;
    bool injected;   // a transient fault; breakpoints that are left do nothing more
    uint32_t *trace; // in the file; NULL: nothing is traced
    const struct tracer_task *traced;   // the only one
    unsigned char *code, *trapping;     // that is traced, and where it has breakpoints
    const struct tracer_task *followed; // after a fault in a register
    unsigned long follow_left;          // single steps
};

_must_check_ struct error *state_open(const char *path, struct state_trial *ret_trial,
                                      bool *ret_is);
void state_close(struct state_trial *trial);

// NULL: it is not known.
struct state_thread *state_find_thread(const struct state_trial *trial,
                                       const struct tracer_task *task);

// Whole machine words are written, so that code that cannot be written to can be changed.
bool state_write(const struct tracer_task *task, uint64_t address, const void *bytes, size_t size);

// Registers. False: there is no such register, or the kernel refuses the value.
bool state_change_register(const struct tracer_task *task, const struct wire_state_fault *fault,
                           unsigned char *before, unsigned char *after);
uint64_t state_general(const struct user_regs_struct *registers, unsigned number);
void state_change_bytes(const struct wire_state_fault *fault, const unsigned char *before,
                        unsigned char *after);

extern const struct tracer_handlers state_handlers;

#define STATE_BREAKPOINT 0xcc

// Handlers: a program begins, a file is mapped.
_must_check_ struct error *state_executes(void *data, struct tracer_task *task);
_must_check_ struct error *state_maps(void *data, struct tracer_task *task,
                                      const struct tracer_call *call, struct tracer_order *order);
_must_check_ struct error *state_mapped(void *data, struct tracer_task *task,
                                        const struct tracer_call *call, struct tracer_order *order);
// Which system calls they need; NULL: none. Free it.
_must_check_ struct error *state_stops(const struct state_trial *trial, unsigned char **ret_stops);

bool state_place_breakpoint(struct state_trial *trial, struct tracer_task *task,
                            struct state_process *process);

// Processor time of a process so far.
uint64_t state_used_ns(pid_t pid);
// The handler `exits`: notes how much processor time the program took, if the fault has not come.
void state_exits(void *data, struct tracer_task *task);
// The handler `tick`: injects a fault whose moment has come.
uint64_t state_tick(void *data);
// Changes what is faulty, in a task that has stopped, and watches memory. False: nothing was
// changed, and the result says why.
bool state_inject(struct state_trial *trial, struct tracer_task *task,
                  struct state_process *process);
void state_activate(const struct state_trial *trial);

// Tracing (struct wire_state.trace_room). The code of a new process is as it was loaded.
_must_check_ struct error *state_trace_begin(struct state_trial *trial, struct tracer_task *task,
                                             uint64_t bias);
// A breakpoint has stopped a task there. False: it is none of tracing.
bool state_trace_at(struct state_trial *trial, struct tracer_task *task, uint64_t address,
                    int *ret_signal);
// Follows a stopped task that has got a fault in a register (struct wire_state_step).
void state_follow(struct state_trial *trial, struct tracer_task *task);
// The task has come to where it is to be followed from. Sets *ret_signal like state_step().
void state_follow_on(struct state_trial *trial, struct tracer_task *task, int *ret_signal);
// Executes one instruction. Signals from elsewhere wait until it is over: *ret_signal is what is to
// be delivered then, or what the instruction has caused. False: the task is gone.
bool state_step(struct tracer_task *task, int *ret_signal);

// Maps memory for the stub that counts, near the program's code or, for a library, where libraries
// are. False: the kernel refuses.
bool state_map_counter(const struct state_trial *trial, struct tracer_task *task,
                       struct state_process *process);
#define STATE_SHARED_STUB 1024 // where the second stub is
// Leads a process to the second stub that is led to the first one.
void state_share_counter(const struct state_trial *trial, const struct tracer_task *task,
                         const struct state_process *process);
// Leads the program to the stub. False if it is too far away.
bool state_place_counter(struct state_trial *trial, struct tracer_task *task,
                         struct state_process *process);

// Watches the faulty memory at result.address until it is read or overwritten.
void state_watch(struct state_trial *trial, struct tracer_task *task);
// Sets the debug registers of a stopped task so that it stops before the instruction there, or
// nowhere if `set` is false. False: the kernel refuses.
bool state_watch_place(const struct tracer_task *task, uint64_t address, bool set);
void state_watch_task(const struct state_trial *trial, struct tracer_task *task);
// A debug register has stopped the task.
void state_watch_hit(struct state_trial *trial, struct tracer_task *task);
// An instruction has caused a signal. It may have read the faulty memory before: the processor
// does not report accesses of such instructions.
void state_watch_failed(struct state_trial *trial, struct tracer_task *task, uint64_t place);
// The task is where a system call begins or ends.
void state_watch_call(struct state_trial *trial, struct tracer_task *task);

#endif
