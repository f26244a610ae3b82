// SPDX-License-Identifier: GPL-3.0-or-later
// Applies the plan's rules about system calls. The first rule that fires wins.
#include "tracer/tracer.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "observe/filter.h"
#include "wire/name-regex.h"

#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

static bool names_calls(const struct trial_state *state, const struct wire_pattern *pattern,
                        enum maker *ret_maker)
{
    const char *library = plan_text(state, pattern->library);
    *ret_maker = strcmp(library, WIRE_GO_CALLS) == 0 ? MAKER_GO_RUNTIME : MAKER_PROGRAM;
    return *ret_maker == MAKER_GO_RUNTIME || strcmp(library, WIRE_SYSTEM_CALLS) == 0;
}

static bool pattern_covers(const struct trial_state *state, const struct wire_pattern *pattern,
                           const char *call)
{
    const char *name = plan_text(state, pattern->name);
    if (wire_is_regex(name))
        return wire_regex_fits(name, call);
    return pattern->flags & WIRE_GLOB ? fnmatch(name, call, 0) == 0 : strcmp(name, call) == 0;
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static struct error *add_rules(struct trial_state *state, const struct wire_pattern *pattern,
                               struct rule_list *list)
{
    const uint32_t *refs =
        (const uint32_t *)((const char *)state->plan + state->plan->rule_refs.offset) +
        pattern->rule_refs.offset;
    for (uint32_t i = 0; i < pattern->rule_refs.count; i++) {
        uint32_t *added = ARRAY_ADD(&list->rules);
        if (added == NULL)
            return error_no_memory();
        *added = refs[i];
    }
    if (list->rules.count > 1)
        qsort(list->rules.items, list->rules.count, sizeof *list->rules.items, ascending);
    return NULL;
}

struct error *rules_prepare(struct trial_state *state)
{
    const struct wire_pattern *patterns =
        (const struct wire_pattern *)((const char *)state->plan + state->plan->patterns.offset);
    struct wire_pattern_state *bound =
        (struct wire_pattern_state *)((char *)state->region + state->region->patterns);
    state->stops = calloc(linux_call_count(), 1);
    for (unsigned i = 0; i < MAKERS; i++)
        state->lists[i] = calloc(linux_call_count(), sizeof *state->lists[i]);
    if (state->lists[MAKER_PROGRAM] == NULL || state->lists[MAKER_GO_RUNTIME] == NULL ||
        state->stops == NULL)
        return error_no_memory();
    state->files.region = state->region;
    state->files.region_size = state->region_size;
    if (state->region->options & WIRE_RECORD_CALLS && state->region->calls != 0)
        TRY(recorder_new(state->region, &state->recorder));
    for (uint32_t i = 0; i < state->plan->patterns.count; i++) {
        enum maker maker;
        if (!names_calls(state, &patterns[i], &maker))
            continue;
        for (size_t j = 0; j < linux_call_count(); j++) {
            if (!pattern_covers(state, &patterns[i], linux_call_at(j)->name))
                continue;
            TRY(add_rules(state, &patterns[i], &state->lists[maker][j]));
            state->stops[j] = FILTER_STOP;
            bound[i].bound++;
        }
    }
    // Calls of i386 that go through one number.
    state->stops[linux_call_index(linux_call_find("socketcall"))] = FILTER_STOP;
    return NULL;
}

void rules_release(struct trial_state *state)
{
    for (unsigned maker = 0; maker < MAKERS; maker++) {
        for (size_t i = 0; state->lists[maker] != NULL && i < linux_call_count(); i++)
            ARRAY_DEINIT(&state->lists[maker][i].rules);
        free(state->lists[maker]);
    }
    free(state->stops);
    recorder_free(state->recorder);
    code_files_release(&state->files);
    ARRAY_DEINIT(&state->running);
}

static void free_process(struct process *process)
{
    if (process == NULL)
        return;
    address_space_clear(&process->space);
    for (unsigned i = 0; i < MAKERS; i++)
        free(process->counts[i]);
    free(process->matches);
    free(process);
}

static void release_process(struct process **process)
{
    free_process(*process);
}

static struct error *new_process(struct trial_state *state, const struct tracer_task *task,
                                 struct process **ret_process)
{
    _cleanup_(release_process) struct process *process = calloc(1, sizeof *process);
    if (process == NULL)
        return error_no_memory();
    process->space.files = &state->files;
    for (unsigned i = 0; i < MAKERS; i++)
        process->counts[i] = calloc(linux_call_count(), sizeof *process->counts[i]);
    process->matches = calloc(state->plan->rules.count + 1, sizeof *process->matches);
    struct process **slot = ARRAY_ADD(&state->running);
    if (process->counts[MAKER_PROGRAM] == NULL || process->counts[MAKER_GO_RUNTIME] == NULL ||
        process->matches == NULL || slot == NULL) {
        state->running.count -= slot != NULL;
        return error_no_memory();
    }
    process->pid = task->pid;
    process->number = ++state->processes;
    struct thread *maker = task->maker != NULL ? task->maker->data : NULL;
    process->ancestry = WIRE_ANCESTRY_COMMAND;
    if (maker != NULL) {
        struct process *parent = maker->process;
        parent->children++;
        process->ancestry = WIRE_ANCESTRY_CHILD(parent->ancestry, parent->children);
    }
    *ret_process = *slot = TAKE(process);
    return NULL;
}

static struct error *started(void *data, struct tracer_task *task)
{
    struct trial_state *state = data;
    struct process *process = NULL;
    for (size_t i = 0; i < state->running.count; i++)
        if (state->running.items[i]->pid == task->pid)
            process = state->running.items[i];
    if (process == NULL)
        TRY(new_process(state, task, &process));
    struct thread *thread = calloc(1, sizeof *thread);
    if (thread == NULL)
        return error_no_memory();
    thread->process = process;
    process->living++;
    thread->number = ++process->threads;
    thread->random = hash_mix(state->plan->seed, hash_text(task->name)) | 1;
    task->data = thread;
    return NULL;
}

// Another program counts from the beginning.
static struct error *executes(void *data, struct tracer_task *task)
{
    struct trial_state *state = data;
    struct process *process = ((struct thread *)task->data)->process;
    journal_count_processes(state); // not before the command runs
    for (unsigned i = 0; i < MAKERS; i++)
        memset(process->counts[i], 0, linux_call_count() * sizeof *process->counts[i]);
    address_space_clear(&process->space);
    process->row = 0;
    memset(process->matches, 0, (state->plan->rules.count + 1) * sizeof *process->matches);
    return NULL;
}

static void ended(void *data, struct tracer_task *task, int status)
{
    struct trial_state *state = data;
    struct thread *thread = task->data;
    (void)status;
    if (thread == NULL)
        return;
    struct process *process = thread->process;
    free(thread);
    task->data = NULL;
    if (--process->living != 0)
        return;
    for (size_t i = 0; i < state->running.count; i++)
        if (state->running.items[i] == process)
            state->running.items[i] = state->running.items[--state->running.count];
    free_process(process);
}

// What the gates of a rule say.
static bool gates_open(const struct wire_rule *rule, const struct wire_rule_state *state,
                       uint64_t occurrence)
{
    return occurrence >= rule->count_first && occurrence <= rule->count_last &&
           (occurrence - rule->count_first) % rule->count_step == 0 && !(rule->once && state->once);
}

static int64_t result_of(const struct wire_rule *rule)
{
    return rule->actions & WIRE_ERRNO ? -(int64_t)rule->error : (int64_t)rule->value[0];
}

static void store_outs(const struct evaluation *evaluation, const struct wire_rule *rule)
{
    const struct trial_state *state = evaluation->state;
    const struct wire_out *outs =
        (const struct wire_out *)((const char *)state->plan + state->plan->outs.offset);
    for (uint32_t i = 0; i < rule->outs.count; i++) {
        const struct wire_out *out = &outs[rule->outs.offset + i];
        uint64_t pointer = evaluation->call->arguments[out->argument];
        if (pointer != 0)
            tracer_write(evaluation->task, pointer + out->offset, &out->value, out->width);
    }
}

static void shorten(const struct evaluation *evaluation, const struct wire_rule *rule,
                    struct tracer_order *order)
{
    uint64_t asked = evaluation->call->arguments[rule->short_argument];
    uint64_t limit = rule->short_limit != 0 ? rule->short_limit : asked / 2;
    if (limit >= asked)
        return;
    order->change = true;
    order->argument = rule->short_argument;
    order->value = limit;
}

static void fire(const struct evaluation *evaluation, const struct wire_rule *rule,
                 struct tracer_order *order)
{
    struct thread *thread = evaluation->thread;
    int64_t result = result_of(rule);
    if (rule->actions & WIRE_DELAY)
        order->delay_ns = rule->delay_ns;
    if (rule->actions & WIRE_SIGNAL)
        order->signal = rule->signal;
    if (rule->actions & WIRE_OUT)
        store_outs(evaluation, rule);
    if (rule->actions & WIRE_SHORT)
        shorten(evaluation, rule, order);
    if (rule->actions & WIRE_RETURN && rule->actions & WIRE_PERFORMED) {
        thread->performs = order->stop_at_end = true;
        thread->result = result;
    } else if (rule->actions & WIRE_RETURN) {
        order->skip = true;
        order->result = result;
    }
    if (rule->actions & WIRE_SHORT)
        result = order->change ? (int64_t)order->value
                               : (int64_t)evaluation->call->arguments[rule->short_argument];
    if (rule->actions != 0)
        journal_injection(evaluation, rule, result);
}

// Memory, threads, signals and waiting, for which Go's runtime may call C code.
static bool serves_runtime(const struct linux_call *call)
{
    switch (call->reason) {
    case REASON_MEMORY:
    case REASON_OWN_MEMORY:
    case REASON_OWN_SIGNALS:
    case REASON_RELATED:
    case REASON_SCHEDULING:
    case REASON_WAITING:
        return true;
    default:
        return false;
    }
}

// Only in Go programs it takes the stack to tell.
static enum maker maker_of(const struct evaluation *evaluation)
{
    struct address_space *space = &evaluation->thread->process->space;
    const struct code_mapping *mapping =
        address_space_find(space, evaluation->task, evaluation->call->place);
    if (!space->is_go)
        return MAKER_PROGRAM;
    bool own = mapping != NULL && mapping->code->is_go ? evaluation_stack(evaluation)->of_runtime
                                                       : serves_runtime(evaluation->call->call);
    return own ? MAKER_GO_RUNTIME : MAKER_PROGRAM;
}

static struct error *begin(void *data, struct tracer_task *task, const struct tracer_call *call,
                           struct tracer_order *order)
{
    struct trial_state *state = data;
    struct thread *thread = task->data;
    size_t index = linux_call_index(call->call);
    struct call_stack stack = {.known = false};
    struct evaluation evaluation = {
        .state = state, .task = task, .thread = thread, .call = call, .stack = &stack};
    enum maker maker = maker_of(&evaluation);
    const struct rule_list *list = &state->lists[maker][index];
    evaluation.occurrence = ++thread->process->counts[maker][index];
    thread->performs = false;
    for (size_t i = 0; i < list->rules.count; i++)
        __atomic_fetch_add(&state->states[list->rules.items[i]].reached, 1, __ATOMIC_RELAXED);
    bool recorded = false; // several rules may watch one call
    for (size_t i = 0; i < list->rules.count; i++) {
        const struct wire_rule *rule = &state->rules[list->rules.items[i]];
        evaluation.rule = list->rules.items[i];
        struct wire_rule_state *counts = &state->states[evaluation.rule];
        if (rule->actions == 0 && state->recorder != NULL) {
            if (!recorded)
                TRY(recorder_add(state->recorder, &evaluation, maker));
            recorded = true;
            continue;
        }
        if (!gates_open(rule, counts, evaluation.occurrence) ||
            (rule->site != WIRE_NONE && !evaluation_is_site(&evaluation, rule->site)) ||
            !evaluate(&evaluation))
            continue;
        if (rule->once)
            counts->once = 1;
        fire(&evaluation, rule, order);
        break;
    }
    return NULL;
}

static struct error *end(void *data, struct tracer_task *task, const struct tracer_call *call,
                         struct tracer_order *order)
{
    struct thread *thread = task->data;
    (void)data;
    (void)call;
    if (thread->performs) {
        order->replace = true;
        order->result = thread->result;
        thread->performs = false;
    }
    return NULL;
}

// Whether a signal kills the process: it is one that does, and is not caught.
static bool kills(const struct tracer_task *task, int signal)
{
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
    bool wanted = false;
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        wanted |= deadly[i] == signal;
    char name[64], line[256];
    unsigned long long caught = 0, ignored = 0;
    snprintf(name, sizeof name, "/proc/%d/status", task->tid);
    _cleanup_fclose_ FILE *file = wanted ? fopen(name, "re") : NULL;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        sscanf(line, "SigIgn: %llx", &ignored);
        if (sscanf(line, "SigCgt: %llx", &caught) == 1)
            return ((caught | ignored) >> (signal - 1) & 1) == 0;
    }
    return false;
}

static struct error *signalled(void *data, struct tracer_task *task, int *signal)
{
    siginfo_t info;
    if (kills(task, *signal) && ptrace(PTRACE_GETSIGINFO, task->tid, NULL, &info) == 0)
        journal_crash(data, task, &info);
    return NULL;
}

const struct tracer_handlers rules_handlers = {
    .started = started,
    .executes = executes,
    .begin = begin,
    .end = end,
    .signalled = signalled,
    .ended = ended,
};
