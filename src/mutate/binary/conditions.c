// SPDX-License-Identifier: GPL-3.0-or-later
// Faults of conditions: an `if` that is missing (MIA, MIFS, MIEB), an operand of && or || that is
// missing (MLAC, MLOC).
#include "mutate/binary/internal.h"

#define LONGEST_CHAIN 256

// ---- if ----

static bool has_loop(const struct body *body, uint32_t block)
{
    for (uint32_t n = body->blocks.items[block].first; n != UINT32_MAX;
         n = body->nodes.items[n].next) {
        const struct node *node = &body->nodes.items[n];
        if (node->kind == NODE_LOOP || (node->then != UINT32_MAX && has_loop(body, node->then)) ||
            (node->otherwise != UINT32_MAX && has_loop(body, node->otherwise)))
            return true;
    }
    return false;
}

// Statements, those of inner blocks, too.
static unsigned count_statements(const struct body *body, uint32_t block)
{
    unsigned count = 0;
    for (uint32_t n = body->blocks.items[block].first; n != UINT32_MAX;
         n = body->nodes.items[n].next) {
        const struct node *node = &body->nodes.items[n];
        bool heading = node->kind == NODE_STATEMENT && body->steps.items[node->first].heading;
        count += heading ? 0 : 1u + node->jump;
        if (node->then != UINT32_MAX)
            count += count_statements(body, node->then);
        if (node->otherwise != UINT32_MAX)
            count += count_statements(body, node->otherwise);
    }
    return count;
}

// C09
static bool is_small(const struct body *body, const struct node *node)
{
    if (node->jump)
        return true;
    if (node->then == UINT32_MAX)
        return false;
    unsigned count = count_statements(body, node->then);
    return count > 0 && count <= MODEL_MOST_STATEMENTS && !has_loop(body, node->then);
}

static void find_if(struct finding *finding, const struct node *node)
{
    const struct body *body = &finding->body;
    const struct step *steps = body->steps.items;
    uint32_t at = steps[node->condition].first;
    if (!is_small(body, node) || node->yes == NO_STEP || node->no == NO_STEP ||
        node->yes >= body->steps.count || node->no >= body->steps.count)
        return;
    struct binary_fault *fault;
    if (node->otherwise != UINT32_MAX) {
        fault = finding_add(finding, MODEL_MIEB, at);
        if (fault != NULL)
            patch_jump(finding, fault, at, steps[node->no].first);
        return;
    }
    fault = finding_add(finding, MODEL_MIA, at);
    if (fault != NULL)
        patch_jump(finding, fault, at, steps[node->yes].first);
    if (body->blocks.items[node->block].nodes < 2)
        return; // C02
    fault = finding_add(finding, MODEL_MIFS, at);
    if (fault != NULL)
        patch_jump(finding, fault, at, steps[node->no].first);
}

// ---- && and || ----

struct clauses {
    uint32_t begin, end; // steps
    uint32_t yes, no;    // where they lead to
};

// Whether the tests before `split` lead to each other, to `split` and to `way` only.
static bool is_split(const struct body *body, const struct clauses *clauses, uint32_t split,
                     uint32_t way)
{
    for (uint32_t at = clauses->begin; at < split; at++) {
        uint32_t target = body->steps.items[at].target;
        if (target != way && !(target > at && target <= split))
            return false;
    }
    return true;
}

static void find_clauses(struct finding *finding, struct clauses clauses);

static void leave_out(struct finding *finding, const struct clauses *clause, bool or)
{
    const struct step *steps = finding->body.steps.items;
    uint32_t at = steps[clause->begin].first, to = or ? clause->no : clause->yes;
    struct binary_fault *fault = finding_add(finding, or ? MODEL_MLOC : MODEL_MLAC, at);
    if (fault != NULL && to < finding->body.steps.count)
        patch_jump(finding, fault, at, steps[to].first);
}

// The operands of a chain of one operator.
static bool find_operands(struct finding *finding, const struct clauses *clauses, bool or)
{
    uint32_t way = or ? clauses->yes : clauses->no, begin = clauses->begin;
    bool found = false;
    for (uint32_t split = clauses->begin + 1; split <= clauses->end; split++) {
        bool last = split == clauses->end;
        if (!last && !is_split(&finding->body, clauses, split, way))
            continue;
        if (last && !found)
            return false;
        found = true;
        struct clauses clause = {begin, split, clauses->yes, clauses->no};
        if (!last && or)
            clause.no = split;
        else if (!last)
            clause.yes = split;
        leave_out(finding, &clause, or);
        find_clauses(finding, clause);
        begin = split;
    }
    return found;
}

static void find_clauses(struct finding *finding, struct clauses clauses)
{
    if (clauses.end - clauses.begin < 2 || clauses.end - clauses.begin > LONGEST_CHAIN)
        return;
    if (!find_operands(finding, &clauses, false))
        find_operands(finding, &clauses, true);
}

// clang computes the condition of a loop as a value: a constant for what the first operands decide,
// or the last operand. All of that is one step.
static void find_value_clauses(struct finding *finding, const struct node *node)
{
    const struct body *body = &finding->body;
    const struct step *step = &body->steps.items[node->condition];
    uint32_t clauses[LONGEST_CHAIN + 1], count = 1;
    const struct isa_insn *decided = NULL; // puts the constant into a register
    uint64_t join = 0;
    clauses[0] = step->first;
    for (uint32_t i = step->first; i + 1 < step->end; i++) {
        const struct isa_insn *insn = insn_at(body, i);
        if (insn->kind == ISA_CONSTANT && insn->dst == ISA_RETURN && decided == NULL)
            decided = insn;
        if (insn->kind == ISA_JUMP ||
            (insn->kind == ISA_BRANCH && join != 0 && (uint64_t)insn->value != join))
            return; // ?:, or both operators
        if (insn->kind != ISA_BRANCH)
            continue;
        join = (uint64_t)insn->value;
        if (count > LONGEST_CHAIN)
            return;
        clauses[count++] = i + 1;
    }
    if (count < 2 || decided == NULL || (decided->value & ~1ll) != 0 ||
        node->yes >= body->steps.count || node->no >= body->steps.count)
        return;
    bool or = decided->value == 1;
    uint32_t behind = body->steps.items[or ? node->no : node->yes].first;
    for (uint32_t i = 0; i < count; i++) {
        struct binary_fault *fault = finding_add(finding, or ? MODEL_MLOC : MODEL_MLAC, clauses[i]);
        if (fault != NULL)
            patch_jump(finding, fault, clauses[i], i + 1 < count ? clauses[i + 1] : behind);
    }
}

static bool is_chain(const struct body *body, const struct node *node)
{
    for (uint32_t s = node->condition; s < node->condition_end; s++)
        if (body->steps.items[s].kind != STEP_BRANCH)
            return false;
    return node->condition_end - node->condition > 1;
}

void find_conditions(struct finding *finding)
{
    const struct body *body = &finding->body;
    for (size_t n = 0; n < body->nodes.count; n++) {
        const struct node *node = &body->nodes.items[n];
        if (node->kind == NODE_IF)
            find_if(finding, node);
        if ((node->kind == NODE_IF || node->kind == NODE_LOOP) && is_chain(body, node))
            find_clauses(finding, (struct clauses){node->condition, node->condition_end, node->yes,
                                                   node->no});
        else if (node->kind == NODE_LOOP && node->condition_end > node->condition &&
                 body->steps.items[node->condition].kind == STEP_BRANCH)
            find_value_clauses(finding, node);
    }
}
