// SPDX-License-Identifier: GPL-3.0-or-later
// Splits a text into lines, after applying the user's filters to each.
#ifndef ORDEAL_ORACLE_LINES_SPLIT_H
#define ORDEAL_ORACLE_LINES_SPLIT_H

#include "oracle/lines.h"

#include <stdint.h>

struct lines_line {
    size_t at, size; // in lines_split.text, without the newline
};
struct lines_split {
    struct buffer text;
    ARRAY(struct lines_line) lines;
    bool cut;     // as in lines_text; the incomplete last line is left out
    bool unended; // the last line has no newline
};
// Copies the text. `filters` may be NULL. An error means that memory ran out.
_must_check_ struct error *lines_split(const struct lines_filters *filters,
                                       const struct lines_text *text,
                                       struct lines_split *ret_split);
void lines_split_deinit(struct lines_split *split);

static inline const char *lines_at(const struct lines_split *split, size_t index)
{
    return split->text.data + split->lines.items[index].at;
}
bool lines_equal(const struct lines_split *a, size_t i, const struct lines_split *b, size_t j);
// Hashes for sorting and looking up. lines_hash() takes the line as it is; lines_shape() treats all
// numbers as equal.
uint64_t lines_hash(const struct lines_split *split, size_t index);
uint64_t lines_shape(const struct lines_split *split, size_t index);

#endif
