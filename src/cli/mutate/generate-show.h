// SPDX-License-Identifier: GPL-3.0-or-later
// Tables and JSON of generated programs and of tools that were tested with them.
#ifndef ORDEAL_CLI_MUTATE_GENERATE_SHOW_H
#define ORDEAL_CLI_MUTATE_GENERATE_SHOW_H

#include "mutate/generate/examine.h"
#include "report/json.h"

void generate_add_parameters(struct json_builder *builder, json_t *row,
                             const struct generate_parameters *parameters);
// All append to `text`.
_must_check_ struct error *
generate_put_counts(const size_t counts[MODEL_KINDS][MODEL_CONSTRAINTS + 1], struct buffer *text);
_must_check_ struct error *generate_put_json(const struct examine_results *results,
                                             struct buffer *text);
_must_check_ struct error *generate_put_tables(const struct examine_results *results, bool failures,
                                               struct buffer *text);
// Whether at least so many percent of the programs of every type are correct.
bool generate_is_enough(const struct examine_results *results, double percent);

#endif
