// SPDX-License-Identifier: GPL-3.0-or-later
// Compares traces. Processes are matched by name. The lines of a process are aligned by the greedy
// algorithm for shortest edit scripts: work grows with the number of differences.
#include "observe/trace.h"

#include "base/cleanup.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EDITS 2000 // beyond that, everything between the first and the last difference is one

void trace_differences_deinit(struct trace_differences *differences)
{
    ARRAY_DEINIT(&differences->list);
}

static struct error *add(struct trace_differences *differences, enum trace_change change,
                         const struct trace_process *process, const struct trace_line *old,
                         const struct trace_line *new)
{
    struct trace_difference *added = ARRAY_ADD(&differences->list);
    if (added == NULL)
        return error_no_memory();
    *added = (struct trace_difference){change, process, old, new};
    return NULL;
}

static bool same(const struct trace_line *a, const struct trace_line *b)
{
    return strcmp(a->text, b->text) == 0;
}

// The same call on the same thing.
static bool alike(const struct trace_line *a, const struct trace_line *b)
{
    return strcmp(a->call, b->call) == 0 &&
           (a->argument_count == 0 || b->argument_count == 0 ||
            strcmp(a->call, TRACE_EXITED) == 0 || strcmp(a->arguments[0], b->arguments[0]) == 0);
}

struct lines {
    const struct trace_line *items;
    size_t count;
};

struct alignment {
    struct lines a, b;
    bool *a_gone, *b_new;
};

// Walks the furthest points back to the start and marks what is not common.
static void walk_back(struct alignment *alignment, int32_t *const *rows, int edits)
{
    int32_t x = (int32_t)alignment->a.count, y = (int32_t)alignment->b.count;
    for (int d = edits; d > 0; d--) {
        const int32_t *row = rows[d - 1] + d - 1; // row[k], -(d-1) <= k <= d-1
        int32_t k = x - y;
        bool down = k == -d || (k != d && row[k - 1] < row[k + 1]);
        int32_t from = down ? k + 1 : k - 1;
        x = row[from];
        y = x - from;
        if (down)
            alignment->b_new[y] = true;
        else
            alignment->a_gone[x] = true;
    }
}

static struct error *align(struct alignment *alignment)
{
    int32_t n = (int32_t)alignment->a.count, m = (int32_t)alignment->b.count;
    int32_t **rows = calloc(EDITS + 1, sizeof *rows);
    if (rows == NULL)
        return error_no_memory();
    struct error *error = NULL;
    int found = -1;
    for (int d = 0; d <= EDITS && found < 0 && error == NULL; d++) {
        rows[d] = calloc((size_t)(2 * d + 1), sizeof **rows);
        if (rows[d] == NULL) {
            error = error_no_memory();
            break;
        }
        for (int32_t k = -d; k <= d && found < 0; k += 2) {
            const int32_t *row = d > 0 ? rows[d - 1] + d - 1 : NULL;
            int32_t x = 0;
            if (d > 0) {
                bool down = k == -d || (k != d && row[k - 1] < row[k + 1]);
                x = down ? row[k + 1] : row[k - 1] + 1;
            }
            int32_t y = x - k;
            while (x < n && y < m && y >= 0 && same(&alignment->a.items[x], &alignment->b.items[y]))
                x++, y++;
            rows[d][d + k] = x;
            if (x >= n && y >= m)
                found = d;
        }
    }
    if (error == NULL && found >= 0)
        walk_back(alignment, rows, found);
    else if (error == NULL) {
        memset(alignment->a_gone, 1, alignment->a.count);
        memset(alignment->b_new, 1, alignment->b.count);
    }
    for (int d = 0; d <= EDITS; d++)
        free(rows[d]);
    free(rows);
    return error;
}

// Lines that are in the way of each other: those that are alike are one change.
static struct error *tell_block(const struct trace_process *process, struct lines gone,
                                struct lines new, struct trace_differences *differences)
{
    size_t told = 0;
    for (size_t i = 0; i < gone.count; i++) {
        size_t j = told;
        while (j < new.count && !alike(&gone.items[i], &new.items[j]))
            j++;
        if (j == new.count) {
            TRY(add(differences, TRACE_LINE_GONE, process, &gone.items[i], NULL));
            continue;
        }
        for (; told < j; told++)
            TRY(add(differences, TRACE_LINE_NEW, process, NULL, &new.items[told]));
        TRY(add(differences, TRACE_LINE_CHANGED, process, &gone.items[i], &new.items[told++]));
    }
    for (; told < new.count; told++)
        TRY(add(differences, TRACE_LINE_NEW, process, NULL, &new.items[told]));
    return NULL;
}

static struct error *tell(const struct alignment *alignment, const struct trace_process *process,
                          struct trace_differences *differences)
{
    size_t i = 0, j = 0;
    while (i < alignment->a.count || j < alignment->b.count) {
        size_t first = i, other = j;
        while (i < alignment->a.count && alignment->a_gone[i])
            i++;
        while (j < alignment->b.count && alignment->b_new[j])
            j++;
        if (i == first && j == other) {
            i++, j++;
            continue;
        }
        TRY(tell_block(process, (struct lines){alignment->a.items + first, i - first},
                       (struct lines){alignment->b.items + other, j - other}, differences));
    }
    return NULL;
}

static struct error *compare_processes(const struct trace_process *a, const struct trace_process *b,
                                       struct trace_differences *differences)
{
    size_t start = 0, end_a = a->lines.count, end_b = b->lines.count;
    while (start < end_a && start < end_b && same(&a->lines.items[start], &b->lines.items[start]))
        start++;
    while (end_a > start && end_b > start &&
           same(&a->lines.items[end_a - 1], &b->lines.items[end_b - 1]))
        end_a--, end_b--;
    struct alignment alignment = {.a = {a->lines.items + start, end_a - start},
                                  .b = {b->lines.items + start, end_b - start}};
    if (alignment.a.count == 0 && alignment.b.count == 0)
        return NULL;
    if (alignment.a.count > INT32_MAX / 2 || alignment.b.count > INT32_MAX / 2)
        return error_new("process %s: traces of so many calls cannot be compared", a->name);
    _cleanup_free_ bool *gone = alignment.a_gone = calloc(alignment.a.count + 1, sizeof *gone);
    _cleanup_free_ bool *new = alignment.b_new = calloc(alignment.b.count + 1, sizeof *new);
    if (gone == NULL || new == NULL)
        return error_no_memory();
    TRY(align(&alignment));
    return tell(&alignment, a, differences);
}

struct error *trace_compare(const struct trace *first, const struct trace *second,
                            struct trace_differences *ret_differences)
{
    _cleanup_(trace_differences_deinit) struct trace_differences differences = {0};
    size_t i = 0, j = 0;
    while (i < first->processes.count || j < second->processes.count) {
        const struct trace_process *a =
            i < first->processes.count ? &first->processes.items[i] : NULL;
        const struct trace_process *b =
            j < second->processes.count ? &second->processes.items[j] : NULL;
        int order = a == NULL ? 1 : b == NULL ? -1 : trace_name_compare(a->name, b->name);
        if (order == 0)
            TRY(compare_processes(a, b, &differences));
        else
            TRY(add(&differences, order < 0 ? TRACE_PROCESS_GONE : TRACE_PROCESS_NEW,
                    order < 0 ? a : b, NULL, NULL));
        i += order <= 0;
        j += order >= 0;
    }
    *ret_differences = differences;
    differences = (struct trace_differences){0};
    return NULL;
}
