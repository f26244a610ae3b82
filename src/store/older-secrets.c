// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the secrets in a file of an older version by the environments that it holds, and masks them
// everywhere.
#include "store/older-secrets.h"

#include "base/cleanup.h"
#include "base/secrets.h"
#include "store/definition-lines.h"
#include "store/internal.h"

#include <string.h>

#define ITEMS                                                                                      \
    " FROM main.campaign AS owner, json_each(CASE WHEN json_valid(owner.environment) THEN"         \
    " owner.environment ELSE '[]' END) AS item"
#define ITEM_NAME "substr(item.value, 1, instr(item.value || '=', '=') - 1)"

const char older_variables[] =
    "SELECT item.id AS id, owner.id AS campaign, " ITEM_NAME " AS name,"
    " CASE WHEN is_public(" ITEM_NAME ") THEN"
    " substr(item.value, instr(item.value || '=', '=') + 1) END AS value,"
    " NULL AS hash" ITEMS;

static size_t item_size(const char *item, size_t left)
{
    size_t size = 1;
    if (item[0] != '"')
        return strcspn(item, ",]") < left ? strcspn(item, ",]") : left;
    while (size < left && item[size] != '"')
        size += item[size] == '\\' ? 2 : 1;
    return size < left ? size + 1 : left;
}

// Writes an item of the environment: with its value if that may be stored, else its name alone.
static struct error *put_item(struct buffer *text, const char *item, size_t size)
{
    bool quoted = item[0] == '"';
    const char *name = item + quoted, *equals = memchr(item, '=', size);
    if (equals == NULL || variable_is_public(name, (size_t)(equals - name)))
        return buffer_append(text, item, size);
    TRY(buffer_append(text, item, (size_t)(equals - item)));
    return buffer_append(text, "\"", quoted);
}

// `line` is "environment: [ITEM, ITEM]". Another form, which Ordeal never wrote, is left out.
static struct error *put_environment(struct buffer *text, const char *line, size_t size)
{
    static const char start[] = "environment: [";
    size_t at = strlen(start);
    if (strncmp(line, start, at) != 0)
        return NULL;
    TRY(buffer_append(text, start, at));
    while (at < size && line[at] != ']' && line[at] != '\n') {
        size_t item = item_size(line + at, size - at);
        TRY(put_item(text, line + at, item));
        at += item;
        size_t space = at < size ? strspn(line + at, ", ") : 0;
        TRY(buffer_append(text, ", ", space != 0 ? 2 : 0));
        at += space;
        if (item == 0 && space == 0)
            break;
    }
    return buffer_append(text, "]\n", 2);
}

static struct error *put_definition(struct buffer *text, const char *definition)
{
    bool inside = false;
    for (const char *line = definition; *line != '\0'; line += definition_line_size(line)) {
        if (definition_begins_key(line))
            inside = definition_is_key(line, "environment");
        if (!inside)
            TRY(buffer_append(text, line, definition_line_size(line)));
        else if (definition_is_key(line, "environment"))
            TRY(put_environment(text, line, definition_line_size(line)));
    }
    return buffer_append(text, "", 0);
}

// Gives the buffer to SQLite, or the error.
static void set_result(sqlite3_context *context, struct error *error, struct buffer *made,
                       bool text)
{
    if (error != NULL)
        sqlite3_result_error_nomem(context);
    else if (text)
        sqlite3_result_text64(context, made->data, made->size, SQLITE_TRANSIENT, SQLITE_UTF8);
    else
        sqlite3_result_blob64(context, made->data != NULL ? made->data : "", made->size,
                              SQLITE_TRANSIENT);
    error_free(error);
}

static void kept_definition(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    _cleanup_(buffer_deinit) struct buffer made = {0};
    const char *definition = (const char *)sqlite3_value_text(arguments[0]);
    if (definition != NULL)
        set_result(context, put_definition(&made, definition), &made, true);
}

static void is_public(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    const char *name = (const char *)sqlite3_value_text(arguments[0]);
    sqlite3_result_int(context, name != NULL && variable_is_public(name, strlen(name)));
}

// Leaves everything but text and blobs as it is.
static void masked(sqlite3_context *context, int count, sqlite3_value **arguments)
{
    _cleanup_(buffer_deinit) struct buffer made = {0};
    int type = sqlite3_value_type(arguments[0]);
    if (type != SQLITE_TEXT && type != SQLITE_BLOB) {
        sqlite3_result_value(context, arguments[0]);
        return;
    }
    const char *bytes = type == SQLITE_TEXT ? (const char *)sqlite3_value_text(arguments[0])
                                            : sqlite3_value_blob(arguments[0]);
    size_t size = (size_t)sqlite3_value_bytes(arguments[0]);
    struct error *error = secrets_put(&made, bytes != NULL ? bytes : "", size);
    if (error == NULL)
        error = buffer_append(&made, "", 0);
    set_result(context, error, &made, type == SQLITE_TEXT);
}

struct error *older_secrets_prepare(struct store *store)
{
    static const struct {
        const char *name;
        void (*function)(sqlite3_context *, int, sqlite3_value **);
    } functions[] = {
        {"kept_definition", kept_definition}, {"is_public", is_public}, {"masked", masked}};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        int code = sqlite3_create_function(store->database, functions[i].name, 1,
                                           SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
                                           NULL, functions[i].function, NULL, NULL);
        if (code != SQLITE_OK)
            return store_sqlite_error(store, code);
    }
    return NULL;
}

// Learns a value also as a definition has it, in double quotes, and as commands have it, in single
// quotes. As it is comes last: it is the one that secrets_restore() uses.
static struct error *learn(const char *variable)
{
    _cleanup_(buffer_deinit) struct buffer yaml = {0}, shell = {0};
    for (const char *at = variable; *at != '\0'; at++) {
        TRY(buffer_append(&yaml, "\\", *at == '"' || *at == '\\'));
        TRY(buffer_append(&yaml, at, 1));
        TRY(*at == '\'' ? buffer_append(&shell, "'\\''", 4) : buffer_append(&shell, at, 1));
    }
    char *const variables[] = {yaml.data, shell.data, (char *)variable, NULL};
    return variable[0] != '\0' ? secrets_learn(variables, NULL, NULL) : NULL;
}

struct error *older_secrets_learn(struct store *store)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(store->database, "SELECT item.value" ITEMS, -1, &statement, NULL);
    struct error *error = NULL;
    while (error == NULL && code == SQLITE_OK && sqlite3_step(statement) == SQLITE_ROW) {
        const char *variable = (const char *)sqlite3_column_text(statement, 0);
        error = variable != NULL ? learn(variable) : NULL;
    }
    int end = sqlite3_finalize(statement);
    if (error == NULL && (code != SQLITE_OK || end != SQLITE_OK))
        error = store_sqlite_error(store, code != SQLITE_OK ? code : end);
    return error;
}

static struct error *mask_column(struct store *store, const char *table, const char *column)
{
    _cleanup_(buffer_deinit) struct buffer sql = {0};
    TRY(buffer_printf(&sql, "UPDATE %s SET %s = masked(%s) WHERE %s IS NOT masked(%s)", table,
                      column, column, column, column));
    return store_execute(store, sql.data);
}

struct error *older_secrets_remove(struct store *store)
{
    static const struct table *const tables[] = {
        &table_campaign, &table_artifact, &table_candidate,     &table_trial, &table_injection,
        &table_finding,  &table_recovery, &table_line_coverage, &table_remark};
    _cleanup_(buffer_deinit) struct buffer sql = {0};
    TRY(buffer_printf(&sql,
                      "INSERT INTO variable (campaign, name, value, hash)"
                      " SELECT campaign, name, value, hash FROM (%s) ORDER BY campaign, id",
                      older_variables));
    TRY(store_execute(store, sql.data));
    TRY(store_execute(store, "ALTER TABLE campaign DROP COLUMN environment"));
    if (!secrets_any())
        return NULL;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (int j = 0; j < tables[i]->count; j++) {
            enum column_kind kind = tables[i]->columns[j].kind;
            if (kind == KIND_TEXT || kind == KIND_OPTIONAL_TEXT || kind == KIND_BYTES)
                TRY(mask_column(store, tables[i]->name, tables[i]->columns[j].name));
        }
    return mask_column(store, "stack", "text");
}

struct error *older_secrets_wipe(struct store *store)
{
    TRY(store_execute(store, "VACUUM"));
    return store_gather(store);
}
