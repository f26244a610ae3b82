// SPDX-License-Identifier: GPL-3.0-or-later
// The process between Ordeal and a command whose system calls are to fail. It maps the trial's
// region like the runtime does: rules come from the plan, injections go into the journal.
#ifndef ORDEAL_TRACER_TRACER_H
#define ORDEAL_TRACER_TRACER_H

#include "base/array.h"
#include "base/error.h"
#include "observe/tracer.h"
#include "wire/region.h"

struct rule_list {
    ARRAY(uint32_t) rules; // ascending
};

struct trial_state {
    struct wire_region *region; // shared with the runtime, if that is in the command
    const struct wire_plan *plan;
    const struct wire_rule *rules;
    const struct wire_instruction *code;
    struct wire_rule_state *states;
    struct rule_list *lists; // by linux_call_index()
    unsigned char *stops;    // the same
    uint32_t processes;      // started so far
    ARRAY(struct process *) running;
};

// Of a process; its threads share it.
struct process {
    pid_t pid;
    uint32_t number, threads, living;
    uint64_t ancestry, children; // wire/region.h
    uint64_t *counts;            // by linux_call_index()
    uint64_t *matches;           // by rule
};

// Of a task.
struct thread {
    struct process *process;
    uint32_t number;
    uint64_t random;
    bool performs; // the call is made, and returns `result`
    int64_t result;
};

// Whether the code of a rule holds for a call. The plan has been checked.
struct evaluation {
    struct trial_state *state;
    struct tracer_task *task;
    struct thread *thread;
    const struct tracer_call *call;
    uint64_t occurrence;
    uint32_t rule;
};
bool evaluate(const struct evaluation *evaluation);

const char *plan_text(const struct trial_state *state, uint32_t offset);

// Lists the rules about system calls, by call.
_must_check_ struct error *rules_prepare(struct trial_state *state);
void rules_release(struct trial_state *state);
extern const struct tracer_handlers rules_handlers; // `data` is a struct trial_state

// Notes how many processes there were.
void journal_count_processes(const struct trial_state *state);
// Writes down that a rule has fired.
void journal_injection(const struct evaluation *evaluation, const struct wire_rule *rule,
                       int64_t result);

#endif
