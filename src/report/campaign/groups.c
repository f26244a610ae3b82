// SPDX-License-Identifier: GPL-3.0-or-later
// Groups trials: does one fault type, function or file fail more often than the rest?
#include "report/campaign/facts.h"
#include "report/campaign/upsets.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

const char *const report_groupings[] = {"type",      "function",    "module",  "file",
                                        "component", "instruction", "program", NULL};

bool campaign_grouping_fits(const struct campaign_facts *facts, const char *by)
{
    return strcmp(by, "instruction") != 0 || upsets_are_of(facts);
}

static struct error *add_group(void *data, const struct store_count *row)
{
    struct campaign_grouping *grouping = data;
    struct campaign_group *group = ARRAY_ADD(&grouping->groups);
    if (group == NULL)
        return error_no_memory();
    memcpy(group->counts.verdicts, row->verdicts, sizeof group->counts.verdicts);
    group->unnamed = row->group == NULL || *row->group == '\0';
    group->name = strdup(group->unnamed ? "(not known)" : row->group);
    return group->name == NULL ? error_no_memory() : NULL;
}

static int most_failures_first(const void *left, const void *right)
{
    const struct campaign_group *a = left, *b = right;
    if (a->failures.hits != b->failures.hits)
        return a->failures.hits > b->failures.hits ? -1 : 1;
    if (a->failures.n != b->failures.n)
        return a->failures.n > b->failures.n ? -1 : 1;
    return strcmp(a->name, b->name);
}

// One test over all groups takes time that grows with their number. With more groups than this, its
// result helps nobody.
#define MOST_TESTED 1000

static struct error *test_all(struct campaign_grouping *grouping)
{
    size_t count = grouping->groups.count;
    grouping->test = (struct stats_test){.method = STATS_NOTHING, .p = 1};
    if (count < 2 || count > MOST_TESTED)
        return NULL;
    _cleanup_free_ uint64_t(*rows)[2] = calloc(count, sizeof *rows);
    if (rows == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++) {
        const struct campaign_share *share = &grouping->groups.items[i].failures;
        rows[i][0] = share->hits;
        rows[i][1] = share->n - share->hits;
    }
    return stats_independence((const uint64_t(*)[2])rows, count, &grouping->test);
}

static struct error *test_against_rest(struct campaign_group *group, uint64_t hits, uint64_t n)
{
    const struct campaign_share *share = &group->failures;
    const uint64_t rows[2][2] = {
        {share->hits, share->n - share->hits},
        {hits - share->hits, n - hits - (share->n - share->hits)},
    };
    return stats_independence(rows, 2, &group->test);
}

struct error *campaign_grouping_judge(const struct campaign_facts *facts,
                                      struct campaign_grouping *grouping)
{
    uint64_t hits = 0, n = 0;
    size_t count = grouping->groups.count;
    for (size_t i = 0; i < count; i++) {
        struct campaign_group *group = &grouping->groups.items[i];
        group->failures = campaign_share(campaign_failures(&group->counts),
                                         campaign_counted(&group->counts), facts->confidence);
        hits += group->failures.hits;
        n += group->failures.n;
    }
    if (count != 0)
        qsort(grouping->groups.items, count, sizeof *grouping->groups.items, most_failures_first);
    for (size_t i = 0; i < count; i++)
        TRY(test_against_rest(&grouping->groups.items[i], hits, n));
    return test_all(grouping);
}

struct error *campaign_grouping_load(const struct campaign_facts *facts, const char *by,
                                     struct campaign_grouping *ret_grouping)
{
    struct campaign_grouping grouping = {.by = by};
    struct error *error =
        store_each_count(facts->store, facts->campaign.id, by, add_group, &grouping);
    if (error == NULL)
        error = campaign_grouping_judge(facts, &grouping);
    if (error != NULL)
        campaign_grouping_deinit(&grouping);
    else
        *ret_grouping = grouping;
    return error;
}

void campaign_grouping_deinit(struct campaign_grouping *grouping)
{
    for (size_t i = 0; i < grouping->groups.count; i++)
        free(grouping->groups.items[i].name);
    ARRAY_DEINIT(&grouping->groups);
}
