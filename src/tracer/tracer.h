// SPDX-License-Identifier: GPL-3.0-or-later
// The process between Ordeal and a command whose system calls are to fail. It maps the trial's
// region like the runtime does: rules come from the plan, injections go into the journal.
#ifndef ORDEAL_TRACER_TRACER_H
#define ORDEAL_TRACER_TRACER_H

#include "base/array.h"
#include "base/error.h"
#include "observe/tracer.h"
#include "tracer/code.h"
#include "tracer/stack.h"
#include "wire/region.h"

#include <signal.h>

struct rule_list {
    ARRAY(uint32_t) rules; // ascending
};

// Who makes a call.
enum maker { MAKER_PROGRAM, MAKER_GO_RUNTIME, MAKERS };

struct trial_state {
    struct wire_region *region; // shared with the runtime, if that is in the command
    size_t region_size;         // bytes that are mapped
    const struct wire_plan *plan;
    const struct wire_rule *rules;
    const struct wire_instruction *code;
    struct wire_rule_state *states;
    struct rule_list *lists[MAKERS]; // by linux_call_index()
    unsigned char *stops;            // the same
    struct code_files files;
    struct recorder *recorder; // NULL: calls are not recorded
    uint32_t processes;        // started so far
    ARRAY(struct process *) running;
};

// Of a process; its threads share it.
struct process {
    pid_t pid;
    uint32_t number, threads, living;
    uint64_t ancestry, children; // wire/region.h
    uint64_t *counts[MAKERS];    // by linux_call_index()
    uint64_t *matches;           // by rule
    struct address_space space;
    uint32_t row; // 1 + number of the recorder's row for what it runs; 0: none yet
};

// Of a task.
struct thread {
    struct process *process;
    uint32_t number;
    uint64_t random;
    bool performs; // the call is made, and returns `result`
    int64_t result;
};

// What is found out about a call when somebody asks.
struct call_stack {
    bool known;
    struct stack stack;
};

// Whether the code of a rule holds for a call. The plan has been checked.
struct evaluation {
    struct trial_state *state;
    struct tracer_task *task;
    struct thread *thread;
    const struct tracer_call *call;
    struct call_stack *stack;
    uint64_t occurrence;
    uint32_t rule;
};
bool evaluate(const struct evaluation *evaluation);
const struct stack *evaluation_stack(const struct evaluation *evaluation);
// Whether the place that calls is one that a query names.
bool evaluation_is_site(const struct evaluation *evaluation, uint32_t query);
// 1 << enum wire_fd_test for each test that holds.
uint32_t evaluation_descriptor_kinds(const struct evaluation *evaluation, int64_t number);
void evaluation_put_program(const struct evaluation *evaluation, char *name, size_t size);

const char *plan_text(const struct trial_state *state, uint32_t offset);

// Lists the rules about system calls, by call.
_must_check_ struct error *rules_prepare(struct trial_state *state);
void rules_release(struct trial_state *state);
extern const struct tracer_handlers rules_handlers; // `data` is a struct trial_state

// Notes how many processes there were.
void journal_count_processes(const struct trial_state *state);
// Writes down that a signal is about to kill a task.
void journal_crash(struct trial_state *state, struct tracer_task *task, const siginfo_t *info);

// Counts the calls that rules watch, in the region's table, as the runtime does.
_must_check_ struct error *recorder_new(struct wire_region *region, struct recorder **ret_recorder);
void recorder_free(struct recorder *recorder);
_must_check_ struct error *recorder_add(struct recorder *recorder,
                                        const struct evaluation *evaluation, enum maker maker);

// Writes down that a rule has fired.
void journal_injection(const struct evaluation *evaluation, const struct wire_rule *rule,
                       int64_t result);

#endif
