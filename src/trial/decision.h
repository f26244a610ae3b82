// SPDX-License-Identifier: GPL-3.0-or-later
// The coordinator's rules: NAME when EXPRESSION. An expression sees all questions of all nodes.
//   count        questions for this name so far, over all nodes; this one included
//   node_count   the same from the asking node alone
//   nodes        nodes connected now
//   node("GLOB") the asking node's name matches
//   turn         the asking node is the one whose turn it is; when a rule with `turn` says yes, the
//                turn passes to the node that joined next
//   once         this rule has not said yes yet
//   random(P)    with probability P
//   function("GLOB"), arg(N), occurrence, stack("GLOB")   of the call in question; a stack glob
//                matches a symbol, or a module's path or file name
// with and or not, comparisons, in A..B+STEP, + - * / %, & | ^ ~ << >> and parentheses.
#ifndef ORDEAL_TRIAL_DECISION_H
#define ORDEAL_TRIAL_DECISION_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decision;

// Parses one rule; without `when` it always says yes.
_must_check_ struct error *decision_new(const char *text, struct decision **ret_decision);
void decision_free(struct decision *decision);

const char *decision_name(const struct decision *decision); // may be a glob
const char *decision_text(const struct decision *decision);

struct decision_frame {
    const char *module, *symbol;
};
struct decision_question {
    const char *node, *function;
    uint64_t count, node_count, nodes, occurrence;
    bool turn; // it is the asking node's turn
    uint64_t arguments[6];
    const struct decision_frame *frames;
    size_t frame_count;
    uint64_t *random; // state of the generator
};
// A yes is remembered for `once`. A division by zero is a no.
bool decision_ask(struct decision *decision, const struct decision_question *question);
// Whether the rule asks for `turn`.
bool decision_takes_turns(const struct decision *decision);

#endif
