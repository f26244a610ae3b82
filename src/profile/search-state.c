// SPDX-License-Identifier: GPL-3.0-or-later
// Changes states, remembers which were met before, and makes outcomes of them at their end. Equal
// states at the same block are followed once, which limits the work.
#include "profile/search-internal.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "elf/tables.h"

#include <errno.h>
#include <string.h>

struct error *search_push(struct search *search, const struct search_state *state)
{
    if (search->work.count < search->work.room) { // nearly always; ARRAY_ADD() would clear it
        search_state_copy(&search->work.items[search->work.count++], state);
        return NULL;
    }
    struct search_state *added = ARRAY_ADD(&search->work);
    if (added == NULL)
        return error_no_memory();
    search_state_copy(added, state);
    return NULL;
}

// ---- states that were met before ----

static uint64_t place_word(struct place place)
{
    return (uint64_t)place.kind << 32 |
           (place.kind == PLACE_STACK ? (uint32_t)place.slot : place.reg);
}

static uint64_t hash_tracked(uint64_t hash, const struct tracked *tracked)
{
    hash = hash_mix(hash, tracked->state);
    if (tracked->state == TRACKED_VALUE) {
        hash = hash_mix(hash, (uint64_t)tracked->value.number);
        return hash_mix(hash, (uint64_t)tracked->value.set << 16 | tracked->value.negative << 8 |
                                  tracked->value.kind);
    }
    if (tracked->state != TRACKED_PLACE)
        return hash;
    hash = hash_mix(hash, place_word(tracked->place));
    for (unsigned i = 0; i < tracked->operation_count; i++) {
        const struct operation *operation = &tracked->operations[i];
        hash = hash_mix(hash, (uint64_t)(uint32_t)operation->value << 16 | operation->width << 8 |
                                  operation->kind);
    }
    return hash;
}

static uint64_t hash_known(uint64_t hash, const struct known *known)
{
    hash = hash_mix(hash, place_word(known->place));
    hash = hash_mix(hash, (uint64_t)known->bounds.low);
    return hash_mix(hash, (uint64_t)known->bounds.high ^ (known->bounds.outside ? 1ull << 62 : 0));
}

static uint64_t hash_state(const struct search_state *state)
{
    uint64_t hash = hash_mix(1, state->block);
    hash = hash_tracked(hash, &state->result);
    hash = hash_tracked(hash, &state->error);
    hash = hash_mix(hash, state->blocks | (uint64_t)state->stored.state << 8 |
                              (uint64_t)state->stored_effect << 16 | (uint64_t)state->after << 24 |
                              (uint64_t)state->flags_hold << 40 | (uint64_t)state->taken << 48);
    if (state->stored.state != TRACKED_NOTHING)
        hash = hash_tracked(hash, &state->stored);
    for (unsigned i = 0; i < state->known_count; i++)
        hash = hash_known(hash, &state->known[i]);
    for (unsigned i = 0; i < state->pending_count; i++)
        hash = hash_known(hash_mix(hash, 'p'), &state->pending[i].known);
    for (unsigned i = 0; i < state->effect_count; i++) {
        hash = hash_mix(hash, (uint64_t)state->effects[i].where << 8 | state->effects[i].kind);
        hash = hash_mix(hash, (uint64_t)state->effects[i].value);
    }
    return hash;
}

struct error *search_is_new(struct search *search, const struct search_state *state, bool *ret_new)
{
    return map_add(&search->seen, hash_state(state), ret_new);
}

// ---- the end of a state ----

// Reads an entry of a constant table from the file. Only a constant index can be looked up.
static struct value look_up(const struct search *search, struct value index,
                            const struct operation *table)
{
    const struct elf_object *object = search->image->object;
    uint64_t address = search->image->base + (uint64_t)(int64_t)table->value;
    size_t size;
    if (index.kind != VALUE_CONSTANT)
        return (struct value){.kind = VALUE_OTHER};
    address += (uint64_t)index.number;
    const unsigned char *bytes = elf_object_constant(object, address, &size);
    uint64_t number = 0;
    if (bytes == NULL || size < table->width || table->width > sizeof number)
        return (struct value){.kind = VALUE_OTHER};
    memcpy(&number, bytes, table->width);
    return value_apply(value_constant((int64_t)number),
                       (struct operation){.kind = table->kind == OPERATION_TABLE
                                                      ? OPERATION_TRUNCATE
                                                      : OPERATION_EXTEND,
                                          .width = table->width});
}

static struct value call_errors(const struct search *search, struct value number)
{
    if (number.kind == VALUE_ARGUMENT && !number.negative)
        return (struct value){.kind = VALUE_CALL, .negative = true, .number = number.number};
    const struct error_set *errors =
        number.kind == VALUE_CONSTANT
            ? search->context->system_call(search->context->data, number.number)
            : NULL;
    struct value value = {.kind = VALUE_ERRORS, .negative = true};
    struct error *error =
        errors == NULL ? NULL : error_sets_put(search->context->sets, errors, &value.set);
    if (errors == NULL || error != NULL) { // unknown call, or short of memory
        error_free(error);
        value = (struct value){.kind = VALUE_OTHER};
    }
    return value;
}

static struct value resolve(const struct search *search, const struct tracked *tracked,
                            struct value value)
{
    for (unsigned i = tracked->operation_count; i-- > 0;) {
        const struct operation *operation = &tracked->operations[i];
        bool table =
            operation->kind == OPERATION_TABLE || operation->kind == OPERATION_SIGNED_TABLE;
        value = table                                      ? look_up(search, value, operation)
                : operation->kind == OPERATION_SYSTEM_CALL ? call_errors(search, value)
                                                           : value_apply(value, *operation);
    }
    return value;
}

static bool mentions(const struct return_outcome *outcome, uint8_t argument)
{
    bool found = (outcome->result.kind == VALUE_ARGUMENT && outcome->result.number == argument) ||
                 (outcome->sets_error && outcome->error.kind == VALUE_ARGUMENT &&
                  outcome->error.number == argument);
    for (unsigned i = 0; i < outcome->effect_count; i++)
        found |= outcome->effects[i].source == argument + 1;
    return found;
}

// Whether the outcome says that an argument is invalid. Then conditions on arguments matter.
static bool complains(const struct return_outcome *outcome)
{
    return outcome->sets_error && outcome->error.kind == VALUE_CONSTANT &&
           outcome->error.number == EINVAL;
}

// Adds the condition on an argument under which this outcome happens.
static void add_condition(const struct search_state *state, struct return_outcome *outcome)
{
    for (unsigned i = 0; i < state->known_count; i++) {
        int argument = state->at_entry ? place_argument(state->known[i].place) : -1;
        bool null =
            (outcome->after & OUTCOME_AFTER_NULL) != 0 && bounds_say_null(&state->known[i].bounds);
        if (argument < 0 || outcome->conditional ||
            (!null && !state->narrowed && !complains(outcome) &&
             !mentions(outcome, (uint8_t)argument)))
            continue;
        outcome->conditional = true;
        outcome->argument = (uint8_t)argument;
        outcome->when = state->known[i].bounds;
    }
}

// Whether the outcome only happens if an argument is NULL.
static uint8_t refuses_null(const struct search_state *state)
{
    for (unsigned i = 0; i < state->known_count; i++) {
        const struct bounds *bounds = &state->known[i].bounds;
        if (place_argument(state->known[i].place) >= 0 && bounds_say_null(bounds))
            return OUTCOME_AFTER_NULL;
    }
    return 0;
}

struct error *search_add_outcome(struct search *search, const struct search_state *state)
{
    struct return_outcome outcome = {.evidence = state->evidence};
    if (state->result.state == TRACKED_VALUE)
        outcome.result = state->result.value;
    bool tells = !value_is_open(&outcome.result);
    if (tells || search->setter) {
        outcome.sets_error = state->error.state != TRACKED_NOTHING;
        if (state->error.state == TRACKED_VALUE)
            outcome.error = state->error.value;
        outcome.effect_count = state->effect_count;
        memcpy(outcome.effects, state->effects, state->effect_count * sizeof *outcome.effects);
        outcome.after = state->after & (uint16_t)~OUTCOME_FORCED;
        if ((state->after & OUTCOME_FORCED) == 0)
            outcome.after |= OUTCOME_UNFORCED;
        outcome.after |= (state->after & OUTCOME_AFTER_REPORT) == 0 ? OUTCOME_AFTER_SILENCE : 0;
        outcome.after |= (state->after & OUTCOME_MISUSE) == 0 ? OUTCOME_PROPER : 0;
        if (!search_state_came_after(state) && state->at_entry)
            outcome.after |= refuses_null(state);
        add_condition(state, &outcome);
    } else {
        outcome.evidence = 0;
    }
    bool other =
        !tells || outcome.result.kind == VALUE_ARGUMENT || outcome.result.kind == VALUE_CALLBACK;
    search->summary->computed |= other && !state->taken;
    return summary_add(search->summary, &outcome);
}

void tracked_set(const struct search *search, struct tracked *tracked, struct value value)
{
    tracked->value = resolve(search, tracked, value);
    tracked->state = TRACKED_VALUE;
    tracked->operation_count = 0;
}

void tracked_set_other(struct tracked *tracked)
{
    tracked->value = (struct value){.kind = VALUE_OTHER};
    tracked->state = TRACKED_VALUE;
    tracked->operation_count = 0;
}

bool tracked_in(const struct tracked *tracked, struct place place)
{
    return tracked->state == TRACKED_PLACE && place_equal(tracked->place, place);
}

struct effect *search_state_add_effect(struct search_state *state, const struct effect *effect)
{
    if (state->effect_count == OUTCOME_EFFECTS)
        return NULL;
    for (unsigned i = 0; i < state->effect_count; i++) {
        const struct effect *later = &state->effects[i];
        if (later->kind == effect->kind && later->where == effect->where &&
            later->argument == effect->argument)
            return NULL;
    }
    state->effects[state->effect_count] = *effect;
    return &state->effects[state->effect_count++];
}

void search_state_follow_stored(struct search_state *state, const struct effect *effect,
                                uint8_t reg)
{
    if (state->stored.state != TRACKED_NOTHING || reg >= ISA_REGISTERS ||
        search_state_add_effect(state, effect) == NULL)
        return;
    state->stored = (struct tracked){.state = TRACKED_PLACE, .place = place_register(reg)};
    state->stored_effect = (uint8_t)(state->effect_count - 1);
}

void search_state_settle_stored(struct search_state *state)
{
    if (state->stored.state != TRACKED_VALUE)
        return;
    struct value value = state->stored.value;
    struct effect *effect = &state->effects[state->stored_effect];
    state->stored.state = TRACKED_NOTHING;
    if (value.kind == VALUE_CONSTANT) {
        effect->value = value.number;
    } else if (value.kind == VALUE_ARGUMENT && !value.negative) {
        effect->source = (uint8_t)(value.number + 1);
    } else {
        for (unsigned i = state->stored_effect; i + 1u < state->effect_count; i++)
            state->effects[i] = state->effects[i + 1];
        state->effect_count--;
    }
}

struct value value_constant(int64_t number)
{
    return (struct value){.kind = VALUE_CONSTANT, .number = number};
}

void search_state_note_result(struct search *search, struct search_state *state, uint32_t at)
{
    if (state->result.state != TRACKED_VALUE || state->result_block != FLOW_NONE)
        return;
    state->result_block = state->block;
    state->evidence = flow_address(search->image, &search->image->insns.items[at]);
}

void search_state_forget(struct search_state *state, unsigned index)
{
    state->known[index] = state->known[--state->known_count];
}

void search_state_simplify(struct search_state *state)
{
    state->known_count = 0;
    state->effect_count = 0;
    state->stored.state = TRACKED_NOTHING;
}

void search_state_add_known(struct search_state *state, const struct known *known)
{
    if (state->known_count == KNOWN) { // the oldest is the least likely to matter, unless it is
        unsigned oldest = 0;           // about the result
        while (oldest + 1 < KNOWN && tracked_in(&state->result, state->known[oldest].place))
            oldest++;
        search_state_forget(state, oldest);
    }
    state->known[state->known_count++] = *known;
}
