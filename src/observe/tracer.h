// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a command and all it starts so that chosen system calls stop. Every task, a process or a
// thread, has a name that tells its ancestry (r, r.1, r.1.2), the same in every run. Works for any
// program, however it is linked, without root.
#ifndef ORDEAL_OBSERVE_TRACER_H
#define ORDEAL_OBSERVE_TRACER_H

#include "base/error.h"
#include "observe/linux-calls.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TRACER_ARGUMENTS 6

struct tracer;

struct tracer_task {
    struct tracer *tracer;
    pid_t tid, pid;            // thread, and the process it belongs to
    const char *name;          // as long as the tracer lives
    struct tracer_task *maker; // NULL: of the command itself, or the maker has ended
    unsigned children;         // made so far
    void *data;                // of the handlers
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
};

struct tracer_handlers {
    // All may be NULL. An error ends the command and what it started.
    struct error *(*started)(void *data, struct tracer_task *task); // also for threads
    struct error *(*executes)(void *data, struct tracer_task *task);
    struct error *(*begin)(void *data, struct tracer_task *task, const struct tracer_call *call,
                           struct tracer_order *order);
    struct error *(*end)(void *data, struct tracer_task *task, const struct tracer_call *call,
                         struct tracer_order *order);
    // A signal is about to be delivered; `task` is stopped.
    void (*signalled)(void *data, struct tracer_task *task, const siginfo_t *info);
    // `status` as waitpid() gives it; -1: not known. `task` is gone afterwards.
    void (*ended)(void *data, struct tracer_task *task, int status);
    void *data;
};

struct tracer_options {
    char *const *command; // searched in PATH; ends with NULL
    char *const *environment;
    const unsigned char *stops; // enum filter_stop by linux_call_index()
    const struct tracer_handlers *handlers;
};

// Returns when everything that the command started has ended. Signals that ask this process to end
// go to the command. If this process is killed, so are all. Fails if the command cannot be started.
_must_check_ struct error *tracer_run(const struct tracer_options *options, int *ret_status);

// Whether a process belongs to the traced ones, or did.
bool tracer_knows(const struct tracer *tracer, pid_t pid);
// Calls `each` for one task of every process that lives, until it returns true; then returns true.
bool tracer_each(const struct tracer *tracer, bool (*each)(void *data, struct tracer_task *task),
                 void *data);

// The registers of a task that has stopped. False: it is gone.
struct user_regs_struct;
bool tracer_registers(const struct tracer_task *task, struct user_regs_struct *ret_registers);

// Reads memory of a task; the number of bytes that could be read.
size_t tracer_read(const struct tracer_task *task, uint64_t address, void *bytes, size_t size);
bool tracer_write(const struct tracer_task *task, uint64_t address, const void *bytes, size_t size);
// Reads a text up to its NUL into `text`, cut if it is longer. False: it cannot be read.
bool tracer_read_text(const struct tracer_task *task, uint64_t address, char *text, size_t size);

#endif
