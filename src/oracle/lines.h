// SPDX-License-Identifier: GPL-3.0-or-later
// Compares texts of which there are several versions, one per reference run. A model says which
// lines are the same in all versions; another text is then compared in those lines alone.
#ifndef ORDEAL_ORACLE_LINES_H
#define ORDEAL_ORACLE_LINES_H

#include "base/array.h"
#include "base/error.h"
#include "definition/definition.h"

#include <stdbool.h>
#include <stddef.h>

// The user's filters, compiled. Every line goes through all filters, one after the other. Each
// filter replaces all its matches. In a replacement \0 is the match, \1 to \9 are its groups, \\ is
// a backslash.
struct lines_filters;
// The error names the pattern and what is wrong with it.
_must_check_ struct error *lines_filters_new(const struct filter *filters, size_t count,
                                             struct lines_filters **ret_filters);
void lines_filters_free(struct lines_filters *filters);

struct lines_text { // one version
    const char *data;
    size_t size;
    bool cut; // the text went on: the last line may be incomplete
};

enum lines_mode {
    LINES_EXACT,     // the same in all versions
    LINES_MASKED,    // the same number of lines, of which some vary
    LINES_UNORDERED, // the same lines in varying order
    LINES_VARYING,   // the number of lines varies: nothing can be compared
};

struct lines_model;
// Makes a model of one or more versions. The texts are not needed afterwards.
_must_check_ struct error *lines_learn(const struct lines_filters *filters,
                                       const struct lines_text *texts, size_t count,
                                       struct lines_model **ret_model);
void lines_model_free(struct lines_model *model);
enum lines_mode lines_mode(const struct lines_model *model);
// Describes what varies, to be put after the text's name: "line 3 varies: 'a' / 'b'", "the order of
// lines varies". "" in LINES_EXACT. Owned by the model.
const char *lines_variation(const struct lines_model *model);
// Whether exactly one line varies, and lines_variation() names it.
bool lines_varies_once(const struct lines_model *model);

// Whether `text` differs from the model in a stable line. If so, appends where to `sentence`:
// "differs at line 3: 'a' instead of 'b'".
_must_check_ struct error *lines_compare(const struct lines_model *model,
                                         const struct lines_filters *filters,
                                         const struct lines_text *text, bool *ret_differs,
                                         struct buffer *sentence);

// Whether `text` has every stable line, as often as the versions have it. Other lines may stand
// between them. Where lines vary, `text` must at least have as many lines.
_must_check_ struct error *lines_all_there(const struct lines_model *model,
                                           const struct lines_filters *filters,
                                           const struct lines_text *text, bool *ret_there);

// Whether `text` has a line that is new: more often than the versions have it or, when lines vary,
// unlike all lines of theirs even if numbers are ignored. The first new line is appended to `line`,
// unquoted.
_must_check_ struct error *lines_new(const struct lines_model *model,
                                     const struct lines_filters *filters,
                                     const struct lines_text *text, bool *ret_new,
                                     struct buffer *line);

#endif
