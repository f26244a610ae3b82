// SPDX-License-Identifier: GPL-3.0-or-later
// The rows about the behaviour of trials, and about what libraries gave their user.
#include "base/cleanup.h"
#include "store/internal.h"

#include <string.h>

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

struct error *store_add_propagation(struct store *store, struct store_propagation *row)
{
    return row_add(store, ADD_PROPAGATION, &table_propagation, row);
}

struct error *store_each_propagation(struct store *store, int64_t trial,
                                     struct error *(*row)(void *, const struct store_propagation *),
                                     void *data)
{
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, EACH_PROPAGATION, &scan));
    TRY(scan_bind_integer(&scan, 1, trial));
    EACH_ROW(scan, table_propagation, store_propagation)
}

static struct error *read_interface_trial(struct scan *scan, struct store_interface_trial *row)
{
    const char *verdict, *outcome, *result;
    TRY(scan_column_text(scan, 0, &verdict));
    TRY(scan_column_text(scan, 1, &row->type));
    TRY(scan_column_text(scan, 3, &outcome));
    TRY(scan_column_text(scan, 4, &result));
    TRY(scan_column_text(scan, 6, &row->profile));
    row->seconds = sqlite3_column_double(scan->statement, 2);
    row->verdict = verdict != NULL ? verdict_named(verdict, strlen(verdict)) : VERDICTS;
    row->known = outcome != NULL;
    row->corrupted = (uint64_t)sqlite3_column_int64(scan->statement, 5);
    row->outcome = row->known ? enum_value(&interface_names, outcome) : STORE_INTERFACE_SAME;
    row->result = enum_value(&result_names, result);
    if (row->verdict == VERDICTS || row->outcome >= STORE_INTERFACES ||
        row->result >= STORE_RESULTS)
        return error_new("the file is damaged: a word that does not exist");
    return NULL;
}

struct error *store_each_interface_trial(struct store *store, int64_t campaign,
                                         struct error *(*row)(void *,
                                                              const struct store_interface_trial *),
                                         void *data)
{
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, EACH_INTERFACE_TRIAL, &scan));
    TRY(scan_bind_integer(&scan, 1, campaign));
    for (;;) {
        struct store_interface_trial trial = {0};
        bool got;
        TRY(scan_step(&scan, &got));
        if (!got)
            return NULL;
        TRY(read_interface_trial(&scan, &trial));
        TRY(row(data, &trial));
    }
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
