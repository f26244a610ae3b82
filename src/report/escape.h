// SPDX-License-Identifier: GPL-3.0-or-later
// Foreign text for the formats of reports. Bytes that are not UTF-8, and control characters other
// than newline and tab, become visible: \xNN.
#ifndef ORDEAL_REPORT_ESCAPE_H
#define ORDEAL_REPORT_ESCAPE_H

#include "base/array.h"
#include "base/error.h"

// For HTML and XML: between tags; as the value of an attribute in quotation marks.
_must_check_ struct error *escape_markup(struct buffer *buffer, const char *text);
_must_check_ struct error *escape_attribute(struct buffer *buffer, const char *text);

// One field of a CSV file (RFC 4180), quoted if it has to be. A text that a spreadsheet would take
// for a formula gets an apostrophe in front.
_must_check_ struct error *escape_csv(struct buffer *buffer, const char *text);

// A path as part of a URI.
_must_check_ struct error *escape_uri(struct buffer *buffer, const char *path);

#endif
