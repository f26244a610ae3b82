// SPDX-License-Identifier: GPL-3.0-or-later
// Collects the calls of several runs, finds out which calls all of them made, and merges them.
#include "injector/recording.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "trial/calls.h"
#include "wire/region.h"

#include <stdlib.h>
#include <string.h>

static void call_deinit(struct recorded_call *call)
{
    free(call->program);
    free(call->function);
    free(call->library);
}

void recording_deinit(struct recording *recording)
{
    for (size_t i = 0; i < recording->sites.count; i++) {
        free(recording->sites.items[i].module);
        free(recording->sites.items[i].file);
    }
    for (size_t i = 0; i < recording->calls.count; i++)
        call_deinit(&recording->calls.items[i]);
    ARRAY_DEINIT(&recording->sites);
    ARRAY_DEINIT(&recording->calls);
    map_deinit(&recording->site_map);
    map_deinit(&recording->call_map);
}

struct sought_site {
    const struct recording *recording;
    const struct calls_row *row;
};

static bool is_site(const void *data, uint32_t index)
{
    const struct sought_site *sought = data;
    const struct recorded_site *site = &sought->recording->sites.items[index];
    return site->offset == sought->row->offset && strcmp(site->module, sought->row->module) == 0;
}

static struct error *find_site(struct recording *recording, struct journal_reader *reader,
                               const struct calls_row *row, size_t *ret_index)
{
    uint64_t hash = hash_mix(hash_text(row->module), row->offset);
    const struct sought_site sought = {recording, row};
    uint32_t known = map_find_equal(&recording->site_map, hash, is_site, &sought);
    if (known != MAP_NONE) {
        *ret_index = known;
        return NULL;
    }
    struct recorded_site site = {.offset = row->offset, .module = strdup(row->module)};
    struct journal_reader_place place = {0};
    if (row->module[0] != '\0')
        place = journal_reader_find(reader, row->module, row->offset - 1);
    site.line = place.line;
    site.file = place.file != NULL ? strdup(place.file) : NULL;
    struct recorded_site *added = ARRAY_ADD(&recording->sites);
    if (added == NULL || site.module == NULL || (place.file != NULL && site.file == NULL)) {
        recording->sites.count -= added != NULL;
        free(site.module);
        free(site.file);
        return error_no_memory();
    }
    *added = site;
    TRY(map_put(&recording->site_map, hash, (uint32_t)(recording->sites.count - 1)));
    *ret_index = recording->sites.count - 1;
    return NULL;
}

static struct error *make_call(const struct calls *calls, const struct calls_row *row,
                               struct recorded_call *call)
{
    const struct calls_process *process = &calls->processes.items[row->process];
    const struct calls_function *function = &calls->functions.items[row->function];
    call->process = process->number == 1 || process->ancestry == WIRE_ANCESTRY_COMMAND ? 1
                    : process->ancestry != 0 ? process->ancestry & ~RECORDED_NUMBER
                                             : RECORDED_NUMBER | process->number;
    call->stack = row->stack;
    call->first = row->first;
    call->count = row->count;
    call->kinds = row->kinds;
    call->latest = row->last;
    call->descriptor = row->descriptor;
    if (row->stream_offset != 0)
        call->stream = hash_mix(hash_text(row->stream_module), row->stream_offset);
    call->program = strdup(process->program);
    call->function = strdup(function->name);
    call->library = strdup(function->library);
    return call->program != NULL && call->function != NULL && call->library != NULL
               ? NULL
               : error_no_memory();
}

bool recording_same_counter(const struct recorded_call *a, const struct recorded_call *b)
{
    return a->process == b->process && strcmp(a->function, b->function) == 0 &&
           strcmp(a->program, b->program) == 0 && strcmp(a->library, b->library) == 0;
}

// A target wrote the numbers; higher ones are nonsense.
#define MOST_OCCURRENCES (1ull << 40)

static uint64_t last_of(const struct calls *calls, const struct calls_row *row)
{
    // Totals are sorted by process, then by function.
    size_t low = 0, high = calls->totals.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct calls_total *total = &calls->totals.items[middle];
        bool before = total->process != row->process ? total->process < row->process
                                                     : total->function < row->function;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    const struct calls_total *total = low < calls->totals.count ? &calls->totals.items[low] : NULL;
    if (total == NULL || total->process != row->process || total->function != row->function ||
        total->first > MOST_OCCURRENCES || total->count > MOST_OCCURRENCES)
        return row->first;
    return total->first + total->count - 1;
}

static uint64_t hash_call(const struct recorded_call *call)
{
    uint64_t hash = hash_mix(hash_mix(hash_text(call->function), call->run), call->process);
    hash = hash_mix(hash_mix(hash, hash_text(call->program)), hash_text(call->library));
    return hash_mix(hash_mix(hash, call->site), call->stack);
}

struct sought_call {
    const struct recording *recording;
    const struct recorded_call *call;
};

static bool is_call(const void *data, uint32_t index)
{
    const struct sought_call *sought = data;
    const struct recorded_call *a = &sought->recording->calls.items[index], *b = sought->call;
    return a->run == b->run && a->site == b->site && a->stack == b->stack &&
           recording_same_counter(a, b);
}

// Adds a call and takes it over, or adds it to the same call of another row.
static struct error *put_call(struct recording *recording, struct recorded_call *call)
{
    uint64_t hash = hash_call(call);
    const struct sought_call sought = {recording, call};
    uint32_t index = map_find_equal(&recording->call_map, hash, is_call, &sought);
    if (index != MAP_NONE) {
        struct recorded_call *known = &recording->calls.items[index];
        known->first = call->first < known->first ? call->first : known->first;
        known->last = call->last > known->last ? call->last : known->last;
        known->again |= call->again;
        known->count += call->count;
        known->kinds |= call->kinds;
        known->latest = call->latest > known->latest ? call->latest : known->latest;
        if (call->descriptor != known->descriptor)
            known->kinds |= WIRE_KIND_SEVERAL;
        return NULL;
    }
    struct recorded_call *added = ARRAY_ADD(&recording->calls);
    if (added == NULL)
        return error_no_memory();
    *added = *call;
    *call = (struct recorded_call){0};
    TRY(map_put(&recording->call_map, hash, (uint32_t)(recording->calls.count - 1)));
    return NULL;
}

// Whether this process runs the same program a second time. Then occurrences count from 1 again.
static bool runs_again(const struct calls *calls, const struct calls_row *row)
{
    const struct calls_process *process = &calls->processes.items[row->process];
    for (size_t i = 0; i < calls->processes.count; i++)
        if (&calls->processes.items[i] != process &&
            calls->processes.items[i].number == process->number &&
            strcmp(calls->processes.items[i].program, process->program) == 0)
            return true;
    return false;
}

static struct error *add_row(struct recording *recording, struct journal_reader *reader,
                             const struct calls *calls, const struct calls_row *row)
{
    struct recorded_call call = {
        .run = recording->runs, .last = last_of(calls, row), .again = runs_again(calls, row)};
    struct error *error = make_call(calls, row, &call);
    if (error == NULL)
        error = find_site(recording, reader, row, &call.site);
    if (error == NULL)
        error = put_call(recording, &call);
    call_deinit(&call);
    return error;
}

struct error *recording_add(struct recording *recording, const struct wire_view *view,
                            struct journal_reader *reader)
{
    _cleanup_(calls_deinit) struct calls calls = {0};
    TRY(calls_read(view, &calls));
    recording->lost += calls.lost;
    recording->runs++;
    for (size_t i = 0; i < calls.rows.count; i++)
        if (calls.rows.items[i].first != 0)
            TRY(add_row(recording, reader, &calls, &calls.rows.items[i]));
    return NULL;
}

static int order(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare(const void *left, const void *right, void *data)
{
    const struct recording *recording = data;
    const struct recorded_call *a = left, *b = right;
    const struct recorded_site *p = &recording->sites.items[a->site],
                               *q = &recording->sites.items[b->site];
    int result = strcmp(a->function, b->function);
    result = result != 0 ? result : strcmp(a->library, b->library);
    result = result != 0 ? result : order(a->process, b->process);
    result = result != 0 ? result : strcmp(a->program, b->program);
    result = result != 0 ? result : order(a->first, b->first);
    result = result != 0
                 ? result
                 : strcmp(p->module != NULL ? p->module : "", q->module != NULL ? q->module : "");
    result = result != 0 ? result : order(p->offset, q->offset);
    return result != 0 ? result : order(a->stack, b->stack);
}

// Marks calls whose process number belongs to one program only. Their specs need no program.
static struct error *mark_programs(struct recording *recording, const struct recording *complete)
{
    _cleanup_(map_deinit) struct map first = {0}, mixed = {0};
    struct recorded_call *calls = recording->calls.items;
    for (size_t i = 0; complete != NULL && i < complete->calls.count; i++) {
        const struct recorded_call *call = &complete->calls.items[i];
        if (!call->only_program)
            TRY(map_add(&mixed, call->process, NULL));
    }
    for (size_t i = 0; i < recording->calls.count; i++) {
        uint32_t other = map_find(&first, calls[i].process);
        if (other == MAP_NONE)
            TRY(map_put(&first, calls[i].process, (uint32_t)i));
        else if (strcmp(calls[other].program, calls[i].program) != 0)
            TRY(map_add(&mixed, calls[i].process, NULL));
    }
    for (size_t i = 0; i < recording->calls.count; i++)
        calls[i].only_program = !map_has(&mixed, calls[i].process);
    return NULL;
}

// Identifies processes by their program, if in every run only one process has that program. The
// command's process keeps its number, 1.
static struct error *name_processes(struct recording *recording, const struct recording *complete)
{
    _cleanup_(map_deinit) struct map first = {0}, numbered = {0};
    struct recorded_call *calls = recording->calls.items;
    for (size_t i = 0; complete != NULL && i < complete->calls.count; i++) {
        const struct recorded_call *call = &complete->calls.items[i];
        if (call->process != 0)
            TRY(map_add(&numbered, hash_text(call->program), NULL));
    }
    for (size_t i = 0; i < recording->calls.count; i++) {
        uint64_t program = hash_text(calls[i].program), key = hash_mix(program, calls[i].run);
        uint32_t other = map_find(&first, key);
        if (other == MAP_NONE)
            TRY(map_put(&first, key, (uint32_t)i));
        bool alone = other == MAP_NONE || calls[other].process == calls[i].process;
        if (!alone || calls[i].process == 1 || calls[i].program[0] == '\0')
            TRY(map_add(&numbered, program, NULL));
    }
    for (size_t i = 0; i < recording->calls.count; i++)
        if (!map_has(&numbered, hash_text(calls[i].program)))
            calls[i].process = 0;
    return NULL;
}

static int compare_runs(const void *left, const void *right)
{
    const struct recorded_call *a = left, *b = right;
    int result = strcmp(a->function, b->function);
    result = result != 0 ? result : strcmp(a->library, b->library);
    result = result != 0 ? result : order(a->process, b->process);
    result = result != 0 ? result : strcmp(a->program, b->program);
    return result != 0 ? result : order(a->run, b->run);
}

// Finds the occurrences of one counter that every run had. calls[0..count) are sorted by run.
static void intersect_runs(struct recorded_call *calls, size_t count, uint32_t runs)
{
    uint64_t from = 0, last = UINT64_MAX, earliest = UINT64_MAX, latest = 0;
    uint32_t seen = 0;
    bool only = true, again = false;
    for (size_t start = 0, end; start < count; start = end, seen++) {
        uint64_t low = UINT64_MAX, high = 0;
        for (end = start; end < count && calls[end].run == calls[start].run; end++) {
            low = calls[end].first < low ? calls[end].first : low;
            high = calls[end].last > high ? calls[end].last : high;
            only &= calls[end].site == calls[0].site;
            again |= calls[end].again;
        }
        from = low > from ? low : from;
        last = high < last ? high : last;
        earliest = low < earliest ? low : earliest;
        latest = high > latest ? high : latest;
    }
    if (seen < runs || from > last) {
        from = 1;
        last = 0;
    }
    for (size_t i = 0; i < count; i++) {
        calls[i].from = from;
        calls[i].last = last;
        calls[i].uncertain = latest + 1 - earliest - (last + 1 - from);
        calls[i].only_site = only;
        calls[i].again = again;
    }
}

static int compare_places(const void *left, const void *right)
{
    const struct recorded_call *a = left, *b = right;
    int result = strcmp(a->function, b->function);
    result = result != 0 ? result : strcmp(a->library, b->library);
    result = result != 0 ? result : order(a->process, b->process);
    result = result != 0 ? result : strcmp(a->program, b->program);
    result = result != 0 ? result : order(a->site, b->site);
    return result != 0 ? result : order(a->stack, b->stack);
}

// Merges the same call of several runs into one, with the first occurrence of any of them.
static void merge_runs(struct recording *recording)
{
    struct recorded_call *calls = recording->calls.items;
    size_t kept = 0, count = recording->calls.count;
    for (size_t start = 0, end; start < count; start = end) {
        struct recorded_call call = calls[start];
        for (end = start + 1; end < count && compare_places(&call, &calls[end]) == 0; end++) {
            call.first = calls[end].first < call.first ? calls[end].first : call.first;
            call.count += calls[end].count;
            call.kinds |= calls[end].kinds;
            call.latest = calls[end].latest == call.latest ? call.latest : 0;
            if (call.descriptor != calls[end].descriptor)
                call.kinds |= WIRE_KIND_SEVERAL;
            call_deinit(&calls[end]);
        }
        call.in_all_runs = end - start >= recording->runs;
        calls[kept++] = call;
    }
    recording->calls.count = kept;
}

// Marks processes that run their program again, as the complete recording shows.
static struct error *mark_repeated(struct recording *recording, const struct recording *complete)
{
    _cleanup_(map_deinit) struct map again = {0};
    struct recorded_call *calls = recording->calls.items;
    for (size_t i = 0; complete != NULL && i < complete->calls.count; i++) {
        const struct recorded_call *call = &complete->calls.items[i];
        if (call->again)
            TRY(map_add(&again, hash_mix(hash_text(call->program), call->process), NULL));
    }
    for (size_t i = 0; i < recording->calls.count; i++)
        calls[i].again |= map_has(&again, hash_mix(hash_text(calls[i].program), calls[i].process));
    return NULL;
}

struct error *recording_settle(struct recording *recording, const struct recording *complete)
{
    struct recorded_call *calls = recording->calls.items;
    size_t count = recording->calls.count;
    if (recording->settled)
        return NULL;
    recording->settled = true;
    TRY(mark_programs(recording, complete));
    TRY(name_processes(recording, complete));
    TRY(mark_repeated(recording, complete));
    if (count == 0)
        return NULL;
    qsort(calls, count, sizeof *calls, compare_runs);
    for (size_t start = 0, end; start < count; start = end) {
        for (end = start; end < count && recording_same_counter(&calls[start], &calls[end]);)
            end++;
        intersect_runs(calls + start, end - start, recording->runs);
    }
    qsort(calls, count, sizeof *calls, compare_places);
    merge_runs(recording);
    qsort_r(calls, recording->calls.count, sizeof *calls, compare, recording);
    return NULL;
}
