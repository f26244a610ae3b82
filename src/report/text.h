// SPDX-License-Identifier: GPL-3.0-or-later
// Text for people from bytes that targets wrote: nothing of it may reach the terminal raw.
#ifndef ORDEAL_REPORT_TEXT_H
#define ORDEAL_REPORT_TEXT_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Appends at most `size` bytes, up to a NUL. Control characters, and bytes that are not UTF-8, are
// written \n, \t or \xNN; `quote` is escaped too unless it is 0.
_must_check_ struct error *text_put(struct buffer *buffer, const char *bytes, size_t size,
                                    char quote);

// Same in at most `columns` columns, "..." standing for what did not fit; *ret_used is how many
// were needed (NULL: nobody asks). Less than four columns cannot hold a cut text.
_must_check_ struct error *text_put_fit(struct buffer *buffer, const char *bytes, size_t columns,
                                        size_t *ret_used);

// Same for a path: its end is what tells one file from another, so ".../" stands for what is
// before.
_must_check_ struct error *text_put_path(struct buffer *buffer, const char *path, size_t columns);

// Same for a text of several lines: newlines and tabs stay.
_must_check_ struct error *text_put_lines(struct buffer *buffer, const char *text);

// Same as valid UTF-8 for JSON: control characters stay, broken bytes become U+FFFD.
_must_check_ struct error *text_put_utf8(struct buffer *buffer, const char *bytes, size_t size);

// "870 us", "1.9 ms", "12.3 s".
_must_check_ struct error *text_put_duration(struct buffer *buffer, uint64_t ns);
// The same of seconds as a store has them: what makes no sense is 0.
_must_check_ struct error *text_put_seconds(struct buffer *buffer, double seconds);

#endif
