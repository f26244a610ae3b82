// SPDX-License-Identifier: GPL-3.0-or-later
// Records of injections, as the runtime writes them (runtime/journal.c): asked for, counted, filled
// in, and completed last. The call site is the place of the instruction, by module and offset.
#include "tracer/tracer.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

static void read_name(const struct tracer_task *task, char name[16])
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/comm", task->pid);
    FILE *file = fopen(path, "re");
    size_t size = file != NULL ? fread(name, 1, 15, file) : 0;
    name[size] = '\0';
    name[strcspn(name, "\n")] = '\0';
    if (file != NULL)
        fclose(file);
}

// Paths and texts among the arguments.
static void capture_texts(const struct evaluation *evaluation, struct wire_record *record)
{
    const struct wire_pattern *patterns =
        (const struct wire_pattern *)((const char *)evaluation->state->plan +
                                      evaluation->state->plan->patterns.offset);
    size_t kept = 0;
    for (uint32_t i = 0; i < evaluation->state->plan->patterns.count; i++) {
        if (strcmp(plan_text(evaluation->state, patterns[i].name), evaluation->call->call->name) !=
            0)
            continue;
        for (unsigned j = 0; j < TRACER_ARGUMENTS && kept < WIRE_CAPTURED_STRINGS; j++)
            if (patterns[i].string_arguments & 1u << j &&
                !tracer_read_text(evaluation->task, evaluation->call->arguments[j],
                                  record->strings[kept++], WIRE_CAPTURED_SIZE))
                record->strings[kept - 1][0] = '\0';
        return;
    }
}

// From the place that called the library on.
static void put_frames(const struct stack *stack, uint64_t place, struct wire_record *record)
{
    unsigned count = 0;
    for (unsigned i = stack->site; i < stack->count && count < WIRE_FRAMES; i++) {
        const struct stack_frame *frame = &stack->frames[i];
        bool known = frame->code->index != WIRE_FRAME_UNKNOWN;
        record->frames[count++] =
            WIRE_FRAME(frame->code->index, known ? frame->offset : frame->address);
    }
    record->frames_cut = stack->finished        ? WIRE_CUT_NOT
                         : count == WIRE_FRAMES ? WIRE_CUT_FULL
                                                : WIRE_CUT_UNFINISHED;
    if (count == 0) {
        record->frames[count++] = WIRE_FRAME(WIRE_FRAME_UNKNOWN, place);
        record->frames_cut = WIRE_CUT_CALL;
    }
    record->frame_count = (uint16_t)count;
}

static void fill(const struct evaluation *evaluation, const struct wire_rule *rule, int64_t result,
                 struct wire_record *record)
{
    const struct tracer_task *task = evaluation->task;
    record->kind = WIRE_RECORD_INJECTION;
    record->pid = (uint32_t)task->pid;
    record->tid = (uint32_t)task->tid;
    record->process_number = evaluation->thread->process->number;
    record->thread_number = evaluation->thread->number;
    record->time_ns = clock_ns() - evaluation->state->region->start_ns;
    read_name(task, record->process_name);
    record->rule = evaluation->rule;
    record->actions = rule->actions;
    record->error = rule->error;
    // What was returned, or to how much it was shortened.
    bool failed = rule->actions & WIRE_ERRNO;
    record->value[0] = failed ? (uint64_t)-1 : (uint64_t)result;
    record->occurrence = evaluation->occurrence;
    memcpy(record->arguments, evaluation->call->arguments, sizeof record->arguments);
    snprintf(record->function, sizeof record->function, "%s", evaluation->call->call->name);
    record->library = WIRE_FRAME_UNKNOWN;
    capture_texts(evaluation, record);
    put_frames(evaluation_stack(evaluation), evaluation->call->place, record);
}

// The runtime, if it is in the command, numbers processes, too: the region knows the highest
// number.
void journal_count_processes(const struct trial_state *state)
{
    uint32_t *count = &state->region->processes;
    uint32_t seen = __atomic_load_n(count, __ATOMIC_RELAXED);
    while (seen < state->processes &&
           !__atomic_compare_exchange_n(count, &seen, state->processes, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
        ;
}

static struct wire_record *new_record(struct wire_region *region)
{
    uint64_t index = __atomic_fetch_add(&region->journal_head, 1, __ATOMIC_RELAXED);
    if (index >= region->journal_capacity)
        return NULL;
    struct wire_record *record = (struct wire_record *)((char *)region + region->journal) + index;
    record->state = WIRE_RECORD_OPEN;
    return record;
}

void journal_crash(struct trial_state *state, struct tracer_task *task, const siginfo_t *info)
{
    const struct thread *thread = task->data;
    struct wire_region *region = state->region;
    struct stack stack;
    struct wire_record *record = region->options & WIRE_CATCH_CRASHES ? new_record(region) : NULL;
    if (record == NULL || thread == NULL)
        return;
    journal_count_processes(state);
    record->kind = WIRE_RECORD_CRASH;
    record->pid = (uint32_t)task->pid;
    record->tid = (uint32_t)task->tid;
    record->process_number = thread->process->number;
    record->thread_number = thread->number;
    record->time_ns = clock_ns() - region->start_ns;
    read_name(task, record->process_name);
    record->error = info->si_signo;
    if (info->si_code <= 0) {
        record->actions = WIRE_CRASH_SENT;
        record->value[1] = (uint64_t)info->si_pid;
    } else if (info->si_signo == SIGSEGV || info->si_signo == SIGBUS) {
        record->actions = WIRE_CRASH_FAULT;
        record->value[0] = (uint64_t)(uintptr_t)info->si_addr;
    }
    stack_read(&thread->process->space, task, &stack);
    bool error;
    stack.site = 0;
    if (stack_find_panic(&stack, &error) && error)
        record->actions = 0;
    put_frames(&stack, 0, record);
    __atomic_store_n(&record->state, WIRE_RECORD_COMPLETE, __ATOMIC_RELEASE);
}

void journal_injection(const struct evaluation *evaluation, const struct wire_rule *rule,
                       int64_t result)
{
    struct wire_region *region = evaluation->state->region;
    struct wire_record *record = new_record(region);
    __atomic_fetch_add(&evaluation->state->states[evaluation->rule].fired, 1, __ATOMIC_RELAXED);
    if (record == NULL)
        return;
    journal_count_processes(evaluation->state);
    fill(evaluation, rule, result, record);
    __atomic_store_n(&record->state, WIRE_RECORD_COMPLETE, __ATOMIC_RELEASE);
}
