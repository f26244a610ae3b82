// SPDX-License-Identifier: GPL-3.0-or-later
// The inside of the engine, shared by tracer.c and tracer-hold.c.
#ifndef ORDEAL_OBSERVE_TRACER_INTERNAL_H
#define ORDEAL_OBSERVE_TRACER_INTERNAL_H

#include "base/array.h"
#include "base/map.h"
#include "observe/tracer.h"

#define TRACER_EVENT(status) ((status) >> 16)

enum task_state {
    TASK_RUNS,
    TASK_IN_CALL, // of which the end is wanted
    TASK_WAITS,   // is stopped until `until_ns`
    TASK_EARLY,   // stopped for the first time, and its maker has not told of it yet
    TASK_NEW,     // its maker has told of it, and it has not stopped for the first time yet
};

struct task {
    struct tracer_task shown;
    enum task_state state;
    bool wants_end;   // while it waits
    bool held;        // by tracer_hold()
    unsigned changed; // arguments, a bit each, which are given back at the end
    uint64_t given[TRACER_ARGUMENTS];
    uint64_t until_ns;
    pid_t parent;
    struct tracer_call call;
};

struct heard_status { // of waitpid()
    pid_t tid;        // 0: the engine has dealt with it
    int status;
};

struct tracer {
    const struct tracer_handlers *handlers;
    pid_t command;
    int status;
    bool executed; // the command's first exec has happened: what counts begins
    bool command_ended;
    size_t waiting;
    uint64_t timer_ns; // the period of the timer; 0: there is none
    uint64_t tick_ns;  // when the handler `tick` is to be called again, from now on; 0: never
    ARRAY(struct task *) tasks; // living ones
    ARRAY(char *) names;
    struct map families;                // a set of processes and their families
    ARRAY(struct heard_status) unheard; // stops that came while something else was awaited
    struct error *error;                // the first one; everything has been killed then
};

// Lets a task go on with this request of ptrace(), and waits for its next stop, or its end. False:
// it is gone.
bool tracer_go_on(struct tracer_task *task, int how, int *ret_status);
// Resumes a task from a stop that is no group stop.
void tracer_resume(struct task *task, int signal);

// Undoes tracer_set_argument().
void tracer_give_back(struct task *task);
// With `skip`, the call is not made.
void tracer_set_result(struct task *task, int64_t result, bool skip);

// Keeps a stop for the engine.
void tracer_keep(struct tracer *tracer, pid_t tid, int status);

// Whether this thread now does without the time stamp counter, until counter_allow().
bool counter_forbid(void);
void counter_allow(void);

#endif
