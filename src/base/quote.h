// SPDX-License-Identifier: GPL-3.0-or-later
// Quotes bytes that targets wrote, in sentences for people.
#ifndef ORDEAL_BASE_QUOTE_H
#define ORDEAL_BASE_QUOTE_H

#include "base/array.h"
#include "base/error.h"

#include <stddef.h>

#define QUOTE_MOST 160 // bytes of a text that a sentence quotes

// Appends at most `most` bytes, and "..." if there are more. Control characters and bytes that are
// not UTF-8 become \n, \t, \xNN. Secrets are masked (secrets.h).
_must_check_ struct error *quote_put(struct buffer *buffer, const char *bytes, size_t size,
                                     size_t most);
// Appends 'bytes' in quotes, at most QUOTE_MOST of them.
_must_check_ struct error *quote_put_word(struct buffer *buffer, const char *bytes, size_t size);
// Appends the prefix and the last line that is not empty, quoted. Appends nothing if there is none.
_must_check_ struct error *quote_put_last_line(struct buffer *buffer, const char *prefix,
                                               const char *bytes, size_t size);

#endif
