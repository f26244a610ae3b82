// SPDX-License-Identifier: GPL-3.0-or-later
// Compiles an expression tree to the runtime's stack code.
#ifndef ORDEAL_SCENARIO_CODEGEN_H
#define ORDEAL_SCENARIO_CODEGEN_H

#include "scenario/expression.h"

struct codegen {
    struct scenario *scenario;
    const struct source *source;
    uint32_t rule, pattern;
    size_t start;   // first instruction of the rule in scenario->code
    unsigned depth; // values on the stack
    bool once, new_stack, match;
    const struct expression *proven; // a term that the rule's gates prove, or NULL
};

// Compiles a condition for rule number `rule` and fills in the rule's code, flags and gates. Fails
// if the condition is too long or a trigger cannot stand where it does.
_must_check_ struct error *codegen_rule(struct scenario *scenario, uint32_t rule, uint32_t pattern,
                                        const struct source *source,
                                        const struct expression *condition, struct wire_rule *wire);

// For compile functions of triggers: emits one instruction, which pops and pushes so many values.
_must_check_ struct error *codegen_emit(struct codegen *codegen, const struct expression *node,
                                        unsigned pops, unsigned pushes,
                                        struct wire_instruction instruction);
__attribute__((format(printf, 3, 4))) _must_check_ struct error *
codegen_error(const struct codegen *codegen, const struct expression *node, const char *format,
              ...);
// Emits code that pushes argument `number` (1-based), read as `type`.
_must_check_ struct error *codegen_argument(struct codegen *codegen, const struct expression *node,
                                            unsigned number, enum wire_argument_type type);
struct pattern *codegen_pattern(const struct codegen *codegen);
// Notes that an argument is a C string, so that the journal shows it.
void codegen_note_string(struct codegen *codegen, unsigned number);

// Narrows the rule's gates to calls for which the condition can hold. *ret_proven is a term that is
// true for every call that passes the gates, or NULL. See gate.c.
void gate_rule(const struct scenario *scenario, const struct expression *condition,
               struct wire_rule *wire, const struct expression **ret_proven);

#endif
