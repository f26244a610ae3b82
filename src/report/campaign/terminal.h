// SPDX-License-Identifier: GPL-3.0-or-later
// The building blocks of the terminal reports of campaigns. No line is wider than TERMINAL_WIDTH,
// whatever the data. All of them append to terminal.text.
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
// An empty line, then a line in bold.
_must_check_ struct error *terminal_heading(struct terminal *terminal, const char *text);
// Ends a line and drops the spaces at its end.
_must_check_ struct error *terminal_end_line(struct terminal *terminal);
// The colour that a verdict is shown in.
enum terminal_colour terminal_verdict(enum verdict verdict);
// Appends the words. A word that is too long for a line is cut to the part that distinguishes it.
_must_check_ struct error *terminal_shorten(const char *words, struct buffer *text);
// Writes words from column `indent`, where the cursor is, and wraps them to lines.
_must_check_ struct error *terminal_wrap(struct terminal *terminal, const char *words,
                                         size_t indent);
// The same with the cursor at `column`.
_must_check_ struct error *terminal_wrap_from(struct terminal *terminal, const char *words,
                                              size_t indent, size_t column);
// Writes a shell command from column `indent`: on one line, or on several that end with a
// backslash. If that is impossible, writes nothing and sets *ret_fits to false.
_must_check_ struct error *terminal_command(struct terminal *terminal, const char *command,
                                            size_t indent, bool *ret_fits);
// Writes "  3.1%   1.8 -   5.3%".
_must_check_ struct error *terminal_share(struct terminal *terminal,
                                          const struct campaign_share *share);
// Writes "0.0003 ***".
_must_check_ struct error *terminal_test(struct terminal *terminal, const struct stats_test *test);

#endif
