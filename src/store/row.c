// SPDX-License-Identifier: GPL-3.0-or-later
// Converts structs to rows and back, as the column tables say.
#include "base/cleanup.h"
#include "base/hash.h"
#include "store/internal.h"

#include <string.h>

// Stacks are looked up by hash: an index over the texts would store all of them twice. If the hash
// function ever changes, old stacks are merely kept twice.
static struct error *intern_stack(struct store *store, const char *text, int64_t *ret_id)
{
    int64_t hash = (int64_t)hash_text(text);
    _cleanup_(scan_end) struct scan find = {0};
    TRY(scan_start(store, FIND_STACK, &find));
    TRY(scan_bind_integer(&find, 1, hash));
    TRY(scan_bind_text(&find, 2, text));
    bool got;
    TRY(scan_step(&find, &got));
    if (got) {
        *ret_id = sqlite3_column_int64(find.statement, 0);
        return NULL;
    }
    _cleanup_(scan_end) struct scan add = {0};
    TRY(scan_start(store, ADD_STACK, &add));
    TRY(scan_bind_integer(&add, 1, hash));
    TRY(scan_bind_text(&add, 2, text));
    TRY(scan_step(&add, &got));
    *ret_id = sqlite3_last_insert_rowid(store->database);
    return NULL;
}

static struct error *bind_stack(struct scan *scan, int parameter, const char *text)
{
    int64_t id;
    if (text == NULL)
        return scan_bind_text(scan, parameter, NULL);
    TRY(intern_stack(scan->store, text, &id));
    return scan_bind_integer(scan, parameter, id);
}

static struct error *bind_optional(struct scan *scan, int parameter, int64_t value)
{
    return value == 0 ? scan_bind_text(scan, parameter, NULL)
                      : scan_bind_integer(scan, parameter, value);
}

static struct error *bind_code(struct scan *scan, int code)
{
    return code == SQLITE_OK ? NULL : store_sqlite_error(scan->store, code);
}

static struct error *bind_bytes(struct scan *scan, int parameter, const char *member)
{
    const void *bytes = *(const void *const *)member;
    return scan_bind_bytes(scan, parameter, bytes, *(const size_t *)(member + sizeof bytes));
}

// An invalid value becomes NULL, which the column's NOT NULL refuses.
static struct error *bind_verdict(struct scan *scan, int parameter, unsigned value)
{
    return scan_bind_text(scan, parameter, value < VERDICTS ? verdict_facts[value].name : NULL);
}

static struct error *bind_enum(struct scan *scan, int parameter, const struct enum_names *names,
                               unsigned value)
{
    if (value >= names->count)
        return error_new("there is no %s %u", names->what, value);
    return scan_bind_text(scan, parameter, enum_name(names, value));
}

static struct error *bind_member(struct scan *scan, int parameter, const struct column *column,
                                 const char *member)
{
    switch (column->kind) {
    case KIND_INTEGER:
    case KIND_COUNT:
        return scan_bind_integer(scan, parameter, *(const int64_t *)member);
    case KIND_ID:
    case KIND_KEY:
    case KIND_OPTIONAL_COUNT:
        return bind_optional(scan, parameter, *(const int64_t *)member);
    case KIND_NUMBER:
        return scan_bind_integer(scan, parameter, *(const uint32_t *)member);
    case KIND_OPTIONAL_NUMBER:
        return bind_optional(scan, parameter, *(const unsigned *)member);
    case KIND_MODE:
        return *(const unsigned *)member == ARTIFACT_NO_MODE
                   ? scan_bind_text(scan, parameter, NULL)
                   : scan_bind_integer(scan, parameter, *(const unsigned *)member);
    case KIND_INT:
    case KIND_CONFIRMED:
        return scan_bind_integer(scan, parameter, *(const int *)member);
    case KIND_FLAG:
        return scan_bind_integer(scan, parameter, *(const bool *)member);
    case KIND_REAL:
        return bind_code(scan,
                         sqlite3_bind_double(scan->statement, parameter, *(const double *)member));
    case KIND_TEXT:
    case KIND_OPTIONAL_TEXT:
        return scan_bind_text(scan, parameter, *(const char *const *)member);
    case KIND_STACK:
        return bind_stack(scan, parameter, *(const char *const *)member);
    case KIND_BYTES:
        return bind_bytes(scan, parameter, member);
    case KIND_VERDICT:
        return bind_verdict(scan, parameter, *(const unsigned *)member);
    case KIND_ENUM:
        return bind_enum(scan, parameter, column->names, *(const unsigned *)member);
    }
    return NULL;
}

struct error *row_bind(struct scan *scan, const struct table *table, const void *row)
{
    for (int i = 0; i < table->count; i++)
        TRY(bind_member(scan, i + 1, &table->columns[i],
                        (const char *)row + table->columns[i].offset));
    return NULL;
}

static struct error *damaged(struct scan *scan, const char *what)
{
    return error_new("%s: the file is damaged: a %s that does not exist", scan->store->path, what);
}

static struct error *read_verdict(struct scan *scan, int column, unsigned *ret_value)
{
    const char *word;
    TRY(scan_column_text(scan, column, &word));
    word = word != NULL ? word : "";
    unsigned value = verdict_named(word, strlen(word));
    if (value == VERDICTS)
        return damaged(scan, "verdict");
    *ret_value = value;
    return NULL;
}

static struct error *read_enum(struct scan *scan, int column, const struct enum_names *names,
                               unsigned *ret_value)
{
    const char *word;
    TRY(scan_column_text(scan, column, &word));
    unsigned value = enum_value(names, word);
    if (value == names->count)
        return damaged(scan, names->what);
    *ret_value = value;
    return NULL;
}

static struct error *read_text(struct scan *scan, int column, bool needed, const char **ret_text)
{
    TRY(scan_column_text(scan, column, ret_text));
    if (needed && *ret_text == NULL)
        *ret_text = "";
    return NULL;
}

static struct error *read_bytes(struct scan *scan, int column, char *member)
{
    return scan_column_bytes(scan, column, (const void **)member,
                             (size_t *)(member + sizeof(void *)));
}

static struct error *read_member(struct scan *scan, int column, const struct column *what,
                                 char *member)
{
    sqlite3_stmt *statement = scan->statement;
    switch (what->kind) {
    case KIND_ID:
    case KIND_INTEGER:
    case KIND_KEY:
    case KIND_COUNT:
    case KIND_OPTIONAL_COUNT:
        *(int64_t *)member = sqlite3_column_int64(statement, column);
        return NULL;
    case KIND_NUMBER:
    case KIND_OPTIONAL_NUMBER:
        *(uint32_t *)member = (uint32_t)sqlite3_column_int64(statement, column);
        return NULL;
    case KIND_MODE:
        *(unsigned *)member = sqlite3_column_type(statement, column) == SQLITE_NULL
                                  ? ARTIFACT_NO_MODE
                                  : (unsigned)sqlite3_column_int64(statement, column);
        return NULL;
    case KIND_INT:
        *(int *)member = (int)sqlite3_column_int64(statement, column);
        return NULL;
    case KIND_FLAG:
        *(bool *)member = sqlite3_column_int64(statement, column) != 0;
        return NULL;
    case KIND_REAL:
        *(double *)member = sqlite3_column_double(statement, column);
        return NULL;
    case KIND_TEXT:
    case KIND_OPTIONAL_TEXT:
    case KIND_STACK:
        return read_text(scan, column, what->kind == KIND_TEXT, (const char **)member);
    case KIND_BYTES:
        return read_bytes(scan, column, member);
    case KIND_VERDICT:
        return read_verdict(scan, column, (unsigned *)member);
    case KIND_ENUM:
        return read_enum(scan, column, what->names, (unsigned *)member);
    case KIND_CONFIRMED:
        *(int *)member = (int)sqlite3_column_int64(statement, column);
        return *(unsigned *)member <= STORE_FLAKY ? NULL : damaged(scan, "confirmation");
    }
    return NULL;
}

struct error *row_read(struct scan *scan, const struct table *table, void *row)
{
    for (int i = 0; i < table->count; i++)
        TRY(read_member(scan, i, &table->columns[i], (char *)row + table->columns[i].offset));
    return NULL;
}

static struct error *add(struct store *store, enum query query, const struct table *table,
                         void *row)
{
    _cleanup_(scan_end) struct scan scan = {0};
    bool got;
    TRY(scan_start(store, query, &scan));
    TRY(row_bind(&scan, table, row));
    TRY(scan_step(&scan, &got));
    if (table->columns[0].kind == KIND_ID)
        *(int64_t *)((char *)row + table->columns[0].offset) =
            sqlite3_last_insert_rowid(store->database);
    return NULL;
}

struct error *row_add(struct store *store, enum query query, const struct table *table, void *row)
{
    bool own;
    TRY(store_write_start(store, &own));
    return store_write_end(store, own, add(store, query, table, row));
}

static bool is_text(const struct column *column)
{
    return column->kind == KIND_TEXT || column->kind == KIND_OPTIONAL_TEXT ||
           column->kind == KIND_STACK;
}

static char **text_of(const struct column *column, void *row)
{
    return (char **)((char *)row + column->offset);
}

struct error *row_copy_texts(const struct table *table, void *row)
{
    bool failed = false;
    for (int i = 0; i < table->count; i++) {
        if (!is_text(&table->columns[i]))
            continue;
        char **text = text_of(&table->columns[i], row), *borrowed = *text;
        *text = borrowed != NULL && !failed ? strdup(borrowed) : NULL;
        failed = failed || (borrowed != NULL && *text == NULL);
    }
    if (failed)
        row_free_texts(table, row);
    return failed ? error_no_memory() : NULL;
}

void row_free_texts(const struct table *table, void *row)
{
    for (int i = 0; i < table->count; i++)
        if (is_text(&table->columns[i]))
            free(TAKE(*text_of(&table->columns[i], row)));
}
