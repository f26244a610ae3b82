// SPDX-License-Identifier: GPL-3.0-or-later
// Searches a function backwards from each of its returns until the result, errno and effects are
// known. Runs the list of open states, block by block.
#include "profile/search.h"

#include "base/cleanup.h"
#include "profile/search-internal.h"

#define WATCH_STACK        (1u << 31)
#define MOST_STATES(insns) (2000 + 8 * (uint64_t)(insns))
#define PRECISE(insns)     (500 + (uint64_t)(insns)) // states before conditions are ignored
#define SETTER             48                        // instructions
#define BARE               4                         // likewise

static void search_deinit(struct search *search)
{
    ARRAY_DEINIT(&search->work);
    map_deinit(&search->seen);
    ARRAY_DEINIT(&search->taken);
}

static bool is_over(const struct search *search, const struct search_state *state)
{
    if (state->result.state != TRACKED_VALUE)
        return false;
    if (value_is_open(&state->result.value))
        return !search->setter;
    bool error_known = !search->errors || state->error.state == TRACKED_VALUE;
    bool possible = state->known_count == 0 || state->blocks > CONDITION_BLOCKS;
    bool settled = search_state_came_after(state) || state->blocks > CONDITION_BLOCKS ||
                   search->coarse || state->result.value.kind != VALUE_CONSTANT ||
                   state->result.value.number < 0;
    return error_known && possible && settled && state->stored.state == TRACKED_NOTHING &&
           !search_state_is_near(state);
}

static uint32_t watch(struct place place)
{
    return place.kind == PLACE_STACK   ? WATCH_STACK
           : place.kind == PLACE_ERROR ? 0
                                       : 1u << place.reg;
}

// A mask of the registers that the state needs, with WATCH_STACK if it needs stack slots.
static uint32_t watched(const struct search_state *state)
{
    uint32_t mask = 0;
    const struct tracked *tracked[] = {&state->result, &state->error, &state->stored};
    for (unsigned i = 0; i < 3; i++)
        if (tracked[i]->state == TRACKED_PLACE)
            mask |= watch(tracked[i]->place);
    for (unsigned i = 0; i < state->known_count; i++)
        mask |= watch(state->known[i].place);
    return mask;
}

// Whether an instruction may change what the state needs. Most do not.
static bool concerns(const struct search_state *state, const struct isa_insn *insn, uint32_t at,
                     uint32_t mask)
{
    switch (insn->kind) {
    case ISA_CALL:
    case ISA_CALL_INDIRECT:
    case ISA_SYSCALL:
    case ISA_STORE:
    case ISA_STORE_CONSTANT:
        return true;
    case ISA_PUSH:
    case ISA_SET:
        if ((mask & WATCH_STACK) != 0)
            return true;
        break;
    default:
        break;
    }
    if ((insn->writes & mask) != 0)
        return true;
    for (unsigned i = 0; i < state->pending_count; i++)
        if (state->pending[i].insn == at)
            return true;
    return false;
}

// At the function's beginning, a place is an argument, errno or unknown.
static void set_argument(struct search *search, struct tracked *tracked)
{
    if (tracked->state != TRACKED_PLACE)
        return;
    int argument = place_argument(tracked->place);
    bool error = tracked->place.kind == PLACE_ERROR;
    tracked_set(search, tracked,
                error          ? (struct value){.kind = VALUE_ERROR}
                : argument < 0 ? (struct value){.kind = VALUE_OTHER}
                               : (struct value){.kind = VALUE_ARGUMENT, .number = argument});
}

static bool comes_back(const struct flow_image *image, uint32_t number)
{
    const struct flow_block *block = &image->blocks.items[number];
    return block->end != FLOW_CALLS || flow_callee_returns(image, block->callee);
}

// Whether a block leaves the flags as they are. Only short blocks are looked at.
static bool keeps_flags(const struct flow_image *image, const struct flow_block *block)
{
    for (uint32_t i = 0; i < block->count; i++)
        if (i == BARE || (image->insns.items[block->first + i].flags & ISA_FLAGS) != 0)
            return false;
    return true;
}

// Goes to the end of a preceding block. *ret_fresh: no state like this was there before.
static struct error *enter_before(struct search *search, struct search_state *state,
                                  struct flow_edge edge, bool *ret_fresh)
{
    const struct flow_image *image = search->image;
    const struct flow_block *before = &image->blocks.items[edge.block];
    state->block = edge.block;
    state->at = before->first + before->count;
    state->pending_count = 0;
    // Calls in a row, such as those that report errors, do not count as distance.
    if (state->result.state == TRACKED_VALUE && state->blocks <= CONDITION_BLOCKS &&
        (before->end != FLOW_CALLS || search_state_is_near(state)))
        state->blocks++;
    const struct isa_insn *last = &image->insns.items[state->at - 1];
    // Conditions near the return tell outcomes apart. Those further back only multiply states.
    bool tells = !search->coarse &&
                 (state->result.state == TRACKED_PLACE || state->blocks <= CONDITION_BLOCKS);
    if (search->coarse)
        search_state_simplify(state);
    uint8_t condition = ISA_IF_UNKNOWN, later = state->flags_hold;
    if (last->kind == ISA_BRANCH && edge.kind != FLOW_TABLE && last->condition < ISA_IF_UNKNOWN)
        condition = edge.kind == FLOW_TAKEN ? last->condition : last->condition ^ 1u;
    if (tells) {
        search_add_pending(search, state, state->at - 1, condition);
        search_add_pending(search, state, state->at, later);
    }
    // if (x < 0) …; else if (x == 0) …: the second branch has no comparison of its own.
    state->flags_hold = keeps_flags(image, before) ? condition : ISA_IF_UNKNOWN;
    // A block with one successor was not entered before in this state, so it is not looked up.
    // Loops have an exit, and there it is. Behind calls, the same state comes up several times.
    *ret_fresh = true;
    return before->out_count == 1 && before->end != FLOW_CALLS
               ? NULL
               : search_is_new(search, state, ret_fresh);
}

// Goes on to all preceding blocks. *ret_goes_on: the state itself goes on to the last of them, as
// if it had been pushed and popped. That saves a copy: states are large, and most blocks have one
// predecessor.
static struct error *go_before(struct search *search, struct search_state *state, bool *ret_goes_on)
{
    *ret_goes_on = false;
    const struct flow_image *image = search->image;
    const struct flow_block *block = &image->blocks.items[state->block];
    if (state->block == image->functions.items[search->function].first_block) {
        struct search_state over;
        search_state_copy(&over, state);
        over.at_entry = true;
        set_argument(search, &over.result);
        set_argument(search, &over.error);
        set_argument(search, &over.stored);
        search_state_settle_stored(&over);
        TRY(search_add_outcome(search, &over));
    } else if (block->in_count == 0) {
        if (state->result.state == TRACKED_VALUE)
            TRY(search_add_outcome(search, state));
    }
    const struct flow_edge *edges = &image->edges.items[block->edges_in];
    uint32_t count = block->in_count;
    while (count != 0 && !comes_back(image, edges[count - 1].block))
        count--;
    for (uint32_t i = 0; i + 1 < count; i++) {
        bool fresh;
        if (!comes_back(image, edges[i].block))
            continue;
        struct search_state next;
        search_state_copy(&next, state);
        TRY(enter_before(search, &next, edges[i], &fresh));
        if (fresh)
            TRY(search_push(search, &next));
    }
    return count != 0 ? enter_before(search, state, edges[count - 1], ret_goes_on) : NULL;
}

// Goes back through one block. *ret_goes_on is as in go_before().
static struct error *follow(struct search *search, struct search_state *state, bool *ret_goes_on)
{
    *ret_goes_on = false;
    const struct flow_block *block = &search->image->blocks.items[state->block];
    uint32_t mask = watched(state);
    while (state->at > block->first) {
        bool ended;
        state->at--;
        if (!concerns(state, &search->image->insns.items[state->at], state->at, mask))
            continue;
        TRY(search_step(search, state, state->at, &ended));
        if (ended)
            return NULL;
        mask = watched(state);
        if (is_over(search, state))
            return search_add_outcome(search, state);
    }
    if (is_over(search, state))
        return search_add_outcome(search, state);
    return go_before(search, state, ret_goes_on);
}

static struct error *start_at_end(struct search *search, uint32_t number)
{
    const struct flow_block *block = &search->image->blocks.items[number];
    struct search_state state = {
        .block = number,
        .at = block->first + block->count,
        .result = {.state = TRACKED_PLACE, .place = place_register(ISA_RETURN)},
        .flags_hold = ISA_IF_UNKNOWN,
        .result_block = FLOW_NONE};
    if (block->end == FLOW_RETURNS)
        return search_push(search, &state);
    if (block->end == FLOW_UNKNOWN) {
        bool known;
        TRY(search_apply_targets(search, &state, state.at - 1, &known));
        if (known)
            return NULL;
        search_note_pointer(search, &state, block, NULL);
        return search_add_outcome(search, &state);
    }
    // A tail call: the callee's results are this function's.
    const struct summary *callee = search->context->callee(search->context->data, block->callee);
    if (callee != NULL && callee->open)
        return NULL;
    search_note_pointer(search, &state, block, callee);
    if (callee == NULL || callee->outcomes.count == 0)
        return search_add_outcome(search, &state);
    search->computed = callee->computed;
    for (size_t i = 0; i < callee->outcomes.count; i++)
        TRY(search_apply_result(search, &state, callee, i, state.at - 1));
    return NULL;
}

// Whether a range of the function or anything it calls directly may set errno.
static bool range_may_set_error(const struct search *search, const struct flow_function *range)
{
    const struct flow_image *image = search->image;
    for (uint32_t i = 0; i < range->block_count; i++) {
        const struct flow_block *block = &image->blocks.items[range->first_block + i];
        for (uint32_t f = block->first; f < block->first + block->count; f++) {
            const struct isa_insn *insn = &image->insns.items[f];
            if (search_is_store(insn) && (insn->flags & ISA_THREAD) != 0)
                return true;
        }
        if (block->callee == FLOW_NONE)
            continue;
        if (search_is_errno_location(image, block->callee))
            return true;
        const struct summary *callee =
            search->context->callee(search->context->data, block->callee);
        for (size_t w = 0; callee != NULL && w < callee->outcomes.count; w++)
            if (callee->outcomes.items[w].sets_error)
                return true;
    }
    return false;
}

static struct error *start_range(struct search *search, const struct flow_function *range)
{
    for (uint32_t b = 0; b < range->block_count; b++) {
        uint8_t end = search->image->blocks.items[range->first_block + b].end;
        if (end == FLOW_RETURNS || end == FLOW_TAIL || end == FLOW_UNKNOWN)
            TRY(start_at_end(search, range->first_block + b));
    }
    return NULL;
}

// Whether zero is returned for another reason than that an argument is NULL.
static bool returns_zero(const struct summary *summary)
{
    for (size_t i = 0; i < summary->outcomes.count; i++) {
        const struct return_outcome *outcome = &summary->outcomes.items[i];
        if (outcome->result.kind == VALUE_CONSTANT && outcome->result.number == 0 &&
            (outcome->after & OUTCOME_AFTER_NULL) == 0)
            return true;
    }
    return false;
}

#define SHORT 256 // instructions

// Whether a function reads memory other than its frame and what has a fixed address; true if it is
// too long to look.
static bool reads(const struct flow_image *image, uint32_t number)
{
    const struct flow_function *function = &image->functions.items[number];
    if (function->insn_count > SHORT || function->next_part != FLOW_NONE)
        return true;
    for (uint32_t i = 0; i < function->insn_count; i++) {
        const struct isa_insn *insn = &image->insns.items[function->first_insn + i];
        if ((insn->flags & ISA_MEMORY) != 0 && insn->kind != ISA_ADDRESS &&
            insn->base != ISA_STACK && insn->base != ISA_FRAME && insn->base != ISA_PC &&
            insn->kind != ISA_NOTHING)
            return true;
    }
    return false;
}

struct error *search_function(const struct flow_image *image, uint32_t function,
                              const struct search_context *context, struct summary *summary)
{
    _cleanup_(search_deinit) struct search search = {
        .image = image, .context = context, .function = function, .summary = summary};
    const struct flow_function *functions = image->functions.items;
    uint64_t precise = 0;
    for (uint32_t f = function; f != FLOW_NONE; f = functions[f].next_part) {
        search.budget += MOST_STATES(functions[f].insn_count);
        precise += PRECISE(functions[f].insn_count);
        search.errors = !context->results_only &&
                        (search.errors || range_may_set_error(&search, &functions[f]));
    }
    summary->reads = reads(image, function);
    search.setter = functions[function].insn_count <= SETTER &&
                    functions[function].next_part == FLOW_NONE && !context->results_only;
    for (uint32_t f = function; f != FLOW_NONE; f = functions[f].next_part)
        TRY(start_range(&search, &functions[f]));
    struct search_state state;
    bool goes_on = false;
    while (goes_on || search.work.count != 0) {
        search.coarse = precise == 0;
        precise -= precise != 0;
        if (search.budget-- == 0) {
            summary->cut = true;
            break;
        }
        if (!goes_on)
            search_state_copy(&state, &search.work.items[--search.work.count]);
        TRY(follow(&search, &state, &goes_on));
    }
    // What is returned because it is not NULL is no failure, unless zero is a result, too: then it
    // may be a code.
    summary->through_pointer |= search.through_checked && returns_zero(summary);
    return NULL;
}
