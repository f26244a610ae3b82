// SPDX-License-Identifier: GPL-3.0-or-later
// Shared by the files that parse the levels of an expression.
#ifndef ORDEAL_SCENARIO_PARSER_H
#define ORDEAL_SCENARIO_PARSER_H

#include "scenario/expression.h"

_must_check_ struct error *node_new(struct parser *parser, enum expression_kind kind, size_t start,
                                    struct expression **ret_node);
// Takes over from the children what holds for the whole.
void node_inherit(struct expression *node);
// Operators; of constants they are constants.
_must_check_ struct error *node_unary(struct parser *parser, enum wire_op op, size_t start,
                                      const struct expression *operand,
                                      const struct expression **ret_node);
_must_check_ struct error *node_binary(struct parser *parser, enum wire_op op, size_t start,
                                       const struct expression *left,
                                       const struct expression *right,
                                       const struct expression **ret_node);

_must_check_ struct error *parse_unary(struct parser *parser, const struct expression **ret_node);
_must_check_ struct error *parse_arithmetic(struct parser *parser,
                                            const struct expression **ret_node);
_must_check_ struct error *parse_comparison(struct parser *parser,
                                            const struct expression **ret_node);

#endif
