// SPDX-License-Identifier: GPL-3.0-or-later
// Writes one JSON object per line straight into a buffer, for lists of many thousands: building a
// tree first (report/json.h) costs ten times as much. The text is what json_write_line() would
// give.
#ifndef ORDEAL_REPORT_JSON_ROW_H
#define ORDEAL_REPORT_JSON_ROW_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct json_row {
    struct buffer *text; // the caller's
    struct error *error; // the first one; json_row_end() returns it
    bool filled;
};

struct json_row json_row_begin(struct buffer *text);
// Bytes that are not UTF-8 become U+FFFD.
void json_row_string(struct json_row *row, const char *key, const char *text);
void json_row_integer(struct json_row *row, const char *key, uint64_t value);
void json_row_bool(struct json_row *row, const char *key, bool value);
// A list of texts. `count` may be 0.
void json_row_strings(struct json_row *row, const char *key, const char *const *texts,
                      size_t count);
_must_check_ struct error *json_row_end(struct json_row *row);

#endif
