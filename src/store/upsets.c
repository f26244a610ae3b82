// SPDX-License-Identifier: GPL-3.0-or-later
// The rows about faults that are drawn uniformly over a run, and about how soon programs crash.
#include "base/cleanup.h"
#include "store/internal.h"

#include <string.h>

struct error *store_add_upsets(struct store *store, struct store_upsets *row)
{
    return row_add(store, ADD_UPSETS, &table_upsets, row);
}

static struct error *each_upsets(struct store *store, int64_t campaign,
                                 struct error *(*row)(void *, const struct store_upsets *),
                                 void *data)
{
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, EACH_UPSETS, &scan));
    TRY(scan_bind_integer(&scan, 1, campaign));
    EACH_ROW(scan, table_upsets, store_upsets)
}

static struct error *copy(void *data, const struct store_upsets *row)
{
    *(struct store_upsets *)data = *row;
    return NULL;
}

struct error *store_find_upsets(struct store *store, int64_t campaign,
                                struct store_upsets *ret_upsets)
{
    struct store_upsets found = {0};
    TRY(each_upsets(store, campaign, copy, &found));
    *ret_upsets = found;
    return NULL;
}

struct error *store_add_latency(struct store *store, int64_t trial, double seconds)
{
    struct store_latency row = {.trial = trial, .seconds = seconds};
    return row_add(store, ADD_LATENCY, &table_latency, &row);
}

struct error *store_each_latency(struct store *store, int64_t campaign,
                                 struct error *(*row)(void *, const struct store_latency *),
                                 void *data)
{
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, EACH_LATENCY, &scan));
    TRY(scan_bind_integer(&scan, 1, campaign));
    EACH_ROW(scan, table_latency, store_latency)
}

struct error *store_count_weights(struct store *store, int64_t campaign,
                                  struct store_weights *ret_weights)
{
    _cleanup_(scan_end) struct scan scan = {0};
    struct store_weights weights = {0};
    TRY(scan_start(store, COUNT_WEIGHTS, &scan));
    TRY(scan_bind_integer(&scan, 1, campaign));
    for (;;) {
        const char *word;
        bool got;
        TRY(scan_step(&scan, &got));
        if (!got)
            break;
        TRY(scan_column_text(&scan, 0, &word));
        enum verdict verdict = word != NULL ? verdict_named(word, strlen(word)) : VERDICTS;
        if (verdict == VERDICTS)
            return error_new("%s: the file is damaged: a verdict that does not exist", store->path);
        weights.weights[verdict] = sqlite3_column_double(scan.statement, 1);
        weights.trials[verdict] = (uint64_t)sqlite3_column_int64(scan.statement, 2);
    }
    *ret_weights = weights;
    return NULL;
}
