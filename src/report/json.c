// SPDX-License-Identifier: GPL-3.0-or-later
// Builds JSON values with jansson and writes them as text. Each call that fails for lack of memory
// sets `failed`, which is checked once, when the text is written.
#include "report/json.h"

#include "base/cleanup.h"
#include "report/text.h"

#include <stdarg.h>
#include <string.h>

static void add(struct json_builder *builder, json_t *parent, const char *key, json_t *value)
{
    int failed = json_is_array(parent) ? json_array_append_new(parent, value)
                                       : json_object_set_new(parent, key, value);
    builder->failed |= failed != 0;
}

json_t *json_add_object(struct json_builder *builder, json_t *parent, const char *key)
{
    json_t *value = json_object();
    add(builder, parent, key, value);
    return builder->failed ? NULL : value;
}

json_t *json_add_array(struct json_builder *builder, json_t *parent, const char *key)
{
    json_t *value = json_array();
    add(builder, parent, key, value);
    return builder->failed ? NULL : value;
}

void json_add_text(struct json_builder *builder, json_t *parent, const char *key, const char *bytes,
                   size_t size)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_error_ struct error *error = text_put_utf8(&text, bytes, size);
    if (error != NULL)
        builder->failed = true;
    else
        add(builder, parent, key, json_string(text.data));
}

void json_add_string(struct json_builder *builder, json_t *parent, const char *key,
                     const char *text)
{
    json_add_text(builder, parent, key, text, SIZE_MAX);
}

void json_add_format(struct json_builder *builder, json_t *parent, const char *key,
                     const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = NULL;
    int size = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (size < 0) {
        builder->failed = true;
        return;
    }
    json_add_string(builder, parent, key, text);
    free(text);
}

void json_add_integer(struct json_builder *builder, json_t *parent, const char *key, uint64_t value)
{
    add(builder, parent, key, json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value));
}

void json_add_signed(struct json_builder *builder, json_t *parent, const char *key, int64_t value)
{
    add(builder, parent, key, json_integer(value));
}

void json_add_real(struct json_builder *builder, json_t *parent, const char *key, double value)
{
    add(builder, parent, key, json_real(value));
}

void json_add_bool(struct json_builder *builder, json_t *parent, const char *key, bool value)
{
    add(builder, parent, key, json_boolean(value));
}

struct dumped {
    struct buffer text;
    struct error *error;
};

static int add_dumped(const char *bytes, size_t size, void *data)
{
    struct dumped *dumped = data;
    if (dumped->error == NULL)
        dumped->error = buffer_append(&dumped->text, bytes, size);
    return dumped->error == NULL ? 0 : -1;
}

// Dumps into a buffer of our own: json_dumps() does not report that memory ran out for a key.
static struct error *dump(const struct json_builder *builder, const json_t *root, size_t flags,
                          struct buffer *ret_text)
{
    if (builder->failed || root == NULL)
        return error_no_memory();
    struct dumped dumped = {0};
    int failed = json_dump_callback(root, add_dumped, &dumped, flags | JSON_ENSURE_ASCII);
    if (failed == 0 && dumped.error == NULL)
        dumped.error = buffer_append(&dumped.text, "\n", 1);
    if (failed != 0 || dumped.error != NULL) {
        buffer_deinit(&dumped.text);
        return dumped.error != NULL ? dumped.error : error_no_memory();
    }
    *ret_text = dumped.text;
    return NULL;
}

struct error *json_write(const struct json_builder *builder, const json_t *root,
                         struct buffer *ret_text)
{
    return dump(builder, root, JSON_INDENT(1), ret_text);
}

struct error *json_write_line(const struct json_builder *builder, const json_t *root,
                              struct buffer *ret_text)
{
    return dump(builder, root, JSON_COMPACT, ret_text);
}
