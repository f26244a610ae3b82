// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a function: which values are needed where, where the prologue ends, what the function's end
// looks like, and whether its variables are in memory.
#include "mutate/binary/internal.h"

#include <string.h>

void body_deinit(struct body *body)
{
    ARRAY_DEINIT(&body->live);
    ARRAY_DEINIT(&body->live_in);
    ARRAY_DEINIT(&body->tail);
    ARRAY_DEINIT(&body->labelled);
    ARRAY_DEINIT(&body->apart);
    ARRAY_DEINIT(&body->step_of);
    ARRAY_DEINIT(&body->back);
    ARRAY_DEINIT(&body->entry);
    ARRAY_DEINIT(&body->steps);
    ARRAY_DEINIT(&body->locals);
    ARRAY_DEINIT(&body->nodes);
    ARRAY_DEINIT(&body->blocks);
}

uint32_t body_target(const struct body *body, const struct isa_insn *insn)
{
    if (insn->kind != ISA_JUMP && insn->kind != ISA_BRANCH)
        return UINT32_MAX;
    uint32_t target = flow_insn_at(body->code->image, (uint64_t)insn->value);
    return target >= body->first && target < body->end ? target : UINT32_MAX;
}

bool body_leads_to_tail(const struct body *body, const struct isa_insn *insn)
{
    uint32_t target = insn->kind == ISA_JUMP ? body_target(body, insn) : UINT32_MAX;
    return target != UINT32_MAX && body->tail.items[target - body->start];
}

// ---- what is needed where ----

// Whether the call before the function's end makes what the function returns.
static uint64_t result_of_call(const struct body *body, uint32_t call, uint64_t place)
{
    const struct isa_insn *insn = insn_at(body, call);
    if (body->code->marks_jumps)
        return insn[1].kind != ISA_NOTHING && insn[1].kind != ISA_JUMP &&
                       place == ISA_USE_GENERAL(ISA_RETURN)
                   ? place
                   : 0;
    uint32_t callee = insn->kind == ISA_CALL
                          ? flow_callee_at(body->code->image, (uint64_t)insn->value)
                          : FLOW_NONE;
    return callee != FLOW_NONE && !flow_callee_is_import(callee) &&
                   !body->code->called[body->function]
               ? body->code->results_read[callee] & place
               : 0;
}

// The register, of two, that holds what the function returns. Callers show it; else it is what an
// instruction right before the end writes.
static uint64_t decide_result(const struct body *body)
{
    uint64_t result = body->code->results_read[body->function], called = 0;
    for (uint32_t i = body->first; i + 1 < body->end && result == 0; i++) {
        if (body->tail.items[i - body->start] || (!body->tail.items[i + 1 - body->start] &&
                                                  !body_leads_to_tail(body, insn_at(body, i + 1))))
            continue;
        uint64_t written = use_at(body, i)->writes & RESULT;
        if (!insn_is_call(insn_at(body, i)))
            result = written;
        else
            called |= result_of_call(body, i, ISA_USE_GENERAL(ISA_RETURN));
    }
    return result != 0 ? result : called;
}

// A compiler that knows a function of the same module may keep values in registers that others
// change.
uint64_t body_writes(const struct body *body, uint32_t insn)
{
    uint64_t writes = use_at(body, insn)->writes;
    return body->optimised && insn_is_call(insn_at(body, insn)) ? writes & CHANGED_FOR_SURE
                                                                : writes;
}

static uint64_t before(const struct body *body, uint32_t insn, uint64_t needed)
{
    const struct isa_use *use = use_at(body, insn);
    if (insn_at(body, insn)->kind == ISA_RET)
        return body->returned;
    return (needed & ~body_writes(body, insn)) | use->reads;
}

static uint64_t needed_after_block(const struct body *body, const struct flow_block *block,
                                   uint32_t first_block)
{
    const struct flow_image *image = body->code->image;
    uint64_t needed = 0;
    for (uint32_t i = 0; i < block->out_count; i++) {
        uint32_t to = image->edges.items[block->edges_out + i].block;
        if (to >= first_block && to - first_block < body->live_in.count)
            needed |= body->live_in.items[to - first_block];
    }
    return needed;
}

static void find_live(struct body *body)
{
    const struct flow_image *image = body->code->image;
    const struct flow_function *function = &image->functions.items[body->function];
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = function->block_count; b-- > 0;) {
            const struct flow_block *block = &image->blocks.items[function->first_block + b];
            uint64_t needed = needed_after_block(body, block, function->first_block);
            for (uint32_t i = block->first + block->count; i-- > block->first;) {
                body->live.items[i - body->start] = needed;
                needed = before(body, i, needed);
            }
            changed |= body->live_in.items[b] != needed;
            body->live_in.items[b] = needed;
        }
    }
}

// Where arguments are on the stack: no statement begins there.
static void find_pushed(struct body *body)
{
    const struct flow_image *image = body->code->image;
    const struct flow_function *function = &image->functions.items[body->function];
    int32_t usual = FLOW_LOST;
    for (uint32_t b = 0; b < function->block_count; b++) {
        const struct flow_block *block = &image->blocks.items[function->first_block + b];
        int32_t stack = block->stack, frame = block->frame;
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            flow_move_stack(&image->insns.items[i], &stack, &frame);
            if (i + 1 == body->first)
                usual = stack;
            body->apart.items[i - body->start] =
                i >= body->first && usual != FLOW_LOST && stack != FLOW_LOST && stack < usual;
        }
    }
}

// ---- all ----

static bool make_room(struct body *body, size_t insns, size_t blocks)
{
    body->live.count = body->live_in.count = body->tail.count = body->apart.count = 0;
    body->step_of.count = body->back.count = body->entry.count = body->labelled.count = 0;
    body->steps.count = body->locals.count = body->nodes.count = body->blocks.count = 0;
    body->failed = body->odd = false;
    uint64_t *live_in = ARRAY_ADD_MANY(&body->live_in, blocks + 1);
    bool *tail = ARRAY_ADD_MANY(&body->tail, insns + 1);
    bool *apart = ARRAY_ADD_MANY(&body->apart, insns + 1);
    uint8_t *labelled = ARRAY_ADD_MANY(&body->labelled, insns + 1);
    body->failed = ARRAY_ADD_MANY(&body->live, insns + 1) == NULL || live_in == NULL ||
                   tail == NULL || apart == NULL || labelled == NULL ||
                   ARRAY_ADD_MANY(&body->step_of, insns + 1) == NULL;
    if (body->failed)
        return false;
    memset(live_in, 0, (blocks + 1) * sizeof *live_in);
    memset(tail, 0, (insns + 1) * sizeof *tail);
    memset(apart, 0, (insns + 1) * sizeof *apart);
    memset(labelled, 0, (insns + 1) * sizeof *labelled);
    return true;
}

// Registers of the caller's that are needed across a jump back hold variables that the programmer
// wants in registers.
static void find_register_variables(struct body *body)
{
    for (uint32_t i = body->first; i < body->end; i++) {
        const struct isa_insn *insn = insn_at(body, i);
        if ((insn->kind == ISA_BRANCH || insn->kind == ISA_JUMP) &&
            (uint64_t)insn->value <= flow_address(body->code->image, insn))
            body->variables |= body->live.items[i - body->start] & CALLEE_SAVED;
    }
}

// Whether the function has put all its arguments into the frame before it does anything else.
static bool stores_arguments(const struct body *body)
{
    const uint64_t arguments = ISA_USE_GENERAL(1) | ISA_USE_GENERAL(2) | ISA_USE_GENERAL(4) |
                               ISA_USE_GENERAL(5) | ISA_USE_GENERAL(8) | ISA_USE_GENERAL(9);
    bool any = false;
    for (size_t i = 0; i < body->locals.count; i++)
        any |= body->locals.items[i].parameter;
    return any && body->first > body->start &&
           (body->live.items[body->first - 1 - body->start] & arguments) == 0;
}

// Values that are needed across a jump: a few in ?: and &&, nearly everywhere in optimised code.
static bool is_optimised(const struct body *body)
{
    unsigned jumps = 0, carrying = 0;
    if (stores_arguments(body))
        return false;
    for (uint32_t i = body->first; i < body->end; i++) {
        const struct isa_insn *insn = insn_at(body, i);
        if (insn->kind != ISA_BRANCH && insn->kind != ISA_JUMP)
            continue;
        jumps++;
        carrying +=
            (body->live.items[i - body->start] & ~NOT_TEMPORARY & ~RESULT & ~body->variables) != 0;
    }
    return carrying > 2 && carrying * 4 > jumps;
}

// Whether a good part of the instructions work on variables in the frame: not optimised, although
// many values are needed across jumps.
static bool keeps_frame(const struct body *body)
{
    unsigned frame = 0;
    for (uint32_t i = body->first; i < body->end; i++)
        frame += (insn_at(body, i)->flags & ISA_MEMORY) != 0 && insn_at(body, i)->base == ISA_FRAME;
    return frame * 5 > body->end - body->first;
}

static bool begin(struct body *body, const struct code *code, uint32_t function)
{
    const struct flow_function *range = &code->image->functions.items[function];
    body->code = code;
    body->result = 0;
    body->variables = 0;
    body->function = function;
    body->start = body->first = range->first_insn;
    body->end = range->first_insn + range->insn_count;
    body->optimised = false;
    return range->insn_count >= 4 && range->owner == function &&
           make_room(body, range->insn_count, range->block_count);
}

// Whether a function may return without having written rax: then it returns nothing there.
static bool leaves_result(const struct body *body)
{
    const struct flow_image *image = body->code->image;
    const struct flow_function *function = &image->functions.items[body->function];
    uint64_t *reached = body->live_in.items; // not used yet: blocks where rax may be as it was
    memset(reached, 0, function->block_count * sizeof *reached);
    reached[0] = 1;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < function->block_count; b++) {
            const struct flow_block *block = &image->blocks.items[function->first_block + b];
            bool kept = reached[b] != 0;
            for (uint32_t i = block->first; kept && i < block->first + block->count; i++) {
                if (insn_at(body, i)->kind == ISA_RET)
                    return true;
                kept = (use_at(body, i)->writes & ISA_USE_GENERAL(ISA_RETURN)) == 0;
            }
            for (uint32_t i = 0; kept && i < block->out_count; i++) {
                uint32_t to =
                    image->edges.items[block->edges_out + i].block - function->first_block;
                changed |= to < function->block_count && reached[to] == 0;
                if (to < function->block_count)
                    reached[to] = 1;
            }
        }
    }
    return false;
}

bool body_read_optimised(struct body *body, const struct code *code, uint32_t function)
{
    if (!begin(body, code, function))
        return false;
    body->optimised = true;
    // A function that is called from outside may return something.
    body->returned = code->called[function] ? code->results_read[function]
                     : leaves_result(body)  ? ISA_USE_VECTOR(0)
                                            : ISA_USE_GENERAL(ISA_RETURN);
    memset(body->live_in.items, 0, body->live_in.count * sizeof *body->live_in.items);
    find_live(body);
    return true;
}

bool body_read(struct body *body, const struct code *code, uint32_t function)
{
    if (!begin(body, code, function))
        return false;
    body->first = frame_begin(body, body->start, body->end);
    if (code->image->functions.items[function].next_part != FLOW_NONE)
        body->first = UINT32_MAX; // code that is seldom executed stands apart
    body->optimised = body->first == UINT32_MAX || body->first >= body->end;
    if (body->optimised)
        return false;
    while (body->end > body->first && (insn_at(body, body->end - 1)->kind == ISA_NOTHING ||
                                       insn_at(body, body->end - 1)->kind == ISA_STOP))
        body->end--; // padding
    frame_find_tails(body);
    for (uint32_t i = body->first; i < body->end; i++) {
        uint32_t target = body_target(body, insn_at(body, i));
        if (target != UINT32_MAX)
            body->labelled.items[target - body->start] |= target > i ? LABEL_FORWARD : LABEL_BACK;
    }
    frame_find_result(body);
    if (body->failed)
        return false;
    body->returned = decide_result(body);
    find_live(body);
    find_pushed(body);
    find_register_variables(body);
    if (is_optimised(body)) {
        body->optimised = !keeps_frame(body);
        return false;
    }
    steps_find(body);
    return !body->failed && !body->odd;
}
