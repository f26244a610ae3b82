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
