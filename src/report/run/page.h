// SPDX-License-Identifier: GPL-3.0-or-later
// The text of a trial's report while it is made.
#ifndef ORDEAL_REPORT_RUN_PAGE_H
#define ORDEAL_REPORT_RUN_PAGE_H

#include "base/file.h"
#include "report/run/facts.h"
#include "report/run/run.h"

#include <stddef.h>
#include <stdint.h>

#define KNOWN_STACKS 64

// A stack that was already shown and need not be shown again.
struct known_stack {
    const struct wire_record *record;
    uint64_t number;
};

struct page {
    struct buffer text;
    struct known_stack stacks[KNOWN_STACKS];
    size_t stack_count;
    struct facts facts;
    const struct report_run *run;
};

enum colour { PLAIN, BOLD, DIM, RED, GREEN, YELLOW, CYAN };

// Switches to a colour, or back to PLAIN, if the reader wants colours.
_must_check_ struct error *page_paint(struct page *page, enum colour colour);

#define PUT(page, ...) TRY(buffer_printf(&(page)->text, __VA_ARGS__))
#define PAINTED(page, colour, ...)                                                                 \
    do {                                                                                           \
        TRY(page_paint(page, colour));                                                             \
        PUT(page, __VA_ARGS__);                                                                    \
        TRY(page_paint(page, PLAIN));                                                              \
    } while (0)

// A rule as the user wrote it, if it stands for its whole class, none of which was reached.
const char *page_rule_text(const struct page *page, uint32_t index);

_must_check_ struct error *page_put_warnings(struct page *page);

#endif
