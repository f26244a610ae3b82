// SPDX-License-Identifier: GPL-3.0-or-later
// Steps back over a call: forks the state for every outcome of the callee that fits what is known
// of its result.
#include "profile/search-internal.h"

#include "base/cleanup.h"
#include "profile/hints.h"
#include "profile/origin.h"

#define LARGEST_VARIABLE 128 // bytes of a variable whose address is taken

void tracked_clobber(struct tracked *tracked, uint32_t registers)
{
    if (tracked->state == TRACKED_PLACE && tracked->place.kind == PLACE_REGISTER &&
        (registers >> tracked->place.reg & 1) != 0)
        tracked_set_other(tracked);
}

void search_state_clobber_known(struct search_state *state, uint32_t registers)
{
    for (unsigned i = 0; i < state->known_count;)
        if (state->known[i].place.kind == PLACE_REGISTER &&
            (registers >> state->known[i].place.reg & 1) != 0)
            search_state_forget(state, i);
        else
            i++;
}

void search_state_clobber(struct search_state *state, uint32_t registers)
{
    tracked_clobber(&state->result, registers);
    tracked_clobber(&state->error, registers);
    tracked_clobber(&state->stored, registers);
    search_state_settle_stored(state);
    search_state_clobber_known(state, registers);
}

bool search_allows(const struct search *search, const struct search_state *state,
                   const struct value *value)
{
    for (unsigned i = 0; i < state->known_count; i++)
        if (place_equal(state->known[i].place, place_register(ISA_RETURN)) &&
            !bounds_allow(&state->known[i].bounds, search->context->sets, value))
            return false;
    return true;
}

static const struct bounds *known_result(const struct search_state *state)
{
    for (unsigned i = 0; i < state->known_count; i++)
        if (place_equal(state->known[i].place, place_register(ISA_RETURN)))
            return &state->known[i].bounds;
    return NULL;
}

static bool is_forced(const struct search *search, const struct return_outcome *outcome)
{
    return search->primitive || (outcome->after & OUTCOME_UNFORCED) == 0;
}

// Whether the callee fails in a way that leads here, and in no way that is not forced. A result
// that is not known and equals that of a failure is then one: what malloc() returns is NULL only if
// it failed.
static bool fails_forced(const struct search *search, const struct search_state *state,
                         const struct summary *callee)
{
    bool any = false;
    for (size_t i = 0; i < callee->outcomes.count; i++) {
        const struct return_outcome *outcome = &callee->outcomes.items[i];
        if (!outcome->fails || !search_allows(search, state, &outcome->result))
            continue;
        if (!is_forced(search, outcome))
            return false;
        any = true;
    }
    return any;
}

// Whether the path was taken because the callee failed, succeeded, or something unknown. That an
// unknown result equals some number is no sign of success.
static uint16_t came_after(const struct search *search, const struct search_state *state,
                           const struct return_outcome *outcome)
{
    const struct bounds *bounds = known_result(state);
    if (search_state_came_after(state))
        return state->after;
    bool exact = bounds != NULL && !bounds->outside && bounds->low == bounds->high;
    bool forced = outcome->fails
                      ? is_forced(search, outcome)
                      : exact && outcome->result.kind != VALUE_CONSTANT && search->fails_forced;
    unsigned after = state->after | (forced ? OUTCOME_FORCED : 0u);
    if (bounds == NULL) // the callee's result is returned, so what it does before counts, too
        return tracked_in(&state->result, place_register(ISA_RETURN))
                   ? (uint16_t)(after | (outcome->after & (OUTCOME_AFTER_REPORT | OUTCOME_GIVES)))
                   : state->after;
    bool vague = outcome->result.kind != VALUE_CONSTANT && !bounds->outside;
    return (uint16_t)(after | (outcome->fails ? OUTCOME_AFTER_FAILURE
                               : vague        ? OUTCOME_AFTER_ANYTHING
                                              : OUTCOME_AFTER_SUCCESS));
}

bool search_state_asks_result(const struct search_state *state)
{
    const struct place result = place_register(ISA_RETURN);
    return tracked_in(&state->result, result) || tracked_in(&state->error, result) ||
           tracked_in(&state->stored, result) || known_result(state) != NULL;
}

static struct value within(struct search *search, const struct search_state *state,
                           struct value value, struct error **error)
{
    // Of a set of error numbers, those that the conditions allow.
    if (value.kind != VALUE_ERRORS)
        return value;
    struct error_set some = {0};
    const struct error_set all = search->context->sets->items.items[value.set];
    for (unsigned i = 1; i < ERROR_NUMBERS; i++) {
        struct value one = value_constant(value.negative ? -(int64_t)i : (int64_t)i);
        if (error_set_has(&all, i) && search_allows(search, state, &one))
            error_set_add(&some, i);
    }
    *error = error_sets_put(search->context->sets, &some, &value.set);
    return value;
}

void tracked_take(struct search *search, struct tracked *tracked, struct value value)
{
    struct place place = place_error();
    const struct operation negate = {.kind = OPERATION_NEGATE, .width = 8},
                           call = {.kind = OPERATION_SYSTEM_CALL, .width = 8};
    bool is_call = value.kind == VALUE_CALL;
    bool argument = is_call || value.kind == VALUE_ARGUMENT || value.kind == VALUE_ERROR;
    if (!argument ||
        (value.kind != VALUE_ERROR && !place_of_argument((unsigned)value.number, &place)) ||
        tracked->operation_count + 2 > OPERATIONS) {
        tracked_set(search, tracked, argument ? (struct value){.kind = VALUE_OTHER} : value);
        return;
    }
    if (value.negative != is_call) // errors of system calls are negative already
        tracked->operations[tracked->operation_count++] = negate;
    if (is_call)
        tracked->operations[tracked->operation_count++] = call;
    tracked->state = TRACKED_PLACE;
    tracked->place = place;
}

// A tracked place is the call's result, or must have been saved across the call.
static void pass(struct search *search, struct tracked *tracked, struct value value)
{
    if (tracked_in(tracked, place_register(ISA_RETURN)))
        tracked_take(search, tracked, value);
    else
        tracked_clobber(tracked, PLACE_CLOBBERED);
}

// Effects of a callee are effects of this function, as far as its caller can see them.
static void add_effects(struct search *search, struct search_state *state,
                        const struct return_outcome *outcome, uint32_t at)
{
    static const uint8_t kinds[] = {[ORIGIN_ARGUMENT] = EFFECT_ARGUMENT,
                                    [ORIGIN_GLOBAL] = EFFECT_GLOBAL,
                                    [ORIGIN_THREAD] = EFFECT_THREAD,
                                    [ORIGIN_OWN_THREAD] = EFFECT_OWN_THREAD};
    const struct flow_block *block = &search->image->blocks.items[state->block];
    for (unsigned i = 0; i < outcome->effect_count; i++) {
        struct effect effect = outcome->effects[i];
        struct place place;
        if (effect.kind == EFFECT_ARGUMENT) {
            if (!place_of_argument(effect.argument, &place))
                continue;
            struct origin origin =
                origin_of_register(search->image, block, at, place.reg, search->context);
            if (origin.kind == ORIGIN_UNKNOWN || origin.kind == ORIGIN_ERROR)
                continue;
            effect.kind = kinds[origin.kind];
            effect.argument = origin.argument;
            effect.where += origin.where;
        } else if (flow_callee_is_import(block->callee)) {
            continue; // addresses are of another module
        }
        if (effect.source == 0)
            search_state_add_effect(state, &effect);
        else if (place_of_argument(effect.source - 1u, &place)) {
            effect.source = 0;
            search_state_follow_stored(state, &effect, place.reg);
        }
    }
}

// Whether the call's result is returned as it is.
static bool only_returns_result(const struct search_state *state)
{
    for (unsigned i = 0; i < state->result.operation_count; i++)
        if (state->result.operations[i].kind != OPERATION_EXTEND &&
            state->result.operations[i].kind != OPERATION_TRUNCATE)
            return false;
    return tracked_in(&state->result, place_register(ISA_RETURN));
}

// Whether the call is through an argument. Then callers know the callee.
static bool calls_argument(const struct search *search, const struct search_state *state,
                           uint32_t at, struct value *ret_value)
{
    const struct flow_block *block = &search->image->blocks.items[state->block];
    const struct isa_insn *insn = &search->image->insns.items[at];
    if (insn->kind != ISA_CALL_INDIRECT || (insn->flags & ISA_MEMORY) != 0 ||
        insn->src >= ISA_REGISTERS || !only_returns_result(state))
        return false;
    struct origin origin = origin_of_register(search->image, block, at, insn->src, search->context);
    *ret_value = (struct value){.kind = VALUE_CALLBACK, .number = origin.argument};
    return origin.kind == ORIGIN_ARGUMENT && origin.where == 0;
}

// The callee returns what the function returns that one of its arguments points to. Finds out which
// function the call passes, and applies its outcomes.
static struct error *apply_callback(struct search *search, const struct search_state *state,
                                    const struct return_outcome *outcome, uint32_t at)
{
    const struct flow_image *image = search->image;
    const struct flow_block *block = &image->blocks.items[state->block];
    struct origin origin = {.kind = ORIGIN_UNKNOWN};
    struct place place = {.kind = PLACE_STACK};
    struct return_outcome through = *outcome;
    through.result = (struct value){.kind = VALUE_OTHER};
    if (place_of_argument((unsigned)outcome->result.number, &place))
        origin = origin_of_register(image, block, at, place.reg, search->context);
    if (origin.kind == ORIGIN_ARGUMENT && origin.where == 0 && only_returns_result(state)) {
        struct search_state next;
        search_state_copy(&next, state);
        next.result.operation_count = 0;
        tracked_set(search, &next.result,
                    (struct value){.kind = VALUE_CALLBACK, .number = origin.argument});
        return search_apply_outcome(search, &next, &through, at);
    }
    // Only callbacks that order.c sees, too, and has searched before.
    uint32_t callee = place.kind == PLACE_REGISTER && origin.kind != ORIGIN_ARGUMENT
                          ? flow_handed_over(image, block, place.reg)
                          : FLOW_NONE;
    const struct summary *callback =
        callee != FLOW_NONE ? search->context->callee(search->context->data, callee) : NULL;
    for (size_t i = 0; callback != NULL && i < callback->outcomes.count; i++) {
        const struct return_outcome *inner = &callback->outcomes.items[i];
        bool plain = inner->result.kind == VALUE_CONSTANT || inner->result.kind == VALUE_ERRORS;
        through.result = plain ? inner->result : (struct value){.kind = VALUE_OTHER};
        through.fails = inner->fails;
        if (!outcome->sets_error && inner->error.kind <= VALUE_ERRORS) {
            through.sets_error = inner->sets_error;
            through.error = inner->error;
        }
        TRY(search_apply_outcome(search, state, &through, at));
    }
    return callback != NULL && callback->outcomes.count != 0
               ? NULL
               : search_apply_outcome(search, state, &through, at);
}

struct error *search_apply_outcome_when(struct search *search, const struct search_state *state,
                                        const struct return_outcome *outcome, uint32_t at,
                                        const struct known *condition)
{
    if (outcome->result.kind == VALUE_CALLBACK)
        return apply_callback(search, state, outcome, at);
    if (!search_allows(search, state, &outcome->result))
        return NULL;
    struct search_state next;
    search_state_copy(&next, state);
    next.after = came_after(search, state, outcome);
    struct error *error = NULL;
    struct value value = within(search, state, outcome->result, &error);
    TRY(error);
    const struct bounds *bounds = known_result(state);
    if (value.kind == VALUE_OTHER && bounds != NULL && bounds_exclude_null(bounds))
        value.kind = VALUE_POINTER;
    if (outcome->sets_error && search_state_asks_error(state)) {
        struct value number = outcome->error;
        bool possible;
        TRY(search_error_within(search, state, &number, &possible));
        if (!possible)
            return NULL;
        search_state_set_error(search, &next, number);
    }
    if (tracked_in(&state->result, place_register(ISA_RETURN)))
        next.taken = !search->computed;
    if (!tracked_in(&state->result, place_error()))
        pass(search, &next.result, value);
    if (value.kind == VALUE_ERROR) // only results are followed to errno
        value.kind = VALUE_OTHER;
    pass(search, &next.error, value);
    pass(search, &next.stored, value);
    search_state_settle_stored(&next);
    search_state_note_result(search, &next, at);
    if (search->errors && next.error.state == TRACKED_NOTHING && outcome->sets_error)
        tracked_take(search, &next.error, outcome->error);
    search_state_clobber_known(&next, PLACE_CLOBBERED);
    if (outcome->effect_count != 0 && search_state_is_near(&next) &&
        !search->context->results_only && !search->coarse)
        add_effects(search, &next, outcome, at);
    if (condition != NULL)
        search_state_add_known(&next, condition);
    next.at = at;
    return search_push(search, &next);
}

struct error *search_apply_outcome(struct search *search, const struct search_state *state,
                                   const struct return_outcome *outcome, uint32_t at)
{
    // Who returns the copy of what it was given has no failure if that is NULL: callers know what
    // they pass.
    bool null = state->result.state == TRACKED_VALUE &&
                state->result.value.kind == VALUE_CONSTANT && state->result.value.number == 0;
    if (outcome->asked && outcome->conditional && (null || only_returns_result(state))) {
        search->summary->asked |= only_returns_result(state);
        return NULL;
    }
    // Nor has who returns what a function returns that is called by mistake.
    if (outcome_is_misuse(outcome->after) && only_returns_result(state))
        return NULL;
    struct known condition = {.bounds = outcome->when};
    bool told = outcome->conditional && place_of_argument(outcome->argument, &condition.place);
    return search_apply_outcome_when(search, state, outcome, at, told ? &condition : NULL);
}

// The only outcome of a function, if it has one and that has effects.
static const struct return_outcome *only_effect(const struct summary *callee)
{
    const struct return_outcome *found = NULL;
    for (size_t i = 0; callee != NULL && i < callee->outcomes.count; i++) {
        const struct return_outcome *outcome = &callee->outcomes.items[i];
        if (found != NULL || (!outcome->sets_error && outcome->effect_count == 0))
            return NULL;
        found = outcome;
    }
    return found;
}

static bool asks_stack(const struct search_state *state)
{
    bool asks = state->result.state == TRACKED_PLACE && state->result.place.kind == PLACE_STACK;
    for (unsigned i = 0; i < state->known_count; i++)
        asks |= state->known[i].place.kind == PLACE_STACK;
    return asks;
}

static bool lies_in(struct place place, struct place variable)
{
    return place.kind == PLACE_STACK && place.slot >= variable.slot &&
           place.slot < variable.slot + LARGEST_VARIABLE;
}

// Whether an instruction takes the address of a local variable.
static bool takes_address(const struct flow_image *image, const struct flow_block *block,
                          uint32_t at, int32_t stack, struct place *ret_variable)
{
    const struct isa_insn *insn = &image->insns.items[at];
    *ret_variable = (struct place){.kind = PLACE_STACK, .slot = stack};
    if (insn->dst == ISA_STACK)
        return false;
    return insn->kind == ISA_COPY
               ? insn->src == ISA_STACK && insn->dst != ISA_FRAME && stack != FLOW_LOST
               : insn->kind == ISA_ADDRESS && place_of_memory(image, block, at, ret_variable);
}

static struct error *find_taken(struct search *search)
{
    const struct flow_image *image = search->image;
    search->taken_known = true;
    for (uint32_t f = search->function; f != FLOW_NONE; f = image->functions.items[f].next_part) {
        const struct flow_function *range = &image->functions.items[f];
        for (uint32_t b = range->first_block; b < range->first_block + range->block_count; b++) {
            const struct flow_block *block = &image->blocks.items[b];
            int32_t stack = block->stack, frame = block->frame;
            for (uint32_t i = block->first; i < block->first + block->count; i++) {
                struct place variable;
                bool takes = takes_address(image, block, i, stack, &variable);
                flow_move_stack(&image->insns.items[i], &stack, &frame);
                int32_t *added = takes ? ARRAY_ADD(&search->taken) : NULL;
                if (takes && added == NULL)
                    return error_no_memory();
                if (takes)
                    *added = variable.slot;
            }
        }
    }
    return NULL;
}

// If the result is in a variable whose address is taken, perhaps far from here, it may be what the
// callee stores there, which is unknown, or what was there.
static struct error *give_up_taken(struct search *search, const struct search_state *state)
{
    if (state->result.state != TRACKED_PLACE || state->result.place.kind != PLACE_STACK)
        return NULL;
    if (!search->taken_known)
        TRY(find_taken(search));
    for (size_t i = 0; i < search->taken.count; i++) {
        if (search->taken.items[i] != state->result.place.slot)
            continue;
        struct search_state other;
        search_state_copy(&other, state);
        tracked_set_other(&other.result);
        return search_add_outcome(search, &other);
    }
    return NULL;
}

// A call may change a variable whose address was taken before it.
static struct error *forget_handed_over(struct search *search, struct search_state *state,
                                        uint32_t at)
{
    const struct flow_image *image = search->image;
    const struct flow_block *block = &image->blocks.items[state->block];
    int32_t stack = block->stack, frame = block->frame;
    for (uint32_t i = block->first; i < at; i++) {
        struct place variable;
        bool takes = takes_address(image, block, i, stack, &variable);
        flow_move_stack(&image->insns.items[i], &stack, &frame);
        for (unsigned k = 0; takes && k < state->known_count;)
            if (lies_in(state->known[k].place, variable))
                search_state_forget(state, k);
            else
                k++;
    }
    return give_up_taken(search, state);
}

// Whether nothing is known about a callee: it is called through a pointer, its library is missing,
// or it only returns what such a function returned.
static bool is_vague(const struct summary *callee)
{
    return callee == NULL || callee->outcomes.count == 0 ||
           (callee->outcomes.count == 1 && callee->outcomes.items[0].result.kind == VALUE_OTHER &&
            !callee->outcomes.items[0].sets_error && callee->outcomes.items[0].effect_count == 0);
}

// if ((r = callback()) < 0) return r: the condition proves that the result can be negative. One
// negative number stands for all.
static struct error *hand_on_negative(struct search *search, struct search_state *state,
                                      uint32_t at)
{
    const struct bounds *bounds = known_result(state);
    if (bounds == NULL || bounds->outside || bounds->low != INT64_MIN || bounds->high > 0 ||
        !only_returns_result(state))
        return NULL;
    struct search_state negative;
    search_state_copy(&negative, state);
    negative.after |= search_state_came_after(state) ? 0 : OUTCOME_AFTER_FAILURE;
    tracked_set(search, &negative.result, value_constant(bounds->high < 0 ? bounds->high : -1));
    search_state_clobber(&negative, PLACE_CLOBBERED);
    search_state_note_result(search, &negative, at);
    negative.at = at;
    return search_push(search, &negative);
}

// p = allocate(n); if (p == NULL) return p: the condition proves that the result can be NULL. Who
// compares all 64 bits with 0 expects a pointer. Returns whether it was one.
static bool take_null(struct search *search, struct search_state *state,
                      const struct flow_block *block)
{
    const struct bounds *bounds = known_result(state);
    if (bounds == NULL || !bounds_say_null(bounds))
        return false;
    bool returned = only_returns_result(state);
    if (!returned && !hints_call_allocates(search->image, block, HINT_THROUGH))
        return false;
    if (returned)
        tracked_set(search, &state->result, value_constant(0));
    state->after |= search_state_came_after(state) ? 0 : OUTCOME_AFTER_FAILURE;
    return true;
}

// If the callee reports errors, then this path was taken because of an error, or of a mistake of
// the caller.
static void note_report(const struct search *search, struct search_state *state, uint32_t at)
{
    const struct search_context *context = search->context;
    const struct flow_block *block = &search->image->blocks.items[state->block];
    if (search_state_came_after(state) || block->callee == FLOW_NONE || context->reports == NULL)
        return;
    enum name_misuse misuse;
    struct place level;
    int64_t number;
    if (context->reports(context->data, block->callee, &misuse))
        state->after |= OUTCOME_AFTER_REPORT;
    if (misuse == NAME_MISUSE ||
        (misuse == NAME_MISUSE_LEVEL && place_of_argument(1, &level) &&
         place_number(search->image, block, at, level.reg, &number) && number == NAME_CRITICAL))
        state->after |= OUTCOME_MISUSE;
}

void search_note_pointer(struct search *search, const struct search_state *state,
                         const struct flow_block *block, const struct summary *callee)
{
    bool through = callee != NULL ? callee->through_pointer : block->callee == FLOW_NONE;
    bool returned = only_returns_result(state);
    const struct bounds *bounds = known_result(state);
    bool pointer = bounds != NULL && bounds_exclude_null(bounds);
    search->summary->through_pointer |= through && returned && !pointer;
    search->through_checked |= through && returned && pointer;
    search->summary->kept |= callee != NULL && callee->kept && returned;
}

// Whether errno is read because the callee failed: it may have set errno, and its result was looked
// at. After a success nobody reads errno.
static bool explains_error(const struct search_state *state, const struct summary *callee)
{
    for (size_t i = 0; i < callee->outcomes.count && tracked_in(&state->result, place_error()); i++)
        if (callee->outcomes.items[i].sets_error)
            return true;
    return false;
}

// Goes on in front of a call of which no outcome is known or needed.
static void step_over(struct search *search, struct search_state *state, uint32_t at,
                      const struct summary *callee, bool asks)
{
    const struct flow_block *block = &search->image->blocks.items[state->block];
    struct value callback;
    if (asks && !search->context->results_only && calls_argument(search, state, at, &callback)) {
        state->result.operation_count = 0;
        tracked_set(search, &state->result, callback);
    }
    search_note_pointer(search, state, block, callee);
    const struct bounds *bounds = known_result(state);
    if (bounds != NULL && bounds_exclude_null(bounds) && only_returns_result(state))
        tracked_set(search, &state->result, (struct value){.kind = VALUE_POINTER});
    if (callee == NULL && search_state_asks_error(state) &&
        !search_is_errno_location(search->image, block->callee))
        search_state_lose_error(search, state);
    search_state_clobber(state, PLACE_CLOBBERED);
    search_state_note_result(search, state, at);
}

// p = copy(list); if (p == NULL) return p: NULL is what the callee was given, if it has no other.
static bool hands_on_nothing(struct search *search, const struct search_state *state,
                             const struct summary *callee)
{
    const struct bounds *bounds = known_result(state);
    bool null = state->result.state == TRACKED_VALUE &&
                state->result.value.kind == VALUE_CONSTANT && state->result.value.number == 0;
    bool nothing = callee->asked && bounds != NULL && bounds_say_null(bounds) &&
                   (null || only_returns_result(state));
    search->summary->asked |= nothing;
    return nothing;
}

struct error *search_step_call(struct search *search, struct search_state *state, uint32_t at,
                               bool *ret_forked)
{
    const struct flow_block *block = &search->image->blocks.items[state->block];
    note_report(search, state, at);
    if (asks_stack(state))
        TRY(forget_handed_over(search, state, at));
    bool asks = search_state_asks_result(state);
    bool open =
        !search->context->results_only &&
        (search_state_is_near(state) || (search->errors && state->error.state == TRACKED_NOTHING));
    *ret_forked = false;
    const struct summary *callee =
        (asks || open) && block->callee != FLOW_NONE
            ? search->context->callee(search->context->data, block->callee)
            : NULL;
    if (asks && callee != NULL && callee->open) {
        *ret_forked = true; // recursion adds no results that do not come from elsewhere
        return NULL;
    }
    if (asks && block->callee == FLOW_NONE) {
        TRY(search_apply_targets(search, state, at, ret_forked));
        if (*ret_forked)
            return NULL;
    }
    if (asks && is_vague(callee))
        TRY(hand_on_negative(search, state, at));
    const struct return_outcome *effect = asks ? NULL : only_effect(callee);
    bool null = asks && is_vague(callee) && (callee == NULL || !callee->asked) &&
                take_null(search, state, block);
    if (callee == NULL || callee->outcomes.count == 0 || (!asks && effect == NULL) || null) {
        step_over(search, state, at, callee, asks && !null);
        return NULL;
    }
    *ret_forked = true;
    search->primitive = search->context->primitive != NULL &&
                        search->context->primitive(search->context->data, block->callee);
    search->fails_forced = fails_forced(search, state, callee);
    search->computed = callee->computed;
    search_note_pointer(search, state, block, callee);
    if (effect != NULL)
        return search_apply_outcome(search, state, effect, at);
    bool failed = explains_error(state, callee), nothing = hands_on_nothing(search, state, callee);
    for (size_t i = 0; i < callee->outcomes.count; i++)
        if ((!failed || callee->outcomes.items[i].sets_error) &&
            (!nothing || callee->outcomes.items[i].result.kind != VALUE_OTHER))
            TRY(search_apply_result(search, state, callee, i, at));
    return NULL;
}
