// SPDX-License-Identifier: GPL-3.0-or-later
// Steps back over one instruction: updates the tracked places and what is known of others, and
// records stores that the caller can see.
#include "profile/search-internal.h"

#include "base/cleanup.h"
#include "profile/origin.h"

#define FEW 64 // values of a place for which a state is forked

// Whether the caller cannot see a store. That is remembered, because stores are met many times.
static bool is_private(const struct search *search, uint32_t insn)
{
    return (search->context->private_stores[insn / 8] >> insn % 8 & 1) != 0;
}

void search_add_pending(struct search *search, struct search_state *state, uint32_t before,
                        enum isa_condition condition)
{
    struct known_bounds bounds;
    const struct flow_block *block = &search->image->blocks.items[state->block];
    if (state->pending_count == PENDING || condition >= ISA_IF_UNKNOWN ||
        (!place_bounds(search->image, block, before, condition, &bounds) &&
         !search_error_bounds(search, block, before, condition, &bounds)))
        return;
    state->pending[state->pending_count++] =
        (struct pending){.insn = bounds.insn,
                         .after = bounds.after,
                         .known = {.place = bounds.place, .bounds = bounds.bounds}};
}

// The field of another state that corresponds to a field of this one.
static struct tracked *counterpart(const struct search_state *state, struct search_state *other,
                                   const struct tracked *tracked)
{
    if (tracked == &state->result)
        return &other->result;
    return tracked == &state->error ? &other->error : &other->stored;
}

static void settle(struct search *search, struct search_state *state, uint32_t at)
{
    search_state_settle_stored(state);
    search_state_note_result(search, state, at);
}

static void know_sign(struct search_state *state, struct place place, bool negative)
{
    search_state_add_known(
        state, &(struct known){.place = place,
                               .bounds = {.low = INT64_MIN, .high = -1, .outside = !negative}});
}

// Forks where the value depends on a condition. In the state itself the condition holds.
static struct error *fork_condition(struct search *search, struct search_state *state,
                                    struct tracked *tracked, const struct step *step, uint32_t at)
{
    struct search_state other;
    search_state_copy(&other, state);
    struct tracked *others = counterpart(state, &other, tracked);
    bool signs = step->kind == STEP_SIGN || step->kind == STEP_NEGATIVE;
    bool constant = step->kind != STEP_SELECTED;
    other.at = at;
    if (signs)
        know_sign(&other, step->place, false);
    else
        search_add_pending(search, &other, at, step->condition ^ 1);
    if (constant)
        tracked_set(search, others, value_constant(step->otherwise));
    settle(search, &other, at);
    TRY(search_push(search, &other));
    if (signs)
        know_sign(state, step->place, true);
    else
        search_add_pending(search, state, at, step->condition);
    if (constant && step->kind != STEP_NEGATIVE)
        tracked_set(search, tracked, value_constant(step->constant));
    else if (step->unknown)
        tracked_set_other(tracked);
    else
        tracked->place = step->place;
    return NULL;
}

// Whether the same addition is met twice: then it is a counter, whose values mean nothing.
static bool counts(const struct tracked *tracked, const struct step *step)
{
    if (step->operation_count == 0 || tracked->operation_count == 0 ||
        !place_equal(tracked->place, step->place))
        return false;
    const struct operation *last = &tracked->operations[tracked->operation_count - 1];
    const struct operation *next = &step->operations[0];
    return last->kind == OPERATION_ADD && next->kind == OPERATION_ADD &&
           last->value == next->value && last->width == next->width;
}

static void move(struct tracked *tracked, const struct step *step)
{
    if (tracked->operation_count + step->operation_count > OPERATIONS || counts(tracked, step)) {
        tracked_set_other(tracked);
        return;
    }
    for (unsigned i = 0; i < step->operation_count; i++)
        tracked->operations[tracked->operation_count++] = step->operations[i];
    tracked->place = step->place;
}

static bool is_real(const struct tracked *tracked)
{
    for (unsigned i = 0; i < tracked->operation_count; i++)
        if (tracked->operations[i].kind != OPERATION_EXTEND &&
            tracked->operations[i].kind != OPERATION_TRUNCATE)
            return true;
    return false;
}

static bool reads(const struct flow_image *image, uint32_t at, unsigned width)
{
    const struct isa_insn *insn = &image->insns.items[at];
    return insn->kind == ISA_LOAD && insn->from == width && (insn->flags & ISA_THREAD) == 0;
}

// Whether nothing but an offset was added to the value, which makes an address of another one.
static bool is_offset(const struct tracked *tracked)
{
    for (unsigned i = 0; i < tracked->operation_count; i++)
        if (tracked->operations[i].kind != OPERATION_ADD)
            return false;
    return true;
}

static struct error *step_tracked(struct search *search, struct search_state *state,
                                  struct tracked *tracked, uint32_t at)
{
    if (tracked->state != TRACKED_PLACE)
        return NULL;
    const struct flow_block *block = &search->image->blocks.items[state->block];
    struct step step = tracked == &state->stored
                           ? place_step(search->image, block, at, tracked->place)
                           : search_place_step(search, block, at, tracked->place);
    switch (step.kind) {
    case STEP_SAME:
        return NULL;
    case STEP_CONSTANT:
        tracked_set(search, tracked, value_constant(step.constant));
        return NULL;
    case STEP_MOVED:
        move(tracked, &step);
        return NULL;
    case STEP_SELECTED:
    case STEP_CONDITION:
    case STEP_SIGN:
    case STEP_NEGATIVE:
        return fork_condition(search, state, tracked, &step, at);
    default:
        if (tracked == &state->result) {
            search->summary->kept |= reads(search->image, at, 4) && !is_real(tracked);
            state->taken = reads(search->image, at, 8) && is_offset(tracked);
        }
        tracked_set_other(tracked);
        return NULL;
    }
}

// ---- what is known of other places ----

// Forks for every value of a place that can only hold a few. If nothing is calculated with them,
// they are no constants of this function, unless there is just one.
static struct error *fork_values(struct search *search, struct search_state *state,
                                 struct tracked *tracked, const struct bounds *bounds, uint32_t at)
{
    uint64_t more = (uint64_t)bounds->high - (uint64_t)bounds->low;
    if (bounds->outside || bounds->low > bounds->high || more >= FEW ||
        (more != 0 && !is_real(tracked)))
        return NULL;
    for (uint64_t i = 1; i <= more; i++) {
        struct search_state other;
        search_state_copy(&other, state);
        struct tracked *others = counterpart(state, &other, tracked);
        tracked_set(search, others, value_constant(bounds->low + (int64_t)i));
        other.at = at;
        settle(search, &other, at);
        TRY(search_push(search, &other));
    }
    tracked_set(search, tracked, value_constant(bounds->low));
    return NULL;
}

// Whether two bounds of one place exclude each other.
static bool contradicts(const struct search_state *state)
{
    for (unsigned i = 1; i < state->known_count; i++)
        for (unsigned k = 0; k < i; k++)
            if (place_equal(state->known[i].place, state->known[k].place) &&
                bounds_exclude(&state->known[i].bounds, &state->known[k].bounds))
                return true;
    return false;
}

static struct error *use_known(struct search *search, struct search_state *state, uint32_t at)
{
    struct tracked *all[] = {&state->result, &state->error, &state->stored};
    for (unsigned t = 0; t < 3; t++)
        for (unsigned i = 0; i < state->known_count; i++)
            if (tracked_in(all[t], state->known[i].place))
                TRY(fork_values(search, state, all[t], &state->known[i].bounds, at));
    return NULL;
}

// Translates bounds to before an operation. False if that is not possible.
static bool carry_over(struct known *known, const struct step *step)
{
    struct bounds *bounds = &known->bounds;
    for (unsigned i = 0; i < step->operation_count; i++) {
        const struct operation *operation = &step->operations[i];
        bool keeps =
            (operation->kind == OPERATION_EXTEND || operation->kind == OPERATION_TRUNCATE) &&
            operation->width >= 4;
        // A side without an end has none before the addition, either.
        bool from = bounds->low != INT64_MIN, to = bounds->high != INT64_MAX;
        bool adds = operation->kind == OPERATION_ADD && operation->width >= 4 &&
                    (!from || bounds->low > INT32_MIN) && (!to || bounds->high < INT32_MAX) &&
                    !place_equal(known->place, step->place); // no counter
        if (!keeps && !adds)
            return false;
        bounds->low -= adds && from ? operation->value : 0;
        bounds->high -= adds && to ? operation->value : 0;
    }
    return true;
}

// The known place was set by a condition. Adds what that says about the condition. False if neither
// of its two values fits.
static bool choose(struct search *search, struct search_state *state, unsigned index,
                   const struct step *step, uint32_t at)
{
    const struct bounds bounds = state->known[index].bounds;
    struct value held = value_constant(step->constant), failed = value_constant(step->otherwise);
    bool yes = bounds_allow(&bounds, search->context->sets, &held),
         no = bounds_allow(&bounds, search->context->sets, &failed);
    if (yes != no)
        search_add_pending(search, state, at, yes ? step->condition : step->condition ^ 1);
    return yes || no;
}

// False if what is known contradicts the instruction: the path is impossible.
static bool step_known(struct search *search, struct search_state *state, uint32_t at)
{
    const struct flow_block *block = &search->image->blocks.items[state->block];
    for (unsigned i = 0; i < state->known_count;) {
        struct known *known = &state->known[i];
        struct step step = search_place_step(search, block, at, known->place);
        if (bounds_say_null(&known->bounds) &&
            place_gets_address(search->image, block, at, known->place))
            return false;
        if (step.kind == STEP_CONSTANT) {
            struct value value = value_constant(step.constant);
            if (!bounds_allow(&known->bounds, search->context->sets, &value))
                return false;
            search_state_forget(state, i);
        } else if (step.kind == STEP_SAME) {
            i++;
        } else if (step.kind == STEP_MOVED && carry_over(known, &step)) {
            known->place = step.place;
            i++;
        } else if (step.kind == STEP_CONDITION) {
            if (!choose(search, state, i, &step, at))
                return false;
            search_state_forget(state, i);
        } else {
            search_state_forget(state, i);
        }
    }
    return true;
}

static void step_pending(struct search_state *state, uint32_t at, bool after)
{
    for (unsigned i = 0; i < state->pending_count;) {
        if (state->pending[i].insn != at || state->pending[i].after != after) {
            i++;
            continue;
        }
        search_state_add_known(state, &state->pending[i].known);
        state->pending[i] = state->pending[--state->pending_count];
    }
}

bool search_is_store(const struct isa_insn *insn)
{
    return (insn->kind == ISA_STORE || insn->kind == ISA_STORE_CONSTANT) &&
           (insn->flags & ISA_MEMORY) != 0 && insn->base != ISA_STACK;
}

static void add_effect(struct search_state *state, const struct isa_insn *insn,
                       const struct origin *origin)
{
    static const uint8_t kinds[] = {[ORIGIN_ARGUMENT] = EFFECT_ARGUMENT,
                                    [ORIGIN_GLOBAL] = EFFECT_GLOBAL,
                                    [ORIGIN_THREAD] = EFFECT_THREAD,
                                    [ORIGIN_OWN_THREAD] = EFFECT_OWN_THREAD};
    const struct effect effect = {.kind = kinds[origin->kind],
                                  .argument = origin->argument,
                                  .width = insn->width,
                                  .where = origin->where,
                                  .value = insn->value};
    if (insn->kind == ISA_STORE_CONSTANT)
        search_state_add_effect(state, &effect);
    else
        search_state_follow_stored(state, &effect, insn->src);
}

// Whether a store fills in an out-parameter. A constant does not count: it may be an empty value in
// case of failure. Neither does the first argument, which is often the object itself.
static bool gives(const struct search *search, const struct flow_block *block, uint32_t at,
                  const struct origin *origin)
{
    const struct isa_insn *insn = &search->image->insns.items[at];
    int64_t number;
    return insn->kind == ISA_STORE && origin->kind == ORIGIN_ARGUMENT && origin->argument > 0 &&
           origin->where == 0 &&
           (insn->src == ISA_NONE || !place_number(search->image, block, at, insn->src, &number));
}

// Records a store that the caller can see: errno or an effect.
static void step_store(struct search *search, struct search_state *state, uint32_t at)
{
    const struct isa_insn *insn = &search->image->insns.items[at];
    const struct flow_block *block = &search->image->blocks.items[state->block];
    bool near = search_state_is_near(state) && !search->coarse;
    bool error_open = search->errors && state->error.state == TRACKED_NOTHING;
    if (search->context->results_only || !search_is_store(insn) || (!near && !error_open) ||
        is_private(search, at))
        return;
    struct origin origin = origin_of_memory(search->image, block, at, search->context);
    if (origin.kind == ORIGIN_UNKNOWN)
        search->context->private_stores[at / 8] |= (uint8_t)(1u << at % 8);
    if (origin.kind == ORIGIN_ERROR && error_open) {
        state->error = (struct tracked){.state = TRACKED_PLACE, .place = place_register(insn->src)};
        if (insn->kind == ISA_STORE_CONSTANT)
            tracked_set(search, &state->error, value_constant(insn->value));
        else if (insn->src == ISA_NONE)
            tracked_set_other(&state->error);
    } else if (near && origin.kind != ORIGIN_ERROR && origin.kind != ORIGIN_UNKNOWN) {
        add_effect(state, insn, &origin);
        state->after |= gives(search, block, at, &origin) ? OUTCOME_GIVES : 0;
    }
}

static bool place_allows(const struct search *search, const struct search_state *state,
                         struct place place, int64_t number)
{
    struct value value = value_constant(number);
    for (unsigned i = 0; i < state->known_count; i++)
        if (place_equal(state->known[i].place, place) &&
            !bounds_allow(&state->known[i].bounds, search->context->sets, &value))
            return false;
    return true;
}

// x & 1 is 1 if it is not 0. Without a condition it may be both: then it is an answer, as of
// feof().
static void step_bit(struct search *search, struct search_state *state, uint32_t at)
{
    const struct isa_insn *insn = &search->image->insns.items[at];
    struct place place = place_register(insn->dst);
    if (insn->kind != ISA_AND || insn->src != ISA_NONE || (insn->flags & ISA_MEMORY) != 0 ||
        insn->value != 1 || insn->width < 4 || !tracked_in(&state->result, place) ||
        is_real(&state->result) || place_allows(search, state, place, 0))
        return;
    tracked_set(search, &state->result, value_constant(1));
}

struct error *search_step(struct search *search, struct search_state *state, uint32_t at,
                          bool *ret_ended)
{
    const struct isa_insn *insn = &search->image->insns.items[at];
    *ret_ended = false;
    if (insn->kind == ISA_CALL || insn->kind == ISA_CALL_INDIRECT)
        return search_step_call(search, state, at, ret_ended);
    if (insn->kind == ISA_SYSCALL)
        return search_step_system_call(search, state, at, ret_ended);
    if (state->pending_count != 0) {
        step_pending(state, at, true);
        TRY(use_known(search, state, at + 1));
        settle(search, state, at);
    }
    step_bit(search, state, at);
    if (!step_known(search, state, at)) {
        *ret_ended = true;
        return NULL;
    }
    step_store(search, state, at);
    TRY(step_tracked(search, state, &state->result, at));
    TRY(step_tracked(search, state, &state->error, at));
    // errno = saved: errno is what it was when it was saved, if nothing was done with it.
    if (tracked_in(&state->error, place_error())) {
        if (is_real(&state->error))
            tracked_set_other(&state->error);
        else
            state->error = (struct tracked){.state = TRACKED_NOTHING};
    }
    // If this instruction is the store, the register holds the value also before it.
    TRY(step_tracked(search, state, &state->stored, at));
    // This is last because the bounds hold before the instruction, which may change the place.
    step_pending(state, at, false);
    if (contradicts(state)) {
        *ret_ended = true;
        return NULL;
    }
    if (state->known_count != 0)
        TRY(use_known(search, state, at));
    settle(search, state, at);
    return NULL;
}
