// SPDX-License-Identifier: GPL-3.0-or-later
// The constructs of a function: if, if-else, loops, switch. Unoptimised code has them in the order
// of the source, so that ranges of steps are parsed like a text: a jump over steps is an `if`, a
// jump back is a loop.
#include "mutate/binary/internal.h"

#define DEEPEST         200 // nested constructs
#define LONGEST_CHAIN   256
#define MOST_IN_HEADING 4 // assignments that commas join
#define MANY_STEPS      8 // what follows a jump to the end of a block is no `else` if it is longer

struct range {
    uint32_t block;
    uint32_t begin, end; // steps
    uint32_t after;      // where it goes on behind them
    uint32_t header;     // the loop whose body this is; or NO_STEP
    unsigned depth;
};

static void parse(struct body *body, struct range range);

static uint32_t new_block(struct body *body, uint32_t parent, bool in_loop)
{
    struct block *block = ARRAY_ADD(&body->blocks);
    if (block == NULL) {
        body->failed = true;
        return 0;
    }
    *block = (struct block){
        .parent = parent, .first = UINT32_MAX, .last = UINT32_MAX, .in_loop = in_loop};
    return (uint32_t)body->blocks.count - 1;
}

// Adds a statement to a block. Its index is valid even if memory is short: then it is not used.
static uint32_t new_node(struct body *body, enum node_kind kind, uint32_t block, uint32_t first,
                         uint32_t end)
{
    struct node *node = ARRAY_ADD(&body->nodes);
    if (node == NULL) {
        body->failed = true;
        return 0;
    }
    *node = (struct node){.kind = (uint8_t)kind,
                          .block = block,
                          .first = first,
                          .end = end,
                          .condition = first,
                          .condition_end = first,
                          .yes = NO_STEP,
                          .no = NO_STEP,
                          .then = UINT32_MAX,
                          .otherwise = UINT32_MAX,
                          .next = UINT32_MAX};
    struct block *in = &body->blocks.items[block];
    uint32_t number = (uint32_t)body->nodes.count - 1;
    in->nodes++;
    if (in->last == UINT32_MAX)
        in->first = number;
    else
        body->nodes.items[in->last].next = number;
    in->last = number;
    return number;
}

static uint32_t parse_inner(struct body *body, const struct range *outer, uint32_t node,
                            bool in_loop, struct range inner)
{
    in_loop |= body->blocks.items[outer->block].in_loop;
    inner.block = new_block(body, node, in_loop);
    inner.depth = outer->depth + 1;
    if (inner.depth > DEEPEST)
        body->odd = true;
    else if (!body->failed)
        parse(body, inner);
    return inner.block;
}

// ---- conditions ----

// The tests of one condition from a step on: each leads to the next one, to a later one, or to one
// of two places. Returns the step behind the last.
static uint32_t find_chain(const struct body *body, uint32_t from, uint32_t end)
{
    uint32_t best = from + 1;
    for (uint32_t last = from + 1; last < end && last - from < LONGEST_CHAIN; last++) {
        const struct step *step = step_at(body, last);
        if (step->kind != STEP_BRANCH || step->target == NO_STEP ||
            body->back.items[last] != NO_STEP)
            break;
        bool fits = true, joined = !step->reached;
        for (uint32_t at = from; at < last && fits; at++) {
            uint32_t target = step_at(body, at)->target;
            fits = target == step->target || target == last + 1 || (target > at && target <= last);
            joined |= target == last;
        }
        if (!joined)
            break;
        if (fits)
            best = last + 1;
    }
    return best;
}

// ---- switch ----

static uint32_t parse_switch(struct body *body, const struct range *range, uint32_t from,
                             uint32_t behind)
{
    uint32_t last = tree_mark_cases(body, from, behind), end = NO_STEP;
    // `break` leads behind everything.
    for (uint32_t i = behind; i < range->end && (i < last || end == NO_STEP); i++) {
        const struct step *step = step_at(body, i);
        if (step->kind == STEP_JUMP && step->target != NO_STEP && step->target >= last &&
            step->target > i && (end == NO_STEP || step->target < end))
            end = step->target;
        if (i >= last && end == NO_STEP && i > last)
            break;
    }
    if (end == NO_STEP)
        end = last;
    if (end > range->end)
        end = range->end;
    if (end < behind)
        end = behind;
    uint32_t node = new_node(body, NODE_SWITCH, range->block, from, end);
    if (body->failed)
        return end;
    body->nodes.items[node].condition_end = behind;
    uint32_t inner =
        parse_inner(body, range, node, false,
                    (struct range){.begin = behind, .end = end, .after = end, .header = NO_STEP});
    if (!body->failed)
        body->nodes.items[node].then = inner;
    return end;
}

// ---- if ----

static uint32_t note_jump(struct body *body, const struct range *range, uint32_t from,
                          uint32_t behind, uint32_t target)
{
    uint32_t node = new_node(body, NODE_IF, range->block, from, behind);
    if (!body->failed) {
        struct node *made = &body->nodes.items[node];
        made->condition_end = behind;
        made->yes = target;
        made->no = behind;
        made->jump = true;
    }
    return behind;
}

// gcc lets the jump behind an `if` lead on to where `break` does, which stands behind the `if` and
// the `else`: both parts end with the same jump. Returns the second one, or NO_STEP.
static uint32_t find_threaded_else(const struct body *body, const struct range *range,
                                   uint32_t otherwise)
{
    const struct step *jump = step_at(body, otherwise - 1);
    uint32_t last = otherwise;
    if (jump->kind != STEP_JUMP || jump->target == NO_STEP)
        return NO_STEP;
    for (;; last++) {
        if (last >= range->end || last - otherwise > MANY_STEPS || step_at(body, last)->label)
            return NO_STEP;
        const struct step *step = step_at(body, last);
        if (last > otherwise && step->kind == STEP_JUMP && step->target == jump->target)
            break;
    }
    for (uint32_t i = otherwise; i < last; i++) {
        uint32_t target = step_at(body, i)->target;
        if (target != NO_STEP && target != jump->target && (target < otherwise || target > last))
            return NO_STEP;
    }
    return last; // the jump is the `break` itself
}

// Whether what follows a jump to the end of the block is most likely an `else`: it is short, or one
// `if` after the other, each of which ends with the same jump.
static bool is_like_else(const struct body *body, uint32_t from, uint32_t end, uint32_t target)
{
    while (end - from > MANY_STEPS) {
        if (step_at(body, from)->kind != STEP_BRANCH)
            return false;
        uint32_t behind = find_chain(body, from, end);
        uint32_t next = step_at(body, behind - 1)->target;
        if (next == NO_STEP || next <= behind || next > end ||
            step_at(body, next - 1)->kind != STEP_JUMP || step_at(body, next - 1)->target != target)
            return next == end || next == target;
        from = next;
    }
    return true;
}

// Where the part behind `else` ends; `otherwise` if there is none.
static uint32_t find_else(const struct body *body, const struct range *range, uint32_t then,
                          uint32_t otherwise)
{
    if (otherwise <= then + 1 || otherwise >= range->end)
        return otherwise;
    const struct step *jump = step_at(body, otherwise - 1);
    uint32_t threaded = find_threaded_else(body, range, otherwise);
    if (threaded != NO_STEP)
        return threaded;
    if (jump->kind != STEP_JUMP || jump->target == NO_STEP || jump->target <= otherwise ||
        step_is_landing(body, jump->target))
        return otherwise;
    uint32_t end = jump->target;
    if (end > range->end && tree_is_same_place(body, end, range->after))
        end = range->end;
    if (end > range->end ||
        (end == range->end && !is_like_else(body, otherwise, end, jump->target)))
        return otherwise; // break, continue or return
    for (uint32_t i = otherwise; i < end; i++)
        if (step_at(body, i)->label)
            return otherwise; // the break of a case
    return end;
}

static uint32_t parse_if(struct body *body, const struct range *range, uint32_t from)
{
    uint32_t behind = find_chain(body, from, range->end);
    uint32_t otherwise = step_at(body, behind - 1)->target;
    // A jump to a loop's condition may stand for one to the jump that enters the loop.
    uint32_t entry = otherwise != NO_STEP ? body->entry.items[otherwise] : NO_STEP;
    if (entry != NO_STEP && entry >= behind && entry < range->end)
        otherwise = entry;
    if (otherwise == NO_STEP || otherwise < behind || step_is_landing(body, otherwise))
        return note_jump(body, range, from, behind, otherwise);
    if (otherwise > range->end) {
        if (!tree_is_same_place(body, otherwise, range->after))
            return note_jump(body, range, from, behind, otherwise);
        otherwise = range->end;
    }
    uint32_t end = find_else(body, range, behind, otherwise);
    uint32_t node = new_node(body, NODE_IF, range->block, from, end);
    if (body->failed)
        return end;
    struct node *made = &body->nodes.items[node];
    made->condition_end = behind;
    made->yes = behind;
    made->no = otherwise;
    uint32_t then_end = end > otherwise ? otherwise - 1 : otherwise;
    uint32_t after = end == range->end ? range->after : end;
    uint32_t inner = parse_inner(
        body, range, node, false,
        (struct range){.begin = behind, .end = then_end, .after = after, .header = NO_STEP});
    if (body->failed || body->odd)
        return end;
    body->nodes.items[node].then = inner;
    if (end == otherwise)
        return end;
    inner = parse_inner(
        body, range, node, false,
        (struct range){.begin = otherwise, .end = end, .after = after, .header = NO_STEP});
    if (!body->failed)
        body->nodes.items[node].otherwise = inner;
    return end;
}

// ---- loops ----

// The store that a step ends with, if it is to a variable.
static const struct isa_insn *assigned(const struct body *body, uint32_t step)
{
    const struct step *at = step_at(body, step);
    if (at->kind != STEP_ASSIGN || at->effect == UINT32_MAX)
        return NULL;
    const struct isa_insn *insn = insn_at(body, at->effect);
    bool variable = (insn->flags & ISA_MEMORY) != 0 && insn->index == ISA_NONE &&
                    (insn->base == ISA_FRAME || insn->base == ISA_PC);
    return variable ? insn : NULL;
}

static bool is_same_variable(const struct isa_insn *a, const struct isa_insn *b)
{
    return (b->flags & ISA_MEMORY) != 0 && a->base == b->base && a->index == b->index &&
           a->displacement == b->displacement;
}

static bool touches(const struct body *body, uint32_t from, uint32_t end,
                    const struct isa_insn *variable)
{
    for (uint32_t s = from; s < end; s++)
        for (uint32_t i = step_at(body, s)->first; i < step_at(body, s)->end; i++)
            if (is_same_variable(variable, insn_at(body, i)))
                return true;
    return false;
}

struct loop {
    uint32_t first, end;               // steps
    uint32_t body, body_end;           //
    uint32_t condition, condition_end; //
    uint32_t before;                   // the step before it, or NO_STEP
};

// The assignment to a variable among those that end with a step; NO_STEP if there is none.
static uint32_t find_assignment(const struct body *body, uint32_t last,
                                const struct isa_insn *variable)
{
    for (uint32_t i = 0; i < MOST_IN_HEADING && i <= last; i++) {
        const struct isa_insn *at = assigned(body, last - i);
        if (at == NULL)
            break;
        if (is_same_variable(variable, at))
            return last - i;
    }
    return NO_STEP;
}

static void mark_heading(struct body *body, uint32_t block, uint32_t first, uint32_t last)
{
    for (uint32_t s = first; s <= last; s++) {
        struct step *step = step_at(body, s);
        if (step->heading)
            continue;
        step->heading = true;
        if (step->node != UINT32_MAX && body->nodes.items[step->node].block == block)
            body->blocks.items[block].nodes--;
    }
}

// A loop is a `for` if a variable is assigned before it, read in the condition and assigned at the
// end of the body. Commas may join these assignments with others, which stand behind them.
static void find_heading(struct body *body, uint32_t block, const struct loop *loop)
{
    uint32_t last = loop->body_end - 1;
    for (uint32_t i = 0; i < MOST_IN_HEADING && last - i >= loop->body; i++) {
        const struct isa_insn *variable = assigned(body, last - i);
        if (variable == NULL)
            return;
        uint32_t first =
            loop->before != NO_STEP ? find_assignment(body, loop->before, variable) : NO_STEP;
        if (first == NO_STEP || !touches(body, loop->condition, loop->condition_end, variable))
            continue;
        mark_heading(body, block, last - i, last);
        mark_heading(body, block, first, loop->before);
        return;
    }
}

static uint32_t parse_loop(struct body *body, const struct range *range, const struct loop *loop)
{
    uint32_t node = new_node(body, NODE_LOOP, range->block, loop->first, loop->end);
    if (body->failed)
        return loop->end;
    struct node *made = &body->nodes.items[node];
    made->condition = loop->condition;
    made->condition_end = loop->condition_end;
    made->yes = loop->body;
    made->no = loop->end;
    bool tested_first = loop->condition_end > loop->condition &&
                        (loop->condition < loop->body || loop->first < loop->body);
    if (loop->body_end > loop->body && tested_first)
        find_heading(body, range->block, loop);
    uint32_t inner = parse_inner(body, range, node, true,
                                 (struct range){.begin = loop->body,
                                                .end = loop->body_end,
                                                .after = loop->body_end,
                                                .header = loop->body});
    if (!body->failed)
        body->nodes.items[node].then = inner;
    return loop->end;
}

// A loop that is entered at its beginning.
static uint32_t parse_header(struct body *body, const struct range *range, uint32_t from,
                             uint32_t before)
{
    uint32_t last = body->back.items[from];
    struct loop loop = {from, last + 1, from, last, from, from, before};
    const struct step *first = step_at(body, from);
    if (step_at(body, last)->kind == STEP_JUMP && first->kind == STEP_BRANCH &&
        first->target != NO_STEP) {
        uint32_t behind = find_chain(body, from, last);
        uint32_t exit = step_at(body, behind - 1)->target;
        bool over = behind < last && step_at(body, behind)->kind == STEP_JUMP &&
                    exit == behind + 1 && step_at(body, behind)->target > last;
        if (over)
            behind++; // jcc body; jmp exit
        if (over || (exit != NO_STEP && exit > last)) {
            loop.condition_end = loop.body = behind;
        }
    } else if (step_at(body, last)->kind == STEP_BRANCH) { // do
        uint32_t at = last;
        while (at > from + 1 && step_at(body, at - 1)->kind == STEP_BRANCH) {
            uint32_t target = step_at(body, at - 1)->target;
            if (target != from && target != last + 1 && !(target > at - 1 && target <= last))
                break;
            at--;
        }
        loop.body_end = loop.condition = at;
        loop.condition_end = last + 1;
    }
    return parse_loop(body, range, &loop);
}

// jmp condition; body: ...; condition: ...; jcc body
static bool is_entered_below(const struct body *body, const struct range *range, uint32_t at)
{
    const struct step *jump = step_at(body, at);
    if (jump->kind != STEP_JUMP || at + 1 >= range->end || jump->target == NO_STEP)
        return false;
    uint32_t last = body->back.items[at + 1];
    return last != NO_STEP && last < range->end && jump->target > at + 1 && jump->target <= last &&
           step_at(body, last)->kind == STEP_BRANCH;
}

// ---- all ----

static bool is_structural(const struct body *body, const struct range *range, uint32_t at)
{
    const struct step *jump = step_at(body, at);
    if (jump->target == NO_STEP)
        return false;
    if (jump->target == at + 1)
        return true;
    if (at + 1 == range->end && !step_is_landing(body, jump->target) &&
        tree_is_same_place(body, jump->target, range->after))
        return true;
    // over a place that break and continue lead to
    return at + 1 < body->steps.count && step_is_landing(body, at + 1) &&
           tree_is_same_place(body, jump->target, at + 1);
}

static uint32_t parse_one(struct body *body, const struct range *range, uint32_t at,
                          uint32_t before)
{
    const struct step *step = step_at(body, at);
    uint32_t last = body->back.items[at];
    if (last != NO_STEP && last >= at && last < range->end && at != range->header)
        return parse_header(body, range, at, before);
    if (is_entered_below(body, range, at)) {
        uint32_t end = body->back.items[at + 1] + 1;
        return parse_loop(body, range,
                          &(struct loop){at, end, at + 1, step->target, step->target, end, before});
    }
    switch (step->kind) {
    case STEP_BRANCH: {
        uint32_t behind = at + 1;
        if (at + 1 >= range->end || step_at(body, at + 1)->kind != STEP_SWITCH)
            behind = tree_find_cases(body, at, range->end);
        else
            behind++;
        return behind > at ? parse_switch(body, range, at, behind) : parse_if(body, range, at);
    }
    case STEP_SWITCH: {
        bool chain = insn_at(body, step->end - 1)->kind == ISA_BRANCH; // behind it: to `default`
        uint32_t behind = at + 1;
        if (chain && behind < range->end && step_at(body, behind)->kind == STEP_JUMP)
            behind++;
        return parse_switch(body, range, at, behind);
    }
    case STEP_JUMP:
        if (is_structural(body, range, at))
            return at + 1;
        break;
    case STEP_NOTHING:
    case STEP_TAIL:
        return at + 1;
    default:
        break;
    }
    uint32_t node = new_node(body, NODE_STATEMENT, range->block, at, at + 1);
    if (step_at(body, at)->heading && !body->failed)
        body->blocks.items[range->block].nodes--; // it is part of the `for`
    step_at(body, at)->node = node;
    step_at(body, at)->block = range->block;
    return at + 1;
}

static void parse(struct body *body, struct range range)
{
    uint32_t before = NO_STEP;
    for (uint32_t at = range.begin; at < range.end && !body->failed && !body->odd;) {
        uint32_t next = parse_one(body, &range, at, before);
        before = step_at(body, at)->kind != STEP_NOTHING ? at : before;
        at = next > at ? next : at + 1;
    }
}

void tree_build(struct body *body)
{
    uint32_t *back = ARRAY_ADD_MANY(&body->back, body->steps.count + 1);
    uint32_t *entry = ARRAY_ADD_MANY(&body->entry, body->steps.count + 1);
    if (back == NULL || entry == NULL) {
        body->failed = true;
        return;
    }
    for (size_t s = 0; s <= body->steps.count; s++)
        back[s] = entry[s] = NO_STEP;
    for (uint32_t s = 0; s < body->steps.count; s++) {
        uint32_t target = step_at(body, s)->target;
        if (target != NO_STEP && target <= s && step_at(body, s)->kind != STEP_TAIL)
            back[target] = s;
    }
    for (uint32_t s = 0; s + 1 < body->steps.count; s++) {
        uint32_t target = step_at(body, s)->target;
        if (step_at(body, s)->kind == STEP_JUMP && target != NO_STEP && target > s + 1 &&
            back[s + 1] != NO_STEP && target <= back[s + 1])
            entry[target] = s;
    }
    uint32_t block = new_block(body, UINT32_MAX, false);
    uint32_t end = (uint32_t)body->steps.count;
    while (end > 0 && step_at(body, end - 1)->kind == STEP_TAIL)
        end--;
    if (!body->failed)
        parse(body, (struct range){.block = block, .end = end, .after = end, .header = NO_STEP});
    if (!body->failed && !body->odd)
        tree_mark_labels(body);
}
