// SPDX-License-Identifier: GPL-3.0-or-later
// Lines of files that a user chooses, by number or as what has changed since a revision.
#ifndef ORDEAL_CLI_MUTATE_LINES_H
#define ORDEAL_CLI_MUTATE_LINES_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>

struct line_range {
    char *file; // as the file system knows it; NULL: any
    unsigned first, last;
};
struct line_ranges {
    bool given; // only these lines; otherwise all
    ARRAY(struct line_range) items;
};

// Adds FILE:FIRST-LAST, FILE:LINE, FIRST-LAST or LINE.
_must_check_ struct error *line_ranges_add(struct line_ranges *ranges, const char *text);
// Adds the lines that git says were changed since a revision, in tracked files below this
// directory.
_must_check_ struct error *line_ranges_add_since(struct line_ranges *ranges, const char *revision);
bool line_ranges_have(const struct line_ranges *ranges, const char *file, unsigned line);
void line_ranges_deinit(struct line_ranges *ranges);

#endif
