// SPDX-License-Identifier: GPL-3.0-or-later
// Stores coverage, and suppresses findings: what is recorded besides verdicts.
#include "base/cleanup.h"
#include "store/internal.h"

static struct error *suppress(struct store *store, int64_t id, const char *suppressed)
{
    _cleanup_(scan_end) struct scan scan = {0};
    bool got;
    TRY(scan_start(store, SUPPRESS_FINDING, &scan));
    TRY(scan_bind_integer(&scan, 1, id));
    if (suppressed != NULL)
        TRY(scan_bind_text(&scan, 2, suppressed));
    TRY(scan_step(&scan, &got));
    return sqlite3_changes(store->database) != 0
               ? NULL
               : error_new("%s: there is no finding %ld", store->path, id);
}

struct error *store_suppress_finding(struct store *store, int64_t id, const char *suppressed)
{
    bool own;
    TRY(store_write_start(store, &own));
    return store_write_end(store, own, suppress(store, id, suppressed));
}

static struct error *delete_rows(struct store *store, enum query query, int64_t campaign)
{
    _cleanup_(scan_end) struct scan scan = {0};
    bool got;
    TRY(scan_start(store, query, &scan));
    TRY(scan_bind_integer(&scan, 1, campaign));
    return scan_step(&scan, &got);
}

struct error *store_delete_coverage(struct store *store, int64_t campaign, bool lines)
{
    bool own;
    TRY(store_write_start(store, &own));
    struct error *error = delete_rows(store, DELETE_RECOVERY, campaign);
    if (error == NULL && lines)
        error = delete_rows(store, DELETE_LINES, campaign);
    return store_write_end(store, own, error);
}

struct error *store_add_recovery(struct store *store, struct store_recovery *row)
{
    return row_add(store, ADD_RECOVERY, &table_recovery, row);
}

struct error *store_add_lines(struct store *store, struct store_lines *row)
{
    return row_add(store, ADD_LINES, &table_line_coverage, row);
}

struct error *store_each_recovery(struct store *store, int64_t campaign,
                                  struct error *(*row)(void *, const struct store_recovery *),
                                  void *data)
{
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, EACH_RECOVERY, &scan));
    TRY(scan_bind_integer(&scan, 1, campaign));
    EACH_ROW(scan, table_recovery, store_recovery)
}

struct error *store_each_lines(struct store *store, int64_t campaign,
                               struct error *(*row)(void *, const struct store_lines *), void *data)
{
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, EACH_LINES, &scan));
    TRY(scan_bind_integer(&scan, 1, campaign));
    EACH_ROW(scan, table_line_coverage, store_lines)
}
