// SPDX-License-Identifier: GPL-3.0-or-later
// Runs statements that stay prepared, binds their parameters and reads their columns.
#include "base/cleanup.h"
#include "base/secrets.h"
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

// Everything that is stored as text or bytes comes through these two: no secret gets past them.
struct error *scan_bind_bytes(struct scan *scan, int parameter, const void *bytes, size_t size)
{
    _cleanup_(buffer_deinit) struct buffer masked = {0};
    int code;
    if (bytes == NULL) {
        code = sqlite3_bind_null(scan->statement, parameter);
    } else if (!secrets_any()) {
        code = sqlite3_bind_blob64(scan->statement, parameter, bytes, size, SQLITE_STATIC);
    } else {
        TRY(secrets_put(&masked, bytes, size));
        code =
            sqlite3_bind_blob64(scan->statement, parameter, masked.data != NULL ? masked.data : "",
                                masked.size, SQLITE_TRANSIENT);
    }
    return code == SQLITE_OK ? NULL : store_sqlite_error(scan->store, code);
}

static struct error *bind_masked(struct scan *scan, int parameter, const char *text)
{
    _cleanup_(buffer_deinit) struct buffer masked = {0};
    TRY(secrets_put(&masked, text, strlen(text)));
    TRY(buffer_append(&masked, "", 0));
    _cleanup_free_ char *repaired = NULL;
    size_t size = masked.size;
    if (!utf8_is_valid(masked.data, size) &&
        (repaired = utf8_repair(masked.data, size, &size)) == NULL)
        return error_no_memory();
    int code =
        sqlite3_bind_text64(scan->statement, parameter, repaired != NULL ? repaired : masked.data,
                            size, SQLITE_TRANSIENT, SQLITE_UTF8);
    return code == SQLITE_OK ? NULL : store_sqlite_error(scan->store, code);
}

struct error *scan_bind_text(struct scan *scan, int parameter, const char *text)
{
    size_t size = text != NULL ? strlen(text) : 0;
    int code;
    if (text != NULL && secrets_any())
        return bind_masked(scan, parameter, text);
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

// Keeps a converted value as long as the row. Takes it over.
static struct error *keep_converted(struct scan *scan, char *converted)
{
    char **more = converted != NULL
                      ? realloc(scan->repaired, (scan->repaired_count + 1) * sizeof *more)
                      : NULL;
    if (more == NULL) {
        free(converted);
        return error_no_memory();
    }
    scan->repaired = more;
    scan->repaired[scan->repaired_count++] = converted;
    return NULL;
}

// A file of unknown origin may hold anything, and reports rely on UTF-8.
static struct error *repair(struct scan *scan, const char **text, size_t size)
{
    char *repaired = utf8_repair(*text, size, &size);
    TRY(keep_converted(scan, repaired));
    *text = repaired;
    return NULL;
}

// Also for a file of an older version that may not be changed: what it shows is masked.
static struct error *mask(struct scan *scan, const char **bytes, size_t *size)
{
    _cleanup_(buffer_deinit) struct buffer masked = {0};
    TRY(secrets_put(&masked, *bytes, *size));
    TRY(buffer_append(&masked, "", 0));
    *size = masked.size;
    *bytes = masked.data;
    return keep_converted(scan, TAKE(masked.data));
}

struct error *scan_column_bytes(struct scan *scan, int column, const void **ret_bytes,
                                size_t *ret_size)
{
    const char *bytes = sqlite3_column_blob(scan->statement, column);
    size_t size = bytes != NULL ? (size_t)sqlite3_column_bytes(scan->statement, column) : 0;
    if (bytes != NULL && scan->store->masks)
        TRY(mask(scan, &bytes, &size));
    *ret_bytes = bytes;
    *ret_size = size;
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
        if (scan->store->masks)
            TRY(mask(scan, &text, &size));
        if (!utf8_is_valid(text, size))
            TRY(repair(scan, &text, size));
    }
    *ret_text = text;
    return NULL;
}
