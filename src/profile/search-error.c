// SPDX-License-Identifier: GPL-3.0-or-later
// Follows values that are read from errno, as `return -errno` does: back to where errno was set.
#include "profile/search-internal.h"

#include "base/cleanup.h"
#include "profile/origin.h"

// Whether an instruction reads or writes errno. What is found not to is remembered, as for stores.
static bool accesses_error(const struct search *search, const struct flow_block *block, uint32_t at)
{
    const struct isa_insn *insn = &search->image->insns.items[at];
    uint8_t *private = search->context->private_stores;
    if (search->context->results_only || (insn->flags & ISA_MEMORY) == 0 ||
        insn->displacement != 0 || insn->index != ISA_NONE || insn->base >= ISA_REGISTERS ||
        insn->base == ISA_STACK || (private[at / 8] >> at % 8 & 1) != 0)
        return false;
    struct origin origin = origin_of_memory(search->image, block, at, search->context);
    if (origin.kind == ORIGIN_UNKNOWN)
    private[at / 8] |= (uint8_t)(1u << at % 8);
    return origin.kind == ORIGIN_ERROR;
}

// errno was read into the place: errno itself, or a number minus errno.
static bool reads_error(const struct search *search, const struct flow_block *block, uint32_t at,
                        struct step *ret_step)
{
    const struct isa_insn *insn = &search->image->insns.items[at];
    const struct operation negate = {.kind = OPERATION_NEGATE, .width = 4};
    int64_t number = 0;
    bool subtracts = insn->kind == ISA_SUBTRACT_MEMORY &&
                     place_number(search->image, block, at, insn->dst, &number) && number == 0;
    if ((insn->kind != ISA_LOAD && !subtracts) || insn->width < 4 ||
        (insn->kind == ISA_LOAD && insn->from != 4) || !accesses_error(search, block, at))
        return false;
    *ret_step = (struct step){.kind = STEP_MOVED, .place = place_error()};
    if (subtracts)
        ret_step->operations[ret_step->operation_count++] = negate;
    return true;
}

static bool writes_error(const struct search *search, const struct flow_block *block, uint32_t at,
                         struct step *ret_step)
{
    const struct isa_insn *insn = &search->image->insns.items[at];
    if (!search_is_store(insn) || !accesses_error(search, block, at))
        return false;
    *ret_step = insn->kind == ISA_STORE_CONSTANT
                    ? (struct step){.kind = STEP_CONSTANT, .constant = insn->value}
                : insn->src != ISA_NONE
                    ? (struct step){.kind = STEP_MOVED, .place = place_register(insn->src)}
                    : (struct step){.kind = STEP_LOST};
    return true;
}

struct step search_place_step(const struct search *search, const struct flow_block *block,
                              uint32_t at, struct place place)
{
    struct step step = place_step(search->image, block, at, place), other;
    if (place.kind == PLACE_ERROR)
        return writes_error(search, block, at, &other) ? other : step;
    return step.kind == STEP_LOST && reads_error(search, block, at, &other) ? other : step;
}

bool search_error_bounds(const struct search *search, const struct flow_block *block, uint32_t at,
                         enum isa_condition condition, struct known_bounds *ret_bounds)
{
    const struct flow_image *image = search->image;
    uint32_t i = at;
    while (i > block->first && (image->insns.items[i - 1].flags & ISA_FLAGS) == 0)
        i--;
    if (i-- == block->first)
        return false;
    const struct isa_insn *insn = &image->insns.items[i];
    if (insn->kind != ISA_COMPARE || insn->src != ISA_NONE || insn->dst != ISA_NONE ||
        !accesses_error(search, block, i))
        return false;
    *ret_bounds = (struct known_bounds){.insn = i, .place = place_error()};
    return place_bounds_of(condition, insn->value, &ret_bounds->bounds);
}

bool search_is_errno_location(const struct flow_image *image, uint32_t callee)
{
    return flow_callee_is_import(callee) &&
           strcmp(image->imports.items[flow_callee_import(callee)].name, "__errno_location") == 0;
}

bool search_state_asks_error(const struct search_state *state)
{
    bool asks = tracked_in(&state->result, place_error());
    for (unsigned i = 0; i < state->known_count; i++)
        asks |= state->known[i].place.kind == PLACE_ERROR;
    return asks;
}

// What is known of errno.
static bool error_allows(const struct search *search, const struct search_state *state,
                         const struct value *value)
{
    for (unsigned i = 0; i < state->known_count; i++)
        if (state->known[i].place.kind == PLACE_ERROR &&
            !bounds_allow(&state->known[i].bounds, search->context->sets, value))
            return false;
    return true;
}

static void forget_error(struct search_state *state)
{
    for (unsigned i = 0; i < state->known_count;)
        if (state->known[i].place.kind == PLACE_ERROR)
            search_state_forget(state, i);
        else
            i++;
}

struct error *search_error_within(struct search *search, const struct search_state *state,
                                  struct value *value, bool *ret_possible)
{
    *ret_possible = error_allows(search, state, value);
    if (value_is_open(value))
        *value = (struct value){.kind = VALUE_ERRORS}; // some error number
    if (value->kind != VALUE_ERRORS || value->set == 0 || !*ret_possible)
        return NULL;
    struct error_set some = {0};
    const struct error_set all = search->context->sets->items.items[value->set];
    for (unsigned i = 1; i < ERROR_NUMBERS; i++) {
        struct value one = value_constant(i);
        if (error_set_has(&all, i) && error_allows(search, state, &one))
            error_set_add(&some, i);
    }
    return error_sets_put(search->context->sets, &some, &value->set);
}

void search_state_lose_error(const struct search *search, struct search_state *state)
{
    if (tracked_in(&state->result, place_error()))
        tracked_set(search, &state->result, (struct value){.kind = VALUE_ERRORS});
    forget_error(state);
}

void search_state_set_error(struct search *search, struct search_state *state, struct value value)
{
    if (tracked_in(&state->result, place_error()))
        tracked_take(search, &state->result, value);
    forget_error(state);
}
