// SPDX-License-Identifier: GPL-3.0-or-later
// Where labels stand: the cases of a switch, and what a `goto` leads to.
#include "mutate/binary/internal.h"

// ---- switch ----

// The operand that a step compares with a constant, before it branches.
static const struct isa_insn *compared(const struct body *body, const struct step *step)
{
    if (step->kind != STEP_BRANCH || step->end - step->first < 2)
        return NULL;
    const struct isa_insn *insn = insn_at(body, step->end - 2);
    bool constant = (insn->kind == ISA_COMPARE && insn->dst == ISA_NONE) ||
                    (insn->kind == ISA_ADD && insn->src == ISA_NONE); // clang: sub
    return constant ? insn : NULL;
}

static bool is_same_operand(const struct isa_insn *a, const struct isa_insn *b)
{
    return a != NULL && b != NULL && a->kind == b->kind && a->src == b->src && a->base == b->base &&
           a->displacement == b->displacement && a->width == b->width;
}

// Cases that are told apart by comparisons. Returns the step behind them, or `from`.
uint32_t tree_find_cases(const struct body *body, uint32_t from, uint32_t end)
{
    const struct isa_insn *first = compared(body, step_at(body, from));
    uint32_t at = from, cases = 0, targets = 0, last_target = NO_STEP;
    if (first == NULL)
        return from;
    for (; at < end; at++) {
        const struct step *step = step_at(body, at);
        if (step->kind == STEP_JUMP && cases > 0)
            continue;
        bool changes = cases > 0 && step->effect != UINT32_MAX; // then it is a condition of its own
        if (changes || !is_same_operand(first, compared(body, step)) || step->target == NO_STEP)
            break;
        cases++;
        if (step->target != last_target)
            targets++;
        last_target = step->target;
    }
    while (at > from && step_at(body, at - 1)->kind == STEP_JUMP && at - 1 > from &&
           step_at(body, at - 2)->kind == STEP_JUMP)
        at--;
    if (cases < 2 || targets < 2 || step_at(body, at - 1)->kind != STEP_JUMP)
        return from;
    for (uint32_t i = from; i < at; i++) {
        uint32_t target = step_at(body, i)->target;
        bool inside = target > i && target < at && step_at(body, target)->kind == STEP_BRANCH;
        if (target == NO_STEP || (target < at && !inside))
            return from;
    }
    return at;
}

// The step that an instruction jumps to, if it is behind `end`; or NO_STEP.
static uint32_t case_of(const struct body *body, uint32_t insn, uint32_t end)
{
    const struct isa_insn *jump = insn_at(body, insn);
    uint32_t to = jump->kind == ISA_BRANCH ? flow_insn_at(body->code->image, (uint64_t)jump->value)
                                           : UINT32_MAX;
    if (to == UINT32_MAX || to < body->first || to >= body->end)
        return NO_STEP;
    uint32_t step = body->step_of.items[to - body->start];
    return step >= end ? step : NO_STEP;
}

// Marks the steps that a switch leads to. Returns the last one.
uint32_t tree_mark_cases(struct body *body, uint32_t from, uint32_t end)
{
    const struct flow_image *image = body->code->image;
    uint32_t last = from;
    for (uint32_t i = from; i < end; i++) {
        const struct step *step = step_at(body, i);
        if (step->target != NO_STEP && step->target >= end)
            step_at(body, step->target)->label = true;
        if (step->target != NO_STEP && step->target > last)
            last = step->target;
        if (step->kind != STEP_SWITCH)
            continue;
        for (uint32_t j = step->first; j < step->end; j++) {
            uint32_t target = case_of(body, j, end);
            if (target == NO_STEP)
                continue;
            step_at(body, target)->label = true;
            last = target > last ? target : last;
        }
        const struct flow_function *function = &image->functions.items[body->function];
        for (uint32_t b = 0; b < function->block_count; b++) {
            const struct flow_block *block = &image->blocks.items[function->first_block + b];
            if (block->first + block->count != step->end)
                continue;
            for (uint32_t j = 0; j < block->out_count; j++) {
                uint32_t to = image->edges.items[block->edges_out + j].block;
                uint32_t insn = image->blocks.items[to].first;
                if (insn < body->first || insn >= body->end)
                    continue;
                uint32_t target = body->step_of.items[insn - body->start];
                step_at(body, target)->label = true;
                last = target > last ? target : last;
            }
        }
    }
    return last;
}

// ---- labels ----

// Whether a jump to a step is a break, a continue or a return of something around a block.
static bool is_way_out(const struct body *body, uint32_t block, uint32_t target)
{
    uint8_t kind = step_at(body, target)->kind;
    if (kind == STEP_TAIL || kind == STEP_RETURN || step_is_landing(body, target))
        return true;
    while (body->blocks.items[block].parent != UINT32_MAX) {
        const struct node *node = &body->nodes.items[body->blocks.items[block].parent];
        bool loop = node->kind == NODE_LOOP;
        if ((loop || node->kind == NODE_SWITCH) && tree_is_same_place(body, target, node->end))
            return true;
        if (loop && target >= node->first && target < node->end &&
            (step_at(body, target)->heading || target == node->first ||
             (target >= node->condition && target < node->condition_end)))
            return true;
        block = node->block;
    }
    return false;
}

// A jump that is none of these is a `goto`: a label stands where it leads to.
void tree_mark_labels(struct body *body)
{
    for (size_t n = 0; n < body->nodes.count; n++) {
        const struct node *node = &body->nodes.items[n];
        uint32_t target = NO_STEP;
        if (node->kind == NODE_IF && node->jump)
            target = node->yes;
        else if (node->kind == NODE_STATEMENT && step_at(body, node->first)->kind == STEP_JUMP)
            target = step_at(body, node->first)->target;
        if (target == NO_STEP || target >= body->steps.count)
            continue;
        target = step_final(body, target);
        if (target < body->steps.count && !is_way_out(body, node->block, target))
            step_at(body, target)->label = true;
    }
}

bool tree_is_same_place(const struct body *body, uint32_t a, uint32_t b)
{
    return a == b || step_final(body, a) == step_final(body, b);
}
