// SPDX-License-Identifier: GPL-3.0-or-later
// Checks regions that may hold any bytes: a journal file of unknown origin, or the region of a
// trial whose target wrote where it should not have.
#include "trial/region.h"

#include "base/cleanup.h"
#include "wire/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define COPY_LIMIT (8ull << 30)

struct bounds {
    const char *name;
    const char *bytes;
    uint64_t size; // bytes that are there
};

// A pointer to `count` elements at `offset`, or NULL with the error set.
static const void *section(const struct bounds *bounds, const char *what, uint64_t offset,
                           uint64_t count, uint64_t item_size, struct error **error)
{
    if (*error != NULL)
        return NULL;
    if (offset % 8 != 0 || offset > bounds->size || count > (bounds->size - offset) / item_size) {
        *error = error_new("%s is damaged: its %s at offset %llu lie outside", bounds->name, what,
                           (unsigned long long)offset);
        return NULL;
    }
    return bounds->bytes + offset;
}

// The first of `words` NUL-terminated strings that follow each other; NULL with the error set if
// one has no end.
static const char *strings(const struct bounds *bounds, const char *what, uint64_t offset,
                           uint64_t words, struct error **error)
{
    const char *start = section(bounds, what, offset, words, 1, error);
    const char *at = start, *end = bounds->bytes + bounds->size;
    for (uint64_t i = 0; start != NULL && i < words; i++) {
        const char *terminator = at < end ? memchr(at, '\0', (size_t)(end - at)) : NULL;
        if (terminator == NULL) {
            *error = error_new("%s is damaged: its %s have no end", bounds->name, what);
            return NULL;
        }
        at = terminator + 1;
    }
    return start;
}

static struct error *check_header(const struct bounds *bounds)
{
    const struct wire_region *region = (const struct wire_region *)bounds->bytes;
    if (bounds->size < sizeof *region || region->magic != WIRE_REGION_MAGIC)
        return error_new("%s is not a journal of ordeal", bounds->name);
    if (region->version != WIRE_VERSION)
        return error_new("%s was written by another version of ordeal (format %u, this is %u)",
                         bounds->name, region->version, WIRE_VERSION);
    return NULL;
}

static struct error *check_plan(const struct bounds *bounds, struct wire_view *view)
{
    const struct wire_region *region = view->region;
    struct error *error = NULL;
    view->plan = section(bounds, "rules", region->plan, sizeof *view->plan, 1, &error);
    if (error != NULL)
        return error;
    int problem = wire_plan_check(view->plan, bounds->size - region->plan);
    if (problem != WIRE_CHECK_OK)
        return error_new("%s is damaged: its rules at offset %llu are not sound (check %d)",
                         bounds->name, (unsigned long long)region->plan, problem);
    const char *base = (const char *)view->plan;
    view->rules = (const struct wire_rule *)(base + view->plan->rules.offset);
    view->patterns = (const struct wire_pattern *)(base + view->plan->patterns.offset);
    view->rule_count = view->plan->rules.count;
    view->pattern_count = view->plan->patterns.count;
    return NULL;
}

// How many records there are. Those for late crashes follow the others and are used in order.
static uint32_t count_records(const struct wire_region *region, const struct wire_record *records)
{
    uint32_t capacity = region->journal_capacity, late = 0;
    uint64_t asked = region->journal_head;
    if (asked < capacity)
        return (uint32_t)asked;
    while (late < WIRE_LATE_CRASHES && late < asked - capacity &&
           records[capacity + late].state != WIRE_RECORD_EMPTY)
        late++;
    return capacity + late;
}

struct error *region_check(const void *bytes, uint64_t size, const char *name,
                           struct wire_view *ret_view)
{
    const struct bounds bounds = {.name = name, .bytes = bytes, .size = size};
    TRY(check_header(&bounds));
    const struct wire_region *region = bytes;
    struct wire_view view = {.region = region};
    TRY(check_plan(&bounds, &view));
    struct error *error = NULL;
    view.rule_states = section(&bounds, "rule states", region->rules, view.rule_count,
                               sizeof *view.rule_states, &error);
    view.pattern_states = section(&bounds, "pattern states", region->patterns, view.pattern_count,
                                  sizeof *view.pattern_states, &error);
    view.programs =
        section(&bounds, "programs", region->programs, 1, sizeof *view.programs, &error);
    view.modules =
        section(&bounds, "modules", region->modules, WIRE_MODULES, sizeof *view.modules, &error);
    view.journal = section(&bounds, "records", region->journal,
                           (uint64_t)region->journal_capacity + WIRE_LATE_CRASHES,
                           sizeof *view.journal, &error);
    view.marks = section(&bounds, "marks of coverage", region->marks, region->mark_count,
                         sizeof *view.marks, &error);
    if (region->stack_set != 0)
        view.stack_set = section(&bounds, "stacks", region->stack_set, WIRE_STACK_SET,
                                 sizeof *view.stack_set, &error);
    if (region->calls != 0)
        view.calls = section(&bounds, "calls", region->calls, 1, sizeof *view.calls, &error);
    strings(&bounds, "preload text", region->preload, 1, &error);
    strings(&bounds, "file name", region->file, 1, &error);
    if (region->program != 0)
        strings(&bounds, "program", region->program, 2, &error);
    view.command =
        strings(&bounds, "command words", region->command, region->command_words, &error);
    if (error != NULL)
        return error;
    view.record_count = count_records(region, view.journal);
    view.damage = region_find_damage(&view);
    if (view.damage != WIRE_DAMAGE_NONE)
        view.record_count = 0;
    *ret_view = view;
    return NULL;
}

static void add_calls(const struct wire_view *view, uint32_t pattern, uint64_t calls)
{
    if (pattern == 0 || pattern > view->pattern_count)
        return;
    struct wire_rule_state *states = (struct wire_rule_state *)view->rule_states;
    const struct wire_span rules = view->patterns[pattern - 1].rule_refs;
    const uint32_t *refs = wire_view_rule_refs(view, &view->patterns[pattern - 1]);
    for (uint32_t i = 0; i < rules.count; i++)
        states[refs[i]].reached += calls;
}

void region_add_counts(void *bytes, uint64_t size, struct wire_counts *counts)
{
    const struct bounds bounds = {.name = "", .bytes = bytes, .size = size};
    struct wire_view view = {.region = bytes};
    struct error *error = check_header(&bounds);
    if (error == NULL)
        error = check_plan(&bounds, &view);
    view.rule_states =
        section(&bounds, "", view.region->rules, view.rule_count, sizeof *view.rule_states, &error);
    if (error != NULL) {
        error_free(error);
        return;
    }
    uint32_t used = counts->used < WIRE_COUNT_ROWS ? counts->used : WIRE_COUNT_ROWS - 1;
    for (uint32_t row = 1; row <= used; row++)
        for (uint32_t slot = 0; slot < WIRE_COUNT_SLOTS; slot++) {
            uint64_t calls = counts->counts[row][slot];
            counts->counts[row][slot] = 0;
            for (uint32_t k = 0; calls != 0 && k < WIRE_COUNT_PATTERNS; k++)
                add_calls(&view, counts->functions[row][slot].patterns[k], calls);
        }
}

static struct error *read_part(int file, const char *path, uint64_t from, void *bytes,
                               uint64_t size)
{
    for (uint64_t at = 0; at < size;) {
        ssize_t part = pread(file, (char *)bytes + at, size - at, (off_t)(from + at));
        if (part < 0 && errno == EINTR)
            continue;
        if (part < 0)
            return error_from_errno(errno, "cannot read %s", path);
        if (part == 0)
            return error_new("%s is damaged: it ends at offset %llu", path,
                             (unsigned long long)(from + at));
        at += (uint64_t)part;
    }
    return NULL;
}

static struct error *read_all(int file, const char *path, void *bytes, uint64_t size)
{
    return read_part(file, path, 0, bytes, size);
}

// Reads those rows that were used, and adds them to the copy's rules.
static struct error *add_counts_of(int file, const char *path, const struct wire_region *header,
                                   void *bytes)
{
    if (header->counts == 0)
        return NULL;
    _cleanup_free_ struct wire_counts *counts = calloc(1, sizeof *counts);
    if (counts == NULL)
        return error_no_memory();
    TRY(read_part(file, path, header->counts, counts, offsetof(struct wire_counts, counts)));
    uint64_t rows =
        1 + (uint64_t)(counts->used < WIRE_COUNT_ROWS ? counts->used : WIRE_COUNT_ROWS - 1);
    TRY(read_part(file, path, header->counts + offsetof(struct wire_counts, counts), counts->counts,
                  rows * sizeof counts->counts[0]));
    TRY(read_part(file, path, header->counts + offsetof(struct wire_counts, functions),
                  counts->functions, rows * sizeof counts->functions[0]));
    region_add_counts(bytes, header->arena, counts);
    return NULL;
}

// Reads the file and does not map it: a file that shrinks meanwhile must not kill the reader.
struct error *region_copy_open(const char *path, struct region_copy *ret_copy)
{
    _cleanup_close_ int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat facts;
    if (file < 0 || fstat(file, &facts) < 0)
        return error_from_errno(errno, "cannot read %s", path);
    if (!S_ISREG(facts.st_mode))
        return error_new("cannot read %s: it is not a regular file", path);
    struct wire_region header;
    if ((uint64_t)facts.st_size < sizeof header)
        return error_new("%s is not a journal of ordeal", path);
    TRY(read_all(file, path, &header, sizeof header));
    const struct bounds bounds = {
        .name = path, .bytes = (const char *)&header, .size = sizeof header};
    TRY(check_header(&bounds));
    if (header.arena < sizeof header || header.arena > (uint64_t)facts.st_size ||
        header.arena > COPY_LIMIT)
        return error_new("%s is damaged: it is %llu bytes, %llu expected", path,
                         (unsigned long long)facts.st_size, (unsigned long long)header.arena);
    _cleanup_free_ void *bytes = malloc(header.arena);
    if (bytes == NULL)
        return error_no_memory();
    TRY(read_all(file, path, bytes, header.arena));
    TRY(add_counts_of(file, path, &header, bytes));
    struct wire_view view;
    TRY(region_check(bytes, header.arena, path, &view));
    *ret_copy = (struct region_copy){.bytes = TAKE(bytes), .view = view};
    return NULL;
}

struct error *region_copy_take(const struct region *region, struct region_copy *ret_copy)
{
    uint64_t size = region->layout.arena;
    _cleanup_free_ void *bytes = malloc(size);
    if (bytes == NULL)
        return error_no_memory();
    TRY(read_all(region->file, region->path, bytes, size));
    region_restore(region, bytes);
    TRY(add_counts_of(region->file, region->path, &region->layout, bytes));
    struct wire_view view;
    TRY(region_check(bytes, size, region->path, &view));
    *ret_copy = (struct region_copy){.bytes = TAKE(bytes), .view = view};
    return NULL;
}

void region_copy_close(struct region_copy *copy)
{
    free(copy->bytes);
    *copy = (struct region_copy){0};
}
