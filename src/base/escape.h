// SPDX-License-Identifier: GPL-3.0-or-later
// Puts foreign bytes into texts for people, so that no control character reaches a terminal.
#ifndef ORDEAL_BASE_ESCAPE_H
#define ORDEAL_BASE_ESCAPE_H

#include "base/array.h"

#include <stddef.h>

// Appends at most `most` of the bytes, and "..." if there are more. Control characters (utf8.h) and
// bytes that are not UTF-8 become \n, \t or \xNN. Unless `quote` is 0, `quote` and the backslash
// get a backslash.
_must_check_ struct error *escape_put(struct buffer *text, const char *bytes, size_t size,
                                      size_t most, char quote);

#endif
