// SPDX-License-Identifier: GPL-3.0-or-later
// The calls of reference runs: by process, call, place and stack. There is one writer, so an index
// in its own memory finds the rows of the region's table.
#include "tracer/tracer.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct recorder {
    struct wire_calls *table;
    bool stacks;                // are told apart
    uint32_t libraries[MAKERS]; // rows of the table of modules
    struct map functions;       // rows, by linux_call_index() and maker
    struct map rows;
};

static uint32_t add_library(struct wire_region *region, const char *name)
{
    struct wire_module *table = (struct wire_module *)((char *)region + region->modules);
    for (uint32_t i = 0; i < WIRE_MODULES; i++)
        if (table[i].state == WIRE_MODULE_FREE) {
            snprintf(table[i].path, sizeof table[i].path, "%s", name);
            table[i].state = WIRE_MODULE_REGISTERED;
            return i;
        }
    return WIRE_FRAME_UNKNOWN;
}

struct error *recorder_new(struct wire_region *region, struct recorder **ret_recorder)
{
    struct recorder *recorder = calloc(1, sizeof *recorder);
    if (recorder == NULL)
        return error_no_memory();
    recorder->stacks = (region->options & WIRE_RECORD_STACKS) != 0;
    recorder->table = (struct wire_calls *)((char *)region + region->calls);
    recorder->libraries[MAKER_PROGRAM] = add_library(region, WIRE_SYSTEM_CALLS);
    recorder->libraries[MAKER_GO_RUNTIME] = add_library(region, WIRE_GO_CALLS);
    *ret_recorder = recorder;
    return NULL;
}

void recorder_free(struct recorder *recorder)
{
    if (recorder == NULL)
        return;
    map_deinit(&recorder->functions);
    map_deinit(&recorder->rows);
    free(recorder);
}

// WIRE_NONE: there is no room.
static struct error *find_function(struct recorder *recorder, const struct linux_call *call,
                                   enum maker maker, uint32_t *ret_row)
{
    struct wire_calls *table = recorder->table;
    uint64_t key = linux_call_index(call) * MAKERS + maker;
    *ret_row = map_find(&recorder->functions, key);
    if (*ret_row != MAP_NONE)
        return NULL;
    *ret_row = table->functions < WIRE_CALL_FUNCTIONS ? table->functions++ : WIRE_NONE;
    if (*ret_row == WIRE_NONE)
        return NULL;
    struct wire_call_function *row = &table->function[*ret_row];
    snprintf(row->name, sizeof row->name, "%s", call->name);
    row->library = recorder->libraries[maker];
    row->state = WIRE_RECORD_COMPLETE;
    return map_put(&recorder->functions, key, *ret_row);
}

static uint32_t find_process(struct recorder *recorder, const struct evaluation *evaluation)
{
    struct process *process = evaluation->thread->process;
    struct wire_calls *table = recorder->table;
    if (process->row == 0 && table->processes < WIRE_CALL_PROCESSES) {
        struct wire_call_process *row = &table->process[table->processes];
        process->row = ++table->processes;
        row->number = process->number;
        row->pid = (uint32_t)process->pid;
        row->ancestry = process->ancestry;
        evaluation_put_program(evaluation, row->program, sizeof row->program);
        row->state = WIRE_RECORD_COMPLETE;
    }
    return process->row != 0 ? process->row - 1 : WIRE_NONE;
}

static struct error *find_row(struct recorder *recorder, const struct evaluation *evaluation,
                              enum maker maker, struct wire_call **ret_row)
{
    const struct stack *stack = evaluation_stack(evaluation);
    const struct stack_frame *site = stack->count != 0 ? &stack->frames[stack->site] : NULL;
    struct wire_calls *table = recorder->table;
    uint32_t function, process = find_process(recorder, evaluation);
    uint64_t frame = site != NULL ? WIRE_FRAME(site->code->index, site->offset)
                                  : WIRE_FRAME(WIRE_FRAME_UNKNOWN, evaluation->call->place);
    uint64_t hash = recorder->stacks ? stack_hash(stack) : 0;
    *ret_row = NULL;
    TRY(find_function(recorder, evaluation->call->call, maker, &function));
    if (process == WIRE_NONE || function == WIRE_NONE)
        return NULL;
    uint64_t key = hash_mix(hash_mix(hash_mix(hash_mix(1, process), function), frame), hash);
    uint32_t known = map_find(&recorder->rows, key);
    if (known != MAP_NONE) {
        *ret_row = &table->rows[known];
        return NULL;
    }
    if (table->taken >= WIRE_CALLS)
        return NULL;
    uint32_t number = table->taken++;
    TRY(map_put(&recorder->rows, key, number));
    table->rows[number] = (struct wire_call){.state = WIRE_RECORD_COMPLETE,
                                             .process = process,
                                             .function = function,
                                             .site = frame,
                                             .stack = hash,
                                             .first = evaluation->occurrence};
    *ret_row = &table->rows[number];
    return NULL;
}

struct error *recorder_add(struct recorder *recorder, const struct evaluation *evaluation,
                           enum maker maker)
{
    const struct tracer_call *call = evaluation->call;
    struct wire_call *row;
    if (evaluation_stack(evaluation)->loading)
        return NULL; // before the program runs
    TRY(find_row(recorder, evaluation, maker, &row));
    if (row == NULL) {
        recorder->table->lost++;
        return NULL;
    }
    row->count++;
    if (call->call->arguments[0] == CALL_ARG_DESCRIPTOR) {
        int64_t number = (int32_t)call->arguments[0];
        row->descriptor = (uint16_t)number;
        row->kinds |=
            (uint16_t)(WIRE_KIND_LOOKED | evaluation_descriptor_kinds(evaluation, number));
    }
    const struct wire_rule *rule = &evaluation->state->rules[evaluation->rule];
    if (rule->code.count != 0)
        row->kinds |= evaluate(evaluation) ? WIRE_KIND_HELD : WIRE_KIND_NOT_HELD;
    return NULL;
}
