// SPDX-License-Identifier: GPL-3.0-or-later
// Escapes foreign text for report formats. Bytes that are not UTF-8, and control characters other
// than newline and tab, become visible as \xNN. Each function appends to the buffer; the only error
// is a lack of memory.
#ifndef ORDEAL_REPORT_ESCAPE_H
#define ORDEAL_REPORT_ESCAPE_H

#include "base/array.h"
#include "base/error.h"

// For HTML and XML: text between tags, and the value of a quoted attribute.
_must_check_ struct error *escape_markup(struct buffer *buffer, const char *text);
_must_check_ struct error *escape_attribute(struct buffer *buffer, const char *text);

// One field of a CSV file (RFC 4180), quoted where necessary. A text that a spreadsheet would take
// for a formula gets an apostrophe in front.
_must_check_ struct error *escape_csv(struct buffer *buffer, const char *text);

// For Markdown as code hosts read it: one line of plain text. Nothing in it is markup, a mention or
// an HTML tag.
_must_check_ struct error *escape_markdown(struct buffer *buffer, const char *text);

// For workflow commands of GitHub: the message, or the value of a property.
_must_check_ struct error *escape_message(struct buffer *buffer, const char *text);
_must_check_ struct error *escape_property(struct buffer *buffer, const char *text);

// A path as part of a URI. Every byte that is not allowed there becomes %NN.
_must_check_ struct error *escape_uri(struct buffer *buffer, const char *path);

#endif
