// SPDX-License-Identifier: GPL-3.0-or-later
// Candidates as a table and as JSON. All functions append to `text`.
#ifndef ORDEAL_CLI_MUTATE_LIST_H
#define ORDEAL_CLI_MUTATE_LIST_H

#include "base/array.h"
#include "mutate/level.h"

#include <stdbool.h>

// `number` counts what is listed. `mutant` is the file that was written, or NULL.
_must_check_ struct error *list_put_row(const struct mutate_candidate *candidate, size_t number,
                                        struct buffer *text);
_must_check_ struct error *list_put_json(const struct mutate_candidate *candidate,
                                         const struct mutate_set *set, size_t number,
                                         const char *mutant, struct buffer *text);
// The fault model.
_must_check_ struct error *list_put_types(bool json, struct buffer *text);

// A line whose code comes out of a macro, as JSON.
_must_check_ struct error *list_put_construct(const struct construct_line *construct,
                                              struct buffer *text);

#endif
