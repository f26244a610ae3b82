// SPDX-License-Identifier: GPL-3.0-or-later
// Counts trials per verdict, overall or in groups.
#include "base/cleanup.h"
#include "store/internal.h"

#include <string.h>

static const struct {
    const char *name;
    enum query query;
} groups[] = {
    {"type", COUNT_TYPE},
    {"function", COUNT_FUNCTION},
    {"module", COUNT_MODULE},
    {"file", COUNT_FILE},
    {"component", COUNT_COMPONENT},
    {"instruction", COUNT_INSTRUCTION},
    {"program", COUNT_PROGRAM},
    {"suppressed", COUNT_SUPPRESSED},
    {"aside", COUNT_ASIDE},
    {"caused", COUNT_CAUSED},
    {"unproven", COUNT_UNPROVEN},
    {"impossible", COUNT_IMPOSSIBLE},
    {"way", COUNT_WAY},
    {"damage", COUNT_DAMAGE},
};

static struct error *find_query(const char *group_by, enum query *ret_query)
{
    *ret_query = COUNT_ALL;
    if (group_by == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (strcmp(groups[i].name, group_by) == 0) {
            *ret_query = groups[i].query;
            return NULL;
        }
    return error_new("trials cannot be grouped by '%s': there are type, function, module, file, "
                     "component, instruction and program",
                     group_by);
}

static bool same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

// The group that is being added up. Its name is copied, since the statement's row does not last.
struct sum {
    bool started;
    char *name;
    struct store_count count;
};

static struct error *report(struct sum *sum,
                            struct error *(*row)(void *, const struct store_count *), void *data)
{
    sum->count.group = sum->name;
    return sum->started ? row(data, &sum->count) : NULL;
}

static struct error *start_group(struct sum *sum, const char *name)
{
    char *copy = name != NULL ? strdup(name) : NULL;
    if (name != NULL && copy == NULL)
        return error_no_memory();
    free(sum->name);
    *sum = (struct sum){.started = true, .name = copy};
    return NULL;
}

static void sum_deinit(struct sum *sum)
{
    free(sum->name);
}

// Rows come sorted by group, one for each verdict.
static struct error *
each_count(struct scan *scan, struct error *(*row)(void *, const struct store_count *), void *data)
{
    _cleanup_(sum_deinit) struct sum sum = {.started = scan->query == COUNT_ALL ||
                                                       scan->query == COUNT_ALIKE_TRIALS};
    for (;;) {
        const char *word, *group;
        bool got;
        TRY(scan_step(scan, &got));
        if (!got)
            return report(&sum, row, data);
        TRY(scan_column_text(scan, 0, &word));
        TRY(scan_column_text(scan, 2, &group));
        enum verdict verdict = word != NULL ? verdict_named(word, strlen(word)) : VERDICTS;
        if (verdict == VERDICTS)
            return error_new("%s: the file is damaged: a verdict that does not exist",
                             scan->store->path);
        if (!sum.started || !same(sum.name, group)) {
            TRY(report(&sum, row, data));
            TRY(start_group(&sum, group));
        }
        sum.count.verdicts[verdict] += (uint64_t)sqlite3_column_int64(scan->statement, 1);
    }
}

struct error *store_each_count(struct store *store, int64_t campaign, const char *group_by,
                               struct error *(*row)(void *, const struct store_count *), void *data)
{
    enum query query;
    TRY(find_query(group_by, &query));
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, query, &scan));
    TRY(scan_bind_integer(&scan, 1, campaign));
    return each_count(&scan, row, data);
}

struct error *store_count_alike(struct store *store, int64_t campaign, uint64_t number,
                                struct error *(*row)(void *, const struct store_count *),
                                void *data)
{
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, COUNT_ALIKE_TRIALS, &scan));
    TRY(scan_bind_integer(&scan, 1, campaign));
    TRY(scan_bind_integer(&scan, 2, (int64_t)number));
    return each_count(&scan, row, data);
}
