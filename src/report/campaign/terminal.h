// SPDX-License-Identifier: GPL-3.0-or-later
// What the terminal reports of campaigns are made with. No line is wider than TERMINAL_WIDTH,
// whatever the data.
#ifndef ORDEAL_REPORT_CAMPAIGN_TERMINAL_H
#define ORDEAL_REPORT_CAMPAIGN_TERMINAL_H

#include "base/cleanup.h"
#include "report/campaign/facts.h"

#define TERMINAL_WIDTH 80

enum terminal_colour {
    TERMINAL_PLAIN,
    TERMINAL_BOLD,
    TERMINAL_DIM,
    TERMINAL_RED,
    TERMINAL_GREEN,
    TERMINAL_YELLOW,
};
struct terminal {
    struct buffer *text;
    bool colour;
};

#define PUT(terminal, ...) TRY(buffer_printf((terminal)->text, __VA_ARGS__))

_must_check_ struct error *terminal_paint(struct terminal *terminal, enum terminal_colour colour);
// A line in bold, with an empty line before it.
_must_check_ struct error *terminal_heading(struct terminal *terminal, const char *text);
// Ends a line, without spaces at its end.
_must_check_ struct error *terminal_end_line(struct terminal *terminal);
// The colour of a verdict.
enum terminal_colour terminal_verdict(enum verdict verdict);
// Appends the words; of those that are too long for a line only what tells one from another.
_must_check_ struct error *terminal_shorten(const char *words, struct buffer *text);
// Words from column `indent` on, where the cursor is, in as many lines as it takes.
_must_check_ struct error *terminal_wrap(struct terminal *terminal, const char *words,
                                         size_t indent);
// Likewise with the cursor at `column`.
_must_check_ struct error *terminal_wrap_from(struct terminal *terminal, const char *words,
                                              size_t indent, size_t column);
// A shell command from column `indent` on: whole, or in several lines that end with a backslash.
// *ret_fits is false, and nothing is written, if it cannot be shown like that.
_must_check_ struct error *terminal_command(struct terminal *terminal, const char *command,
                                            size_t indent, bool *ret_fits);
// "  3.1%     1.8 -   5.3%"
_must_check_ struct error *terminal_share(struct terminal *terminal,
                                          const struct campaign_share *share);
// "0.0003 ***"
_must_check_ struct error *terminal_test(struct terminal *terminal, const struct stats_test *test);

#endif
