// SPDX-License-Identifier: GPL-3.0-or-later
// Functions that make nodes, for the files that parse the levels of an expression.
#ifndef ORDEAL_SCENARIO_PARSER_H
#define ORDEAL_SCENARIO_PARSER_H

#include "scenario/expression.h"

_must_check_ struct error *node_new(struct parser *parser, enum expression_kind kind, size_t start,
                                    struct expression **ret_node);
// Copies flags from the children that hold for the whole expression.
void node_inherit(struct expression *node);
// Make operators. If the operands are constants, the result is a constant.
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
