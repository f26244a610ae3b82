// SPDX-License-Identifier: GPL-3.0-or-later
// The lines controllers and the coordinator exchange (docs/coordinator-protocol.md): words
// separated by one blank, ended by a newline. Other bytes than letters, digits and _.:/@+-*~ are
// written %XX.
#ifndef ORDEAL_TRIAL_LINE_H
#define ORDEAL_TRIAL_LINE_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>

#define LINE_PROTOCOL      1
#define LINE_PROTOCOL_TEXT "1"
#define LINE_MAX_SIZE      16384 // of one line with its newline; a longer one ends the connection

// Appends a word. An empty one is written as %.
_must_check_ struct error *line_put(struct buffer *buffer, const char *text);

// The next word, decoded in place, or NULL at the end. *cursor moves behind it.
// A broken %XX yields NULL and sets *cursor to NULL.
char *line_word(char **cursor);
// Same for the parts of a word between `separator`s; decodes nothing.
char *line_part(char **cursor, char separator);
// Decodes a part in place; false if it is broken.
bool line_decode(char *text);

#endif
