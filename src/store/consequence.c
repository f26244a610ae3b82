// SPDX-License-Identifier: GPL-3.0-or-later
// The rows that explain a finding.
#include "base/cleanup.h"
#include "store/internal.h"

struct error *store_add_consequence(struct store *store, struct store_consequence *row)
{
    return row_add(store, ADD_CONSEQUENCE, &table_consequence, row);
}

static struct error *delete_rows(struct store *store, int64_t finding)
{
    _cleanup_(scan_end) struct scan scan = {0};
    bool got;
    TRY(scan_start(store, DELETE_CONSEQUENCES, &scan));
    TRY(scan_bind_integer(&scan, 1, finding));
    return scan_step(&scan, &got);
}

struct error *store_delete_consequences(struct store *store, int64_t finding)
{
    bool own;
    TRY(store_write_start(store, &own));
    return store_write_end(store, own, delete_rows(store, finding));
}

struct error *store_each_consequence(struct store *store, int64_t finding,
                                     struct error *(*row)(void *, const struct store_consequence *),
                                     void *data)
{
    _cleanup_(scan_end) struct scan scan = {0};
    TRY(scan_start(store, EACH_CONSEQUENCE, &scan));
    TRY(scan_bind_integer(&scan, 1, finding));
    EACH_ROW(scan, table_consequence, store_consequence)
}
