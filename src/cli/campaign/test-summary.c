// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the end of a test's report: how many faults were tried in each stage, and what was not
// tried.
#include "cli/campaign/test-summary.h"

#include "base/cleanup.h"
#include "base/shell.h"

#include <stdlib.h>
#include <string.h>

#define STAGES 8

struct stage {
    char name[24];
    uint64_t count, tried, failed;
};

struct counting {
    struct stage stages[STAGES];
    size_t count;
    ARRAY(unsigned char) stage_of; // by number of the candidate, from 0
    uint64_t all, tried, failed;
    uint64_t tested;  // trials that hit their fault
    uint64_t taken;   // trials that found an address in use, without an injected failure
    uint64_t carried; // carried over from an earlier test, not tried
    int64_t first;    // row id of the first candidate
};

// Candidates are stored in the order of their stages.
static struct error *count_candidate(void *data, const struct store_candidate *row)
{
    struct counting *counting = data;
    const char *name = row->series != NULL ? row->series : "";
    size_t at = 0;
    while (at < counting->count && strcmp(counting->stages[at].name, name) != 0)
        at++;
    if (at == STAGES || strlen(name) >= sizeof counting->stages[0].name)
        return NULL;
    if (at == counting->count)
        memcpy(counting->stages[counting->count++].name, name, strlen(name) + 1);
    if (counting->stage_of.count == 0)
        counting->first = row->id;
    counting->stages[at].count += row->carried == NULL;
    counting->all += row->carried == NULL;
    counting->carried += row->carried != NULL;
    unsigned char *slot = ARRAY_ADD(&counting->stage_of);
    if (slot == NULL)
        return error_no_memory();
    *slot = (unsigned char)at;
    return NULL;
}

// Trials that run in parallel share the machine's ports, unless they are isolated from each other.
static bool found_address_taken(const struct store_trial *row)
{
    return row->output != NULL && strcasestr(row->output, "address already in use") != NULL &&
           strstr(row->spec, "EADDRINUSE") == NULL;
}

static struct error *count_trial(void *data, const struct store_trial *row)
{
    struct counting *counting = data;
    if (row->candidate < counting->first ||
        (uint64_t)(row->candidate - counting->first) >= counting->stage_of.count)
        return NULL;
    struct stage *stage =
        &counting->stages[counting->stage_of.items[row->candidate - counting->first]];
    stage->tried++;
    stage->failed += verdict_facts[row->verdict].failure;
    counting->failed += verdict_facts[row->verdict].failure;
    counting->tested += verdict_facts[row->verdict].counts;
    counting->taken += found_address_taken(row);
    counting->tried++;
    return NULL;
}

static struct error *put_rest(const struct counting *counting, const char *database,
                              struct buffer *text)
{
    const char *separator = "";
    TRY(buffer_printf(text, "\nLeft untried: %llu of %llu (",
                      (unsigned long long)(counting->all - counting->tried),
                      (unsigned long long)counting->all));
    for (size_t i = 0; i < counting->count; i++) {
        const struct stage *stage = &counting->stages[i];
        if (stage->count <= stage->tried)
            continue;
        TRY(buffer_printf(text, "%s%llu %s", separator,
                          (unsigned long long)(stage->count - stage->tried), stage->name));
        separator = ", ";
    }
    TRY(buffer_printf(text, "). To go on: ordeal test --resume --time-budget 10m"));
    if (database != NULL) {
        TRY(buffer_printf(text, " --db "));
        TRY(shell_put_word(text, database));
    }
    return buffer_printf(text, "\n");
}

// Trials that did not hit their fault have shown nothing.
static struct error *put_survival(const struct counting *counting, struct buffer *text)
{
    uint64_t missed = counting->tried - counting->tested;
    TRY(buffer_printf(text, "\nEvery failure that was %s was survived or reported",
                      missed == 0 ? "tried" : "hit"));
    if (missed != 0)
        TRY(buffer_printf(text, "; %llu of %llu trials tested nothing", (unsigned long long)missed,
                          (unsigned long long)counting->tried));
    return buffer_printf(text, ".\n");
}

static struct error *put_taken(const struct counting *counting, struct buffer *text)
{
    return buffer_printf(
        text,
        "\n%llu of %llu trials found an address in use already: trials that run at "
        "a time share the\nnetwork. --private-network gives each its own, --jobs 1 "
        "runs one after the other.\n",
        (unsigned long long)counting->taken, (unsigned long long)counting->tried);
}

static void counting_deinit(struct counting *counting)
{
    ARRAY_DEINIT(&counting->stage_of);
}

struct error *test_summary(struct store *store, const struct campaign_end *end,
                           const char *database, struct buffer *text)
{
    _cleanup_(counting_deinit) struct counting counting = {0};
    TRY(store_each_candidate(store, end->id, 0, 0, count_candidate, &counting));
    TRY(store_each_trial(store, end->id, false, count_trial, &counting));
    if (counting.all + counting.carried == 0)
        return NULL;
    TRY(buffer_printf(text, "\nFailures of calls, by what the caller does\n%-34s %9s %9s  %s\n",
                      "with the result", "chosen", "tried", "not survived"));
    for (size_t i = 0; i < counting.count; i++) {
        const struct stage *stage = &counting.stages[i];
        TRY(buffer_printf(text, "  %-32s %9llu %9llu %13llu\n", stage->name,
                          (unsigned long long)stage->count, (unsigned long long)stage->tried,
                          (unsigned long long)stage->failed));
    }
    if (counting.carried != 0)
        TRY(buffer_printf(text, "  %-32s %9llu\n", "(carried over)",
                          (unsigned long long)counting.carried));
    if (counting.tested != 0 && counting.failed == 0)
        TRY(put_survival(&counting, text));
    if (counting.taken != 0)
        TRY(put_taken(&counting, text));
    return counting.tried < counting.all ? put_rest(&counting, database, text) : NULL;
}
