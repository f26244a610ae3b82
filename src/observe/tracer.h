// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a command and all it starts so that chosen system calls stop. Every task, a process or a
// thread, has a name that tells its ancestry (r, r.1, r.1.2), the same in every run. Works for any
// program, however it is linked, without root.
#ifndef ORDEAL_OBSERVE_TRACER_H
#define ORDEAL_OBSERVE_TRACER_H

#include "base/error.h"
#include "observe/linux-calls.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#define TRACER_ARGUMENTS 6

struct tracer;

struct tracer_task {
    struct tracer *tracer;
    pid_t tid, pid;            // thread, and the process it belongs to
    const char *name;          // as long as the tracer lives
    struct tracer_task *maker; // NULL: of the command itself, or the maker has ended
    unsigned children;         // made so far
    // Those that are related to each other; inherited from the maker. Set by tracer_set_family().
    unsigned family;
    void *data;      // of the handlers
    bool every_call; // set by handlers: stop where any system call begins and ends
};

// A call that a task has stopped at.
struct tracer_call {
    const struct linux_call *call;
    bool i386;
    int number;
    uint64_t arguments[TRACER_ARGUMENTS];
    uint64_t place; // the address behind the instruction that calls
    int64_t result; // at its end; -4095 .. -1 are errors
};
static inline bool tracer_failed(int64_t result)
{
    return result < 0 && result >= -4095;
}

// What a handler wants done. Starts zeroed: the call goes on.
struct tracer_order {
    bool stop_at_end; // call `end` when the call has been made
    bool skip;        // do not make it; it returns `result`
    bool replace;     // at its end: it returns `result` instead of its own
    int64_t result;
    bool change;       // make it with another argument, which the program does not notice
    unsigned argument; // 0-based
    uint64_t value;
    int signal;        // pending when the call begins; 0: none
    uint64_t delay_ns; // before it begins
    bool again;        // the task comes to its call once more; see tracer_inject_end()
    bool left;         // likewise, and another stop of it comes first
};

struct tracer_handlers {
    // All may be NULL. An error ends the command and what it started.
    struct error *(*started)(void *data, struct tracer_task *task); // also for threads
    struct error *(*executes)(void *data, struct tracer_task *task);
    struct error *(*begin)(void *data, struct tracer_task *task, const struct tracer_call *call,
                           struct tracer_order *order);
    struct error *(*end)(void *data, struct tracer_task *task, const struct tracer_call *call,
                         struct tracer_order *order);
    // A task has stopped for the first time and is about to run; not called for the command itself.
    void (*ready)(void *data, struct tracer_task *task);
    // A signal is about to reach the task; `*signal` 0 takes it away.
    struct error *(*signalled)(void *data, struct tracer_task *task, int *signal);
    // A task with `every_call` is where a call begins or ends.
    void (*at_call)(void *data, struct tracer_task *task);
    // Called after every stop, once the command is executed. Returns after how many nanoseconds it
    // is to be called again if nothing stops; 0: never.
    uint64_t (*tick)(void *data);
    // A task is about to end and still has all that is its.
    void (*exits)(void *data, struct tracer_task *task);
    // `status` as waitpid() gives it; -1: not known. `task` is gone afterwards.
    void (*ended)(void *data, struct tracer_task *task, int status);
    void *data;
};

struct tracer_options {
    char *const *command; // searched in PATH; ends with NULL
    char *const *environment;
    const unsigned char *stops; // enum filter_stop by linux_call_index(); NULL: none stops
    const struct tracer_handlers *handlers;
    bool fixed_addresses;              // they are not random
    bool repeatable;                   // the same, and reading the time stamp counter is SIGSEGV
    const struct filter_code *trusted; // calls from there do not stop; or NULL
};

// Returns when everything that the command started has ended. Signals that ask this process to end
// go to the command. If this process is killed, so are all. Fails if the command cannot be started.
_must_check_ struct error *tracer_run(const struct tracer_options *options, int *ret_status);

// The task and all that it makes from now on are related to each other, and to nobody else.
_must_check_ struct error *tracer_set_family(struct tracer_task *task, unsigned family);
// Whether a process is traced, or was, and is of the task's family.
bool tracer_is_related(const struct tracer_task *task, pid_t pid);
// Calls `each` for one task of every process that lives, until it returns true; then returns true.
bool tracer_each(const struct tracer *tracer, bool (*each)(void *data, struct tracer_task *task),
                 void *data);

// Stops all other tasks of a process for a moment, and lets them go on. For handlers.
void tracer_hold(struct tracer_task *task);
// Stops one task, which runs, until tracer_release(). False: it does not run, or cannot be stopped
// now. For `tick`.
bool tracer_hold_one(struct tracer_task *task);
void tracer_release(struct tracer_task *task);
// Continues a task that has stopped, and waits for its next stop: PTRACE_CONT or
// PTRACE_SINGLESTEP, with no signal. False if it is gone, or has stopped for something else than a
// signal; what that is the engine deals with later. System calls that it makes meanwhile do not
// stop it. For handlers.
bool tracer_wait(struct tracer_task *task, int how, int *ret_signal);

// For `begin` only: the call is made with another argument. Its end gives the program's own back.
void tracer_set_argument(struct tracer_task *task, unsigned argument, uint64_t value);
// Of a task that is stopped. False: it is gone.
bool tracer_get_registers(const struct tracer_task *task, struct user_regs_struct *ret_registers);
bool tracer_set_registers(const struct tracer_task *task, const struct user_regs_struct *registers);

// Has a task that is at the beginning of a call of x86-64 make other calls first, which neither
// stop nor are seen by handlers. For `begin`. Once a call fails to be made, all that follow fail.
struct tracer_injection {
    struct user_regs_struct saved;
    uint64_t mask; // of signals that the task has blocked
    bool blocked;  // all are
    unsigned made;
    bool left; // it has stopped for something else
};
bool tracer_inject_begin(struct tracer_task *task, struct tracer_injection *ret_injection);
bool tracer_inject(struct tracer_task *task, struct tracer_injection *injection, int number,
                   const uint64_t *arguments, int64_t *ret_result);
// The task then goes on at `place`, with the number of its own call in rax.
void tracer_inject_end(struct tracer_task *task, const struct tracer_injection *injection,
                       uint64_t place, struct tracer_order *order);
// Whether another thread of a process that tracer_hold() has stopped is between two addresses, or
// cannot be asked.
bool tracer_is_between(const struct tracer_task *task, uint64_t from, uint64_t to);

// Reads memory of a task; the number of bytes that could be read.
size_t tracer_read(const struct tracer_task *task, uint64_t address, void *bytes, size_t size);
bool tracer_write(const struct tracer_task *task, uint64_t address, const void *bytes, size_t size);
// Reads a text up to its NUL into `text`, cut if it is longer. False: it cannot be read.
bool tracer_read_text(const struct tracer_task *task, uint64_t address, char *text, size_t size);

#endif
