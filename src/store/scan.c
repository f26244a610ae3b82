// SPDX-License-Identifier: GPL-3.0-or-later
// Runs statements that stay prepared, binds their parameters and reads their columns.
#include "base/cleanup.h"
#include "store/internal.h"
#include "store/utf8.h"

#include <string.h>

struct error *scan_start(struct store *store, enum query query, struct scan *ret_scan)
{
    struct scan scan = {.store = store, .query = query, .statement = TAKE(store->idle[query])};
    if (scan.statement == NULL) {
        _cleanup_free_ char *sql = NULL;
        TRY(query_text(query, &sql));
        int code = sqlite3_prepare_v3(store->database, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                      &scan.statement, NULL);
        if (code != SQLITE_OK)
            return store_sqlite_error(store, code);
    }
    *ret_scan = scan;
    return NULL;
}

static void free_repaired(struct scan *scan)
{
    for (size_t i = 0; i < scan->repaired_count; i++)
        free(scan->repaired[i]);
    scan->repaired_count = 0;
}

void scan_end(struct scan *scan)
{
    free_repaired(scan);
    free(TAKE(scan->repaired));
    if (scan->statement == NULL)
        return;
    sqlite3_reset(scan->statement);
    sqlite3_clear_bindings(scan->statement);
    if (scan->store->idle[scan->query] == NULL)
        scan->store->idle[scan->query] = TAKE(scan->statement);
    else
        sqlite3_finalize(TAKE(scan->statement));
}

struct error *scan_bind_integer(struct scan *scan, int parameter, int64_t value)
{
    int code = sqlite3_bind_int64(scan->statement, parameter, value);
    return code == SQLITE_OK ? NULL : store_sqlite_error(scan->store, code);
}

struct error *scan_bind_text(struct scan *scan, int parameter, const char *text)
{
    size_t size = text != NULL ? strlen(text) : 0;
    int code;
    if (text == NULL) {
        code = sqlite3_bind_null(scan->statement, parameter);
    } else if (utf8_is_valid(text, size)) {
        code =
            sqlite3_bind_text64(scan->statement, parameter, text, size, SQLITE_STATIC, SQLITE_UTF8);
    } else {
        char *repaired = utf8_repair(text, size, &size);
        if (repaired == NULL)
            return error_no_memory();
        code = sqlite3_bind_text64(scan->statement, parameter, repaired, size, free, SQLITE_UTF8);
    }
    return code == SQLITE_OK ? NULL : store_sqlite_error(scan->store, code);
}

struct error *scan_step(struct scan *scan, bool *ret_got)
{
    free_repaired(scan);
    int code = sqlite3_step(scan->statement);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        return store_sqlite_error(scan->store, code);
    *ret_got = code == SQLITE_ROW;
    return NULL;
}

// A file of unknown origin may hold anything, and reports rely on UTF-8.
static struct error *repair(struct scan *scan, const char **text, size_t size)
{
    char **more = realloc(scan->repaired, (scan->repaired_count + 1) * sizeof *more);
    if (more == NULL)
        return error_no_memory();
    scan->repaired = more;
    char *repaired = utf8_repair(*text, size, &size);
    if (repaired == NULL)
        return error_no_memory();
    *text = scan->repaired[scan->repaired_count++] = repaired;
    return NULL;
}

struct error *scan_column_text(struct scan *scan, int column, const char **ret_text)
{
    const char *text = NULL;
    if (sqlite3_column_type(scan->statement, column) != SQLITE_NULL) {
        text = (const char *)sqlite3_column_text(scan->statement, column);
        if (text == NULL)
            return error_no_memory();
        size_t size = strlen(text); // a text with NULs ends at the first
        if (!utf8_is_valid(text, size))
            TRY(repair(scan, &text, size));
    }
    *ret_text = text;
    return NULL;
}
