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
    record->frame_count = 1;
    record->frames_cut = WIRE_CUT_CALL;
    record->frames[0] = WIRE_FRAME(WIRE_FRAME_UNKNOWN, evaluation->call->place);
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

void journal_injection(const struct evaluation *evaluation, const struct wire_rule *rule,
                       int64_t result)
{
    struct wire_region *region = evaluation->state->region;
    uint64_t index = __atomic_fetch_add(&region->journal_head, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&evaluation->state->states[evaluation->rule].fired, 1, __ATOMIC_RELAXED);
    if (index >= region->journal_capacity)
        return;
    struct wire_record *record = (struct wire_record *)((char *)region + region->journal) + index;
    record->state = WIRE_RECORD_OPEN;
    journal_count_processes(evaluation->state);
    fill(evaluation, rule, result, record);
    __atomic_store_n(&record->state, WIRE_RECORD_COMPLETE, __ATOMIC_RELEASE);
}
