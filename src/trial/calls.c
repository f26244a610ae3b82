// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the table of calls out of a region. Rows that cannot be right are left out and counted as
// lost. Rows with the same key are added up.
#include "trial/calls.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

struct reading {
    const struct wire_view *view;
    struct calls calls;
    uint32_t *processes, *functions; // from the region's row numbers to indexes of `calls`
    const char *modules[WIRE_MODULES];
};

// A copy that calls_deinit() frees.
static struct error *keep(struct reading *reading, const char *text, size_t room,
                          const char **ret_text)
{
    char **slot = ARRAY_ADD(&reading->calls.strings);
    if (slot == NULL)
        return error_no_memory();
    *slot = strndup(text, room);
    if (*slot == NULL)
        return error_no_memory();
    *ret_text = *slot;
    return NULL;
}

static struct error *module_path(struct reading *reading, uint32_t index, const char **ret_path)
{
    if (index >= WIRE_MODULES || reading->view->modules[index].state < WIRE_MODULE_REGISTERED) {
        *ret_path = "";
        return NULL;
    }
    if (reading->modules[index] == NULL)
        TRY(keep(reading, reading->view->modules[index].path, WIRE_MODULE_PATH,
                 &reading->modules[index]));
    *ret_path = reading->modules[index];
    return NULL;
}

// The target wrote it: a 1 for the command, then numbers that are none of them 0. Otherwise the
// ancestry is not known.
static uint64_t checked_ancestry(uint64_t ancestry)
{
    uint64_t rest = ancestry;
    while (rest > WIRE_ANCESTRY_COMMAND && (rest & 0xff) != 0)
        rest >>= 8;
    return rest == WIRE_ANCESTRY_COMMAND ? ancestry : 0;
}

static struct error *read_processes(struct reading *reading)
{
    const struct wire_calls *table = reading->view->calls;
    for (uint32_t i = 0; i < WIRE_CALL_PROCESSES; i++) {
        const struct wire_call_process *row = &table->process[i];
        reading->processes[i] = NONE;
        if (row->state != WIRE_RECORD_COMPLETE)
            continue;
        struct calls_process *process = ARRAY_ADD(&reading->calls.processes);
        if (process == NULL)
            return error_no_memory();
        *process = (struct calls_process){.number = row->number,
                                          .pid = row->pid,
                                          .ancestry = checked_ancestry(row->ancestry),
                                          .image = 1};
        TRY(keep(reading, row->program, sizeof row->program, &process->program));
        reading->processes[i] = (uint32_t)(reading->calls.processes.count - 1);
    }
    return NULL;
}

static struct error *read_functions(struct reading *reading)
{
    const struct wire_calls *table = reading->view->calls;
    for (uint32_t i = 0; i < WIRE_CALL_FUNCTIONS; i++) {
        const struct wire_call_function *row = &table->function[i];
        reading->functions[i] = NONE;
        if (row->state != WIRE_RECORD_COMPLETE)
            continue;
        struct calls_function function = {0};
        TRY(keep(reading, row->name, sizeof row->name, &function.name));
        TRY(module_path(reading, row->library, &function.library));
        // Two processes may have added the same function at the same time.
        size_t at = 0;
        for (; at < reading->calls.functions.count; at++)
            if (strcmp(reading->calls.functions.items[at].name, function.name) == 0 &&
                strcmp(reading->calls.functions.items[at].library, function.library) == 0)
                break;
        reading->functions[i] = (uint32_t)at;
        if (at < reading->calls.functions.count)
            continue;
        struct calls_function *slot = ARRAY_ADD(&reading->calls.functions);
        if (slot == NULL)
            return error_no_memory();
        *slot = function;
    }
    return NULL;
}

static struct error *read_rows(struct reading *reading)
{
    const struct wire_calls *table = reading->view->calls;
    for (uint32_t i = 0; i < WIRE_CALLS; i++) {
        const struct wire_call *row = &table->rows[i];
        if (row->state != WIRE_RECORD_COMPLETE || row->count == 0)
            continue;
        uint32_t process =
            row->process < WIRE_CALL_PROCESSES ? reading->processes[row->process] : NONE;
        uint32_t function =
            row->function < WIRE_CALL_FUNCTIONS ? reading->functions[row->function] : NONE;
        if (process == NONE || function == NONE) {
            reading->calls.lost += row->count;
            continue;
        }
        struct calls_row *slot = ARRAY_ADD(&reading->calls.rows);
        if (slot == NULL)
            return error_no_memory();
        *slot = (struct calls_row){.process = process,
                                   .function = function,
                                   .offset = WIRE_FRAME_OFFSET(row->site),
                                   .stack = row->stack,
                                   .count = row->count,
                                   .first = row->first,
                                   .kinds = row->kinds,
                                   .last = row->last,
                                   .descriptor = row->descriptor,
                                   .stream_offset = WIRE_FRAME_OFFSET(row->stream)};
        TRY(module_path(reading, WIRE_FRAME_MODULE(row->site), &slot->module));
        TRY(module_path(reading, WIRE_FRAME_MODULE(row->stream), &slot->stream_module));
    }
    return NULL;
}

#define COMPARE(a, b)                                                                              \
    do {                                                                                           \
        if ((a) != (b))                                                                            \
            return (a) < (b) ? -1 : 1;                                                             \
    } while (0)

static int by_key(const void *a, const void *b)
{
    const struct calls_row *x = a, *y = b;
    COMPARE(x->process, y->process);
    COMPARE(x->function, y->function);
    int order = strcmp(x->module, y->module);
    if (order != 0)
        return order;
    COMPARE(x->offset, y->offset);
    COMPARE(x->stack, y->stack);
    return 0;
}

static int by_first(const void *a, const void *b)
{
    const struct calls_row *x = a, *y = b;
    COMPARE(x->process, y->process);
    COMPARE(x->first, y->first);
    return by_key(a, b);
}

static void sort(struct calls *calls, int (*order)(const void *, const void *))
{
    if (calls->rows.count != 0)
        qsort(calls->rows.items, calls->rows.count, sizeof *calls->rows.items, order);
}

// Makes one row of all rows with one key, and one total for each process and function.
static struct error *add_up(struct calls *calls)
{
    sort(calls, by_key);
    size_t kept = 0;
    struct calls_total *total = NULL;
    for (size_t i = 0; i < calls->rows.count; i++) {
        const struct calls_row row = calls->rows.items[i];
        if (total == NULL || total->process != row.process || total->function != row.function) {
            total = ARRAY_ADD(&calls->totals);
            if (total == NULL)
                return error_no_memory();
            *total = (struct calls_total){
                .process = row.process, .function = row.function, .first = row.first};
        }
        total->count += row.count;
        if (row.first < total->first)
            total->first = row.first;
        struct calls_row *last = kept != 0 ? &calls->rows.items[kept - 1] : NULL;
        if (last == NULL || by_key(last, &row) != 0) {
            calls->rows.items[kept++] = row;
            continue;
        }
        last->count += row.count;
        last->kinds |= row.kinds;
        if (row.descriptor != last->descriptor)
            last->kinds |= WIRE_KIND_SEVERAL;
        if (row.last > last->last)
            last->last = row.last;
        if (row.first < last->first)
            last->first = row.first;
    }
    calls->rows.count = kept;
    sort(calls, by_first);
    return NULL;
}

struct numbered {
    struct calls_process process;
    uint32_t before;
};

static int by_number(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    COMPARE(x->process.number, y->process.number);
    COMPARE(x->before, y->before); // a process takes its rows in the order of time
    return 0;
}

static struct error *order_processes(struct reading *reading)
{
    struct calls *calls = &reading->calls;
    size_t count = calls->processes.count;
    _cleanup_free_ struct numbered *list = calloc(count + 1, sizeof *list);
    _cleanup_free_ uint32_t *places = calloc(count + 1, sizeof *places);
    if (list == NULL || places == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++)
        list[i] = (struct numbered){calls->processes.items[i], (uint32_t)i};
    qsort(list, count, sizeof *list, by_number);
    for (size_t i = 0; i < count; i++) {
        if (i != 0 && list[i - 1].process.number == list[i].process.number)
            list[i].process.image = list[i - 1].process.image + 1;
        calls->processes.items[i] = list[i].process;
        places[list[i].before] = (uint32_t)i;
    }
    for (size_t i = 0; i < WIRE_CALL_PROCESSES; i++)
        if (reading->processes[i] != NONE)
            reading->processes[i] = places[reading->processes[i]];
    return NULL;
}

struct error *calls_read(const struct wire_view *view, struct calls *ret_calls)
{
    if (view->calls == NULL) {
        *ret_calls = (struct calls){0};
        return NULL;
    }
    struct reading reading = {.view = view, .calls = {.lost = view->calls->lost}};
    _cleanup_free_ uint32_t *processes = calloc(WIRE_CALL_PROCESSES, sizeof *processes);
    _cleanup_free_ uint32_t *functions = calloc(WIRE_CALL_FUNCTIONS, sizeof *functions);
    reading.processes = processes;
    reading.functions = functions;
    struct error *error = processes == NULL || functions == NULL ? error_no_memory() : NULL;
    if (error == NULL)
        error = read_processes(&reading);
    if (error == NULL)
        error = order_processes(&reading);
    if (error == NULL)
        error = read_functions(&reading);
    if (error == NULL)
        error = read_rows(&reading);
    if (error == NULL)
        error = add_up(&reading.calls);
    if (error != NULL)
        calls_deinit(&reading.calls);
    else
        *ret_calls = reading.calls;
    return error;
}

void calls_deinit(struct calls *calls)
{
    for (size_t i = 0; i < calls->strings.count; i++)
        free(calls->strings.items[i]);
    ARRAY_DEINIT(&calls->strings);
    ARRAY_DEINIT(&calls->processes);
    ARRAY_DEINIT(&calls->functions);
    ARRAY_DEINIT(&calls->rows);
    ARRAY_DEINIT(&calls->totals);
    *calls = (struct calls){0};
}
