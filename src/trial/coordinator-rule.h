// SPDX-License-Identifier: GPL-3.0-or-later
// The coordinator's rules: NAME when EXPRESSION. An expression sees all questions of all nodes.
//   count        questions for this name so far, over all nodes, with this one
//   node_count   the same from the asking node alone
//   nodes        nodes connected now
//   node("GLOB") the asking node's name matches
//   turn         it is the asking node's turn; when a rule with `turn` says yes, the turn passes to
//                the node that joined next
//   once         this rule has not said yes yet
//   random(P)    with probability P
//   function("GLOB"), arg(N), occurrence, stack("GLOB")   of the call in question; a stack glob
//                matches a symbol, or a module's path or file name
// with and or not, comparisons, in A..B+STEP, + - * / %, & | ^ ~ << >> and parentheses.
#ifndef ORDEAL_TRIAL_COORDINATOR_RULE_H
#define ORDEAL_TRIAL_COORDINATOR_RULE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct coordinator_rule;

// Parses one rule, and keeps a copy of the text. Without `when` it always says yes. An error shows
// the place in the text.
_must_check_ struct error *coordinator_rule_new(const char *text,
                                                struct coordinator_rule **ret_decision);
void coordinator_rule_free(struct coordinator_rule *rule);

const char *coordinator_rule_name(const struct coordinator_rule *rule); // may be a glob
const char *coordinator_rule_text(const struct coordinator_rule *rule);

struct coordinator_frame {
    const char *module, *symbol;
};
struct coordinator_question {
    const char *node, *function;
    uint64_t count, node_count, nodes, occurrence;
    bool turn; // it is the asking node's turn
    uint64_t arguments[6];
    const struct coordinator_frame *frames;
    size_t frame_count;
    uint64_t *random; // state of the generator
};
// Whether the rule says yes, which is remembered for `once`. A division by zero means no.
bool coordinator_rule_ask(struct coordinator_rule *rule,
                          const struct coordinator_question *question);
// Whether the rule asks for `turn`.
bool coordinator_rule_uses_turn(const struct coordinator_rule *rule);

#endif
