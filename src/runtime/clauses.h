// SPDX-License-Identifier: GPL-3.0-or-later
// Conditions split into clauses that are joined by `and`.
#ifndef ORDEAL_RUNTIME_CLAUSES_H
#define ORDEAL_RUNTIME_CLAUSES_H

#include "runtime/call.h"
#include "wire/plan.h"

struct rule_check;
struct site;

// A part of a condition: two values and the relations between them that make it true.
struct clause {
    uint8_t op;        // enum wire_op that gives the first value, CLAUSE_CODE or CLAUSE_LIST
    uint8_t relations; // that make it true; of WIRE_OP_STACK: the results that do
    union {
        uint8_t cut;          // bits of an argument to cut off at the top
        bool looks_at_caller; // the caller alone may tell that a stack does not match
    };
    bool is_signed : 1; // of an argument
    bool is_last : 1;   // of its condition
    uint32_t number;    // of the argument, stack, variable or plug-in; the first instruction
    union {
        int64_t value;             // the second value
        uint64_t count;            // of instructions of CLAUSE_CODE, whose result is not compared
        const struct clause *list; // of a CLAUSE_LIST
    };
};
#define CLAUSE_CODE WIRE_OP_COUNT_OF_OPS       // the stack machine is needed
#define CLAUSE_LIST (WIRE_OP_COUNT_OF_OPS + 1) // see sites.h

// What must hold for the rule's condition to hold: at least one, at most as many as it has
// instructions.
uint32_t clauses_of(const struct wire_rule *rule, struct clause *ret_clauses);
// The first of the rules whose gates are open and whose condition holds; `end` if there is none.
// The clauses stand behind `end`.
const struct rule_check *clauses_choose(const struct call *call, const struct rule_check *check,
                                        const struct rule_check *end);
// Likewise of the rules for one address, from that one on; NULL if there is none.
const struct site *clauses_choose_site(const struct call *call, const struct site *site);

#endif
