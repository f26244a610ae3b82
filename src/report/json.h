// SPDX-License-Identifier: GPL-3.0-or-later
// A thin layer over jansson. Each value is added with one call. A lack of memory is recorded in
// `failed`; json_write() and json_write_line() return it as an error, so callers need not check
// every call.
#ifndef ORDEAL_REPORT_JSON_H
#define ORDEAL_REPORT_JSON_H

#include "base/array.h"
#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_builder {
    bool failed;
};

// Adds an empty object or array to `parent` (under `key` if the parent is an object). The result
// belongs to the parent; it is NULL once something has failed.
json_t *json_add_object(struct json_builder *builder, json_t *parent, const char *key);
json_t *json_add_array(struct json_builder *builder, json_t *parent, const char *key);
// At most `size` bytes, up to a NUL. Bytes that are not UTF-8 become U+FFFD.
void json_add_text(struct json_builder *builder, json_t *parent, const char *key, const char *bytes,
                   size_t size);
void json_add_string(struct json_builder *builder, json_t *parent, const char *key,
                     const char *text);
__attribute__((format(printf, 4, 5))) void json_add_format(struct json_builder *builder,
                                                           json_t *parent, const char *key,
                                                           const char *format, ...);
void json_add_integer(struct json_builder *builder, json_t *parent, const char *key,
                      uint64_t value);
void json_add_signed(struct json_builder *builder, json_t *parent, const char *key, int64_t value);
void json_add_real(struct json_builder *builder, json_t *parent, const char *key, double value);
void json_add_bool(struct json_builder *builder, json_t *parent, const char *key, bool value);

// The text of the whole tree: pure ASCII, indented, ended by a newline. The caller frees it.
_must_check_ struct error *json_write(const struct json_builder *builder, const json_t *root,
                                      struct buffer *ret_text);

// The same on one line.
_must_check_ struct error *json_write_line(const struct json_builder *builder, const json_t *root,
                                           struct buffer *ret_text);

static inline void json_release(json_t **value)
{
    json_decref(*value);
}

#endif
