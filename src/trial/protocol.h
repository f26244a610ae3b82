// SPDX-License-Identifier: GPL-3.0-or-later
// The lines that controllers and the coordinator exchange (docs/coordinator-protocol.md): words
// separated by one blank, ended by a newline. Bytes other than letters, digits and _.:/@+-*~ are
// written as %XX.
#ifndef ORDEAL_TRIAL_PROTOCOL_H
#define ORDEAL_TRIAL_PROTOCOL_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>

#define PROTOCOL_VERSION      1
#define PROTOCOL_VERSION_TEXT "1"
#define PROTOCOL_LINE_SIZE    16384 // of one line with its newline; a longer one ends the connection

// Appends a word. An empty one is written as %.
_must_check_ struct error *protocol_put_word(struct buffer *buffer, const char *text);

// The next word, decoded in place; NULL at the end. Moves *cursor behind the word.
// A broken %XX gives NULL and sets *cursor to NULL.
char *protocol_next_word(char **cursor);
// The same for the parts of a word between separators. Decodes nothing.
char *protocol_next_part(char **cursor, char separator);
// Decodes a part in place; false if it is broken.
bool protocol_decode(char *text);

#endif
