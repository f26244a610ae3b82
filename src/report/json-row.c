// SPDX-License-Identifier: GPL-3.0-or-later
// Texts that need no escapes are copied; jansson writes the others.
#include "report/json-row.h"

#include "base/cleanup.h"
#include "report/json.h"
#include "report/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put(struct json_row *row, const char *bytes, size_t size)
{
    if (row->error == NULL)
        row->error = buffer_append(row->text, bytes, size);
}

static void put_key(struct json_row *row, const char *key)
{
    put(row, row->filled ? ",\"" : "\"", row->filled ? 2 : 1);
    put(row, key, strlen(key));
    put(row, "\":", 2);
    row->filled = true;
}

static bool is_plain(const char *text)
{
    for (; *text != '\0'; text++)
        if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\')
            return false;
    return true;
}

static struct error *put_escaped(struct buffer *text, const char *value)
{
    _cleanup_(buffer_deinit) struct buffer valid = {0};
    TRY(text_put_utf8(&valid, value, SIZE_MAX));
    _cleanup_(json_release) json_t *string = json_string(valid.data);
    char *dumped = string != NULL ? json_dumps(string, JSON_ENSURE_ASCII | JSON_ENCODE_ANY) : NULL;
    struct error *error =
        dumped != NULL ? buffer_append(text, dumped, strlen(dumped)) : error_no_memory();
    free(dumped);
    return error;
}

static void put_text(struct json_row *row, const char *text)
{
    if (is_plain(text)) {
        put(row, "\"", 1);
        put(row, text, strlen(text));
        put(row, "\"", 1);
    } else if (row->error == NULL) {
        row->error = put_escaped(row->text, text);
    }
}

struct json_row json_row_begin(struct buffer *text)
{
    struct json_row row = {.text = text};
    put(&row, "{", 1);
    return row;
}

void json_row_string(struct json_row *row, const char *key, const char *text)
{
    put_key(row, key);
    put_text(row, text);
}

void json_row_integer(struct json_row *row, const char *key, uint64_t value)
{
    char digits[24], *at = digits + sizeof digits;
    value = value > INT64_MAX ? INT64_MAX : value; // what jansson can read again
    do
        *--at = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    put_key(row, key);
    put(row, at, (size_t)(digits + sizeof digits - at));
}

void json_row_bool(struct json_row *row, const char *key, bool value)
{
    put_key(row, key);
    put(row, value ? "true" : "false", value ? 4 : 5);
}

void json_row_strings(struct json_row *row, const char *key, const char *const *texts, size_t count)
{
    put_key(row, key);
    put(row, "[", 1);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            put(row, ",", 1);
        put_text(row, texts[i]);
    }
    put(row, "]", 1);
}

struct error *json_row_end(struct json_row *row)
{
    put(row, "}\n", 2);
    struct error *error = row->error;
    row->error = NULL;
    return error;
}
