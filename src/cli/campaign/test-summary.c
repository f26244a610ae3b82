// SPDX-License-Identifier: GPL-3.0-or-later
// Writes the end of a test's report: how many faults were tried in each stage, and what was not
// tried.
#include "cli/campaign/test-summary.h"

#include "base/cleanup.h"
#include "base/shell.h"
#include "injector/injector.h"
#include "store/spec.h"

#include <stdlib.h>
#include <string.h>

#define STAGES 8

struct stage {
    char name[24];
    uint64_t count, tried, failed;
};

struct test_counts {
    struct stage stages[STAGES];
    size_t count;
    ARRAY(unsigned char) stage_of; // by number of the candidate, from 0
    uint64_t all, tried, failed;
    uint64_t tested;         // trials that hit their fault
    uint64_t address_in_use; // trials that found an address in use, without an injected failure
    uint64_t carried;        // carried over from an earlier test, not tried
    uint64_t carried_failed; // of those
    int64_t first;           // row id of the first candidate
    const struct injector_stored *injector; // or NULL
};

// Candidates are stored in the order of their stages.
static struct error *count_candidate(void *data, const struct store_candidate *row)
{
    struct test_counts *counts = data;
    const char *name = row->series != NULL ? row->series : "";
    size_t at = 0;
    while (at < counts->count && strcmp(counts->stages[at].name, name) != 0)
        at++;
    if (at == STAGES || strlen(name) >= sizeof counts->stages[0].name)
        return NULL;
    if (at == counts->count)
        memcpy(counts->stages[counts->count++].name, name, strlen(name) + 1);
    if (counts->stage_of.count == 0)
        counts->first = row->id;
    counts->stages[at].count += row->carried == NULL && row->selected;
    counts->all += row->carried == NULL && row->selected;
    counts->carried += row->carried != NULL;
    enum verdict carried =
        row->carried != NULL ? verdict_named(row->carried, strlen(row->carried)) : VERDICTS;
    counts->carried_failed += carried < VERDICTS && verdict_facts[carried].failure;
    unsigned char *slot = ARRAY_ADD(&counts->stage_of);
    if (slot == NULL)
        return error_no_memory();
    *slot = (unsigned char)at;
    return NULL;
}

// Trials that run in parallel share the machine's ports, unless they are isolated from each other.
static bool found_address_in_use(const struct injector_stored *injector,
                                 const struct store_trial *row)
{
    if (row->output == NULL || strcasestr(row->output, "address already in use") == NULL)
        return false;
    size_t size;
    const char *part;
    for (size_t i = 0; (part = spec_part(row->spec, i, &size)) != NULL; i++) {
        char function[128], error[32] = "";
        if (injector != NULL && injector->split != NULL)
            injector->split(part, function, error);
        if (strcmp(error, "EADDRINUSE") == 0)
            return false;
    }
    return true;
}

static struct error *count_trial(void *data, const struct store_trial *row)
{
    struct test_counts *counts = data;
    if (row->candidate < counts->first ||
        (uint64_t)(row->candidate - counts->first) >= counts->stage_of.count)
        return NULL;
    struct stage *stage = &counts->stages[counts->stage_of.items[row->candidate - counts->first]];
    stage->tried++;
    stage->failed += verdict_facts[row->verdict].failure;
    counts->failed += verdict_facts[row->verdict].failure;
    counts->tested += verdict_facts[row->verdict].counts;
    counts->address_in_use += found_address_in_use(counts->injector, row);
    counts->tried++;
    return NULL;
}

static struct error *put_rest(const struct test_counts *counts, const char *database,
                              struct buffer *text)
{
    const char *separator = "";
    TRY(buffer_printf(text, "\nLeft untried: %llu of %llu (",
                      (unsigned long long)(counts->all - counts->tried),
                      (unsigned long long)counts->all));
    for (size_t i = 0; i < counts->count; i++) {
        const struct stage *stage = &counts->stages[i];
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
static struct error *put_survival(const struct test_counts *counts, struct buffer *text)
{
    uint64_t missed = counts->tried - counts->tested;
    TRY(buffer_printf(text, "\nEvery failure that was %s was survived or reported",
                      missed == 0 ? "tried" : "hit"));
    if (missed != 0)
        TRY(buffer_printf(text, "; %llu of %llu trials tested nothing", (unsigned long long)missed,
                          (unsigned long long)counts->tried));
    return buffer_printf(text, ".\n");
}

static struct error *put_address_in_use(const struct test_counts *counts, struct buffer *text)
{
    return buffer_printf(
        text,
        "\n%llu of %llu trials found an address in use already: trials that run at "
        "a time share the\nnetwork. --private-network gives each its own, --jobs 1 "
        "runs one after the other.\n",
        (unsigned long long)counts->address_in_use, (unsigned long long)counts->tried);
}

static void test_counts_deinit(struct test_counts *counts)
{
    ARRAY_DEINIT(&counts->stage_of);
}

static struct error *put_stages(const struct test_counts *counts, struct buffer *text)
{
    TRY(buffer_printf(text, "\nFailures of calls, by what the caller does\n%-34s %9s %9s  %s\n",
                      "with the result", "chosen", "tried", "not survived"));
    for (size_t i = 0; i < counts->count; i++) {
        const struct stage *stage = &counts->stages[i];
        TRY(buffer_printf(text, "  %-32s %9llu %9llu %13llu\n", stage->name,
                          (unsigned long long)stage->count, (unsigned long long)stage->tried,
                          (unsigned long long)stage->failed));
    }
    if (counts->carried == 0)
        return NULL;
    return buffer_printf(text, "  %-32s %9llu %9s %13llu\n", "(carried over)",
                         (unsigned long long)counts->carried, "",
                         (unsigned long long)counts->carried_failed);
}

struct error *test_summary(struct store *store, const struct campaign_end *end,
                           const char *database, bool verbose, struct buffer *text)
{
    _cleanup_(store_campaign_deinit) struct store_campaign campaign = {0};
    TRY(store_find_campaign(store, end->id, &campaign));
    _cleanup_(test_counts_deinit) struct test_counts counts = {
        .injector = injector_stored(campaign.injector)};
    TRY(store_each_candidate(store, end->id, 0, 0, count_candidate, &counts));
    TRY(store_each_trial(store, end->id, false, count_trial, &counts));
    if (counts.all + counts.carried == 0)
        return NULL;
    if (verbose)
        TRY(put_stages(&counts, text));
    if (counts.tested != 0 && counts.failed + counts.carried_failed == 0)
        TRY(put_survival(&counts, text));
    if (counts.address_in_use != 0)
        TRY(put_address_in_use(&counts, text));
    return counts.tried < counts.all ? put_rest(&counts, database, text) : NULL;
}
