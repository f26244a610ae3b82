// SPDX-License-Identifier: GPL-3.0-or-later
// See json.h.
#include "report/json.h"

#include "base/cleanup.h"
#include "report/text.h"

#include <stdarg.h>
#include <string.h>

static void add(struct json_maker *maker, json_t *parent, const char *key, json_t *value)
{
    int failed = json_is_array(parent) ? json_array_append_new(parent, value)
                                       : json_object_set_new(parent, key, value);
    maker->failed |= failed != 0;
}

json_t *json_add_object(struct json_maker *maker, json_t *parent, const char *key)
{
    json_t *value = json_object();
    add(maker, parent, key, value);
    return maker->failed ? NULL : value;
}

json_t *json_add_array(struct json_maker *maker, json_t *parent, const char *key)
{
    json_t *value = json_array();
    add(maker, parent, key, value);
    return maker->failed ? NULL : value;
}

void json_add_text(struct json_maker *maker, json_t *parent, const char *key, const char *bytes,
                   size_t size)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    _cleanup_error_ struct error *error = text_put_utf8(&text, bytes, size);
    if (error != NULL)
        maker->failed = true;
    else
        add(maker, parent, key, json_string(text.data));
}

void json_add_string(struct json_maker *maker, json_t *parent, const char *key, const char *text)
{
    json_add_text(maker, parent, key, text, SIZE_MAX);
}

void json_add_format(struct json_maker *maker, json_t *parent, const char *key, const char *format,
                     ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = NULL;
    int size = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (size < 0) {
        maker->failed = true;
        return;
    }
    json_add_string(maker, parent, key, text);
    free(text);
}

void json_add_integer(struct json_maker *maker, json_t *parent, const char *key, uint64_t value)
{
    add(maker, parent, key, json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value));
}

void json_add_signed(struct json_maker *maker, json_t *parent, const char *key, int64_t value)
{
    add(maker, parent, key, json_integer(value));
}

void json_add_real(struct json_maker *maker, json_t *parent, const char *key, double value)
{
    add(maker, parent, key, json_real(value));
}

void json_add_bool(struct json_maker *maker, json_t *parent, const char *key, bool value)
{
    add(maker, parent, key, json_boolean(value));
}

static struct error *dump(const struct json_maker *maker, const json_t *root, size_t flags,
                          struct buffer *ret_text)
{
    if (maker->failed || root == NULL)
        return error_no_memory();
    char *text = json_dumps(root, flags | JSON_ENSURE_ASCII);
    if (text == NULL)
        return error_no_memory();
    struct buffer buffer = {0};
    struct error *error = buffer_printf(&buffer, "%s\n", text);
    free(text);
    if (error != NULL)
        buffer_deinit(&buffer);
    else
        *ret_text = buffer;
    return error;
}

struct error *json_write(const struct json_maker *maker, const json_t *root,
                         struct buffer *ret_text)
{
    return dump(maker, root, JSON_INDENT(1), ret_text);
}

struct error *json_write_line(const struct json_maker *maker, const json_t *root,
                              struct buffer *ret_text)
{
    return dump(maker, root, JSON_COMPACT, ret_text);
}
