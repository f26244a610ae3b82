// SPDX-License-Identifier: GPL-3.0-or-later
// Turns bytes that targets wrote into text for people. Nothing of them may reach the terminal raw.
// Each function appends to the buffer; the only error is a lack of memory.
#ifndef ORDEAL_REPORT_TEXT_H
#define ORDEAL_REPORT_TEXT_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Appends at most `size` bytes, up to a NUL. Control characters and bytes that are not UTF-8 become
// \n, \t or \xNN. `quote` is escaped, too, unless it is 0.
_must_check_ struct error *text_put(struct buffer *buffer, const char *bytes, size_t size,
                                    char quote);

// The same in at most `columns` columns; "..." replaces what does not fit. *ret_used is the number
// of columns taken (NULL: not wanted). `columns` must be at least four if the text may be cut.
_must_check_ struct error *text_put_fit(struct buffer *buffer, const char *bytes, size_t columns,
                                        size_t *ret_used);

// The same for a path. The end of a path tells files apart, so its beginning is cut and replaced by
// ".../".
_must_check_ struct error *text_put_path(struct buffer *buffer, const char *path, size_t columns);

// The same for text of several lines: newlines and tabs stay.
_must_check_ struct error *text_put_lines(struct buffer *buffer, const char *text);

// The same as valid UTF-8 for JSON: control characters stay, broken bytes become U+FFFD.
_must_check_ struct error *text_put_utf8(struct buffer *buffer, const char *bytes, size_t size);

// Writes "870 us", "1.9 ms" or "12.30 s".
_must_check_ struct error *text_put_duration(struct buffer *buffer, uint64_t ns);
// The same for seconds from a store. A value that makes no sense becomes 0.
_must_check_ struct error *text_put_seconds(struct buffer *buffer, double seconds);

#endif
