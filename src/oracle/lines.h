// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of which several versions exist, one per reference run: which lines are the same in all of
// them, and whether another version agrees in those.
#ifndef ORDEAL_ORACLE_LINES_H
#define ORDEAL_ORACLE_LINES_H

#include "base/array.h"
#include "base/error.h"
#include "definition/definition.h"

#include <stdbool.h>
#include <stddef.h>

// The user's filters, compiled. They are applied to every line, one after the other, each to all
// its matches. In a replacement \0 is the match, \1 to \9 its groups, \\ a backslash.
struct lines_filters;
// The error names the pattern and what is wrong with it.
_must_check_ struct error *lines_filters_new(const struct filter *filters, size_t count,
                                             struct lines_filters **ret_filters);
void lines_filters_free(struct lines_filters *filters);

struct lines_text { // one version
    const char *data;
    size_t size;
    bool cut; // there was more: the last line may be a part, and nothing is known of what follows
};

enum lines_mode {
    LINES_EXACT,     // the same in all versions
    LINES_MASKED,    // the same number of lines, of which some vary
    LINES_UNORDERED, // the same lines in varying order
    LINES_VARYING,   // nothing to compare with
};

struct lines_model;
// Learns from one or more versions. The texts are not needed afterwards.
_must_check_ struct error *lines_learn(const struct lines_filters *filters,
                                       const struct lines_text *texts, size_t count,
                                       struct lines_model **ret_model);
void lines_model_free(struct lines_model *model);
enum lines_mode lines_mode(const struct lines_model *model);
// What varies, to be put after the text's name: "line 3 varies: 'a' / 'b'", "the order of lines
// varies". "" in LINES_EXACT.
const char *lines_variation(const struct lines_model *model);
// Whether that is one line, and which one is known.
bool lines_varies_once(const struct lines_model *model);

// Whether `text` differs in what is stable. If so, where: "differs at line 3: 'a' instead of 'b'"
// is appended to `sentence`.
_must_check_ struct error *lines_compare(const struct lines_model *model,
                                         const struct lines_filters *filters,
                                         const struct lines_text *text, bool *ret_differs,
                                         struct buffer *sentence);

// Whether every line that is the same in all versions is in `text`, as often as they have it,
// whatever else is between them. Where lines vary, there must at least be as many.
_must_check_ struct error *lines_all_there(const struct lines_model *model,
                                           const struct lines_filters *filters,
                                           const struct lines_text *text, bool *ret_there);

// Whether `text` says something that no version says: a line more often than they have it or, when
// lines vary, a line that does not even look like one of theirs with other numbers. The line itself
// is appended to `line`, as it is.
_must_check_ struct error *lines_new(const struct lines_model *model,
                                     const struct lines_filters *filters,
                                     const struct lines_text *text, bool *ret_new,
                                     struct buffer *line);

#endif
