// SPDX-License-Identifier: GPL-3.0-or-later
// Bytes of strangers within texts for people: nothing of it reaches a terminal raw.
#ifndef ORDEAL_BASE_ESCAPE_H
#define ORDEAL_BASE_ESCAPE_H

#include "base/array.h"

#include <stddef.h>

// Appends the bytes. Control characters (utf8.h), and bytes that are no UTF-8, are written \n, \t
// or \xNN; `quote` and the backslash get a backslash unless `quote` is 0. "..." stands for what
// comes after the first `most` bytes.
_must_check_ struct error *escape_put(struct buffer *text, const char *bytes, size_t size,
                                      size_t most, char quote);

#endif
