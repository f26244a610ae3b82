// SPDX-License-Identifier: GPL-3.0-or-later
// The rows about the behaviour of trials.
#include "base/cleanup.h"
#include "store/internal.h"

struct error *store_add_invocation(struct store *store, struct store_invocation *row)
{
    return row_add(store, ADD_INVOCATION, &table_invocation, row);
}

struct error *store_each_invocation(struct store *store, int64_t trial,
                                    struct error *(*row)(void *, const struct store_invocation *),
                                    void *data)
{
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, EACH_INVOCATION, &scan));
    TRY(scan_bind_integer(&scan, 1, trial));
    EACH_ROW(scan, table_invocation, store_invocation)
}

struct error *store_count_invocations(struct store *store, int64_t campaign,
                                      struct store_invocation_counts *ret_counts)
{
    _cleanup_(scan_end) struct scan scan = {0};
    bool got;
    TRY(scan_start(store, COUNT_INVOCATIONS, &scan));
    TRY(scan_bind_integer(&scan, 1, campaign));
    TRY(scan_step(&scan, &got));
    struct store_invocation_counts counts = {0};
    uint64_t *const columns[] = {&counts.all, &counts.deviating, &counts.status, &counts.time,
                                 &counts.both};
    for (int i = 0; got && i < 5; i++)
        *columns[i] = (uint64_t)sqlite3_column_int64(scan.statement, i);
    *ret_counts = counts;
    return NULL;
}
