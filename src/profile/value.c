// SPDX-License-Identifier: GPL-3.0-or-later
// Operations on values and bounds, and the shared table of error sets.
#include "profile/value.h"

#include "base/cleanup.h"
#include "base/hash.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SHARED (1u << 20)

struct error *error_sets_init(struct error_sets *sets)
{
    const struct error_set empty = {0};
    uint32_t number;
    *sets = (struct error_sets){0};
    return error_sets_put(sets, &empty, &number);
}

void error_sets_deinit(struct error_sets *sets)
{
    ARRAY_DEINIT(&sets->items);
    map_deinit(&sets->numbers);
}

struct error *error_sets_share(struct error_sets *sets)
{
    // Memory that is never touched costs nothing.
    struct error_set *items = calloc(MOST_SHARED, sizeof *items);
    if (items == NULL)
        return error_no_memory();
    memcpy(items, sets->items.items, sets->items.count * sizeof *items);
    free(sets->items.items);
    sets->items.items = items;
    sets->items.room = MOST_SHARED;
    sets->shared = true;
    return NULL;
}

struct sought {
    const struct error_sets *sets;
    const struct error_set *set;
};

static bool is_equal(const void *data, uint32_t number)
{
    const struct sought *sought = data;
    return memcmp(&sought->sets->items.items[number], sought->set, sizeof *sought->set) == 0;
}

static struct error *put(struct error_sets *sets, const struct error_set *set, uint32_t *ret_number)
{
    const struct sought sought = {sets, set};
    uint64_t hash = hash_bytes(set, sizeof *set);
    uint32_t number = map_find_equal(&sets->numbers, hash, is_equal, &sought);
    if (number == MAP_NONE) {
        if (sets->shared && sets->items.count == sets->items.room)
            return error_new("too many different sets of errors");
        TRY(map_reserve(&sets->numbers, sets->items.count + 1));
        struct error_set *added = ARRAY_ADD(&sets->items);
        if (added == NULL)
            return error_no_memory();
        *added = *set;
        number = (uint32_t)(sets->items.count - 1);
        TRY(map_put(&sets->numbers, hash, number));
    }
    *ret_number = number;
    return NULL;
}

struct error *error_sets_put(struct error_sets *sets, const struct error_set *set,
                             uint32_t *ret_number)
{
    if (!sets->shared)
        return put(sets, set, ret_number);
    while (__atomic_test_and_set(&sets->lock, __ATOMIC_ACQUIRE))
        sched_yield();
    struct error *error = put(sets, set, ret_number);
    __atomic_clear(&sets->lock, __ATOMIC_RELEASE);
    return error;
}

static int64_t narrow(int64_t value, unsigned width)
{
    switch (width) {
    case 1:
        return (int8_t)value;
    case 2:
        return (int16_t)value;
    case 4:
        return (int32_t)value;
    default:
        return value;
    }
}

static int64_t cut(int64_t value, unsigned width)
{
    return width >= 8 ? value : (int64_t)((uint64_t)value & ((1ull << width * 8) - 1));
}

// For error numbers and arguments: only negation and widening are understood.
static struct value apply_to_errors(struct value value, struct operation operation)
{
    bool keeps = (operation.kind == OPERATION_EXTEND && operation.width >= 2) ||
                 (operation.kind == OPERATION_TRUNCATE && operation.width >= 4);
    if (operation.kind == OPERATION_NEGATE)
        value.negative = !value.negative;
    else if (!keeps)
        value = (struct value){.kind = VALUE_OTHER};
    return value;
}

// The number after `width` bytes of it were written. Narrow writes keep the upper bits. Numbers of
// 32 bits are kept sign-extended.
static int64_t merge(int64_t old, int64_t new, unsigned width)
{
    if (width >= 4)
        return narrow(new, width);
    int64_t mask = (1ll << width * 8) - 1;
    return (old & ~mask) | (new &mask);
}

static uint64_t compute(uint64_t number, struct operation operation)
{
    uint64_t value = (uint64_t)(int64_t)operation.value;
    unsigned bits = operation.width * 8u;
    unsigned shift = (unsigned)operation.value & (operation.width == 8 ? 63 : 31);
    switch (operation.kind) {
    case OPERATION_ADD:
        return number + value;
    case OPERATION_AND:
        return number & value;
    case OPERATION_OR:
        return number | value;
    case OPERATION_XOR:
        return number ^ value;
    case OPERATION_MULTIPLY:
        return number * value;
    case OPERATION_SHIFT_LEFT:
        return number << shift;
    case OPERATION_SHIFT_RIGHT:
        return shift < bits ? (uint64_t)cut((int64_t)number, operation.width) >> shift : 0;
    case OPERATION_SHIFT_SIGNED:
        return (uint64_t)(narrow((int64_t)number, operation.width) >> shift);
    case OPERATION_NEGATE:
        return 0 - number;
    default:
        return ~number;
    }
}

struct value value_apply(struct value value, struct operation operation)
{
    if (value.kind == VALUE_ERRORS || value.kind == VALUE_ARGUMENT || value.kind == VALUE_CALL ||
        value.kind == VALUE_ERROR)
        return apply_to_errors(value, operation);
    if (value.kind != VALUE_CONSTANT)
        return operation.kind == OPERATION_EXTEND ? value : (struct value){.kind = VALUE_OTHER};
    switch (operation.kind) {
    case OPERATION_EXTEND:
        value.number = narrow(value.number, operation.width);
        break;
    case OPERATION_TRUNCATE:
        value.number = cut(value.number, operation.width);
        break;
    case OPERATION_TABLE:
    case OPERATION_SIGNED_TABLE:
    case OPERATION_SYSTEM_CALL:
        return (struct value){.kind = VALUE_OTHER};
    default:
        value.number = merge(value.number, (int64_t)compute((uint64_t)value.number, operation),
                             operation.width);
        break;
    }
    return value;
}

static bool allows(const struct bounds *bounds, int64_t number)
{
    return (number >= bounds->low && number <= bounds->high) != bounds->outside;
}

bool bounds_exclude(const struct bounds *a, const struct bounds *b)
{
    if (a->outside && b->outside)
        return false;
    if (!a->outside && !b->outside)
        return a->high < b->low || b->high < a->low;
    const struct bounds *in = a->outside ? b : a, *out = a->outside ? a : b;
    return in->low >= out->low && in->high <= out->high;
}

bool bounds_allow(const struct bounds *bounds, const struct error_sets *sets,
                  const struct value *value)
{
    if (value->kind == VALUE_CONSTANT)
        return allows(bounds, value->number);
    if (value->kind == VALUE_CALL || (value->kind == VALUE_ERRORS && value->set == 0)) {
        int64_t low = value->negative ? -4095 : 1, high = value->negative ? -1 : 4095;
        return !bounds_exclude(bounds, &(struct bounds){.low = low, .high = high});
    }
    if (value->kind == VALUE_POINTER)
        return bounds->outside || bounds->low != 0 || bounds->high != 0;
    if (value->kind == VALUE_SUCCESS)
        return bounds->outside || bounds->low < -4095 || bounds->high > -1;
    if (value->kind != VALUE_ERRORS)
        return true;
    const struct error_set *set = &sets->items.items[value->set];
    for (unsigned i = 1; i < ERROR_NUMBERS; i++)
        if (error_set_has(set, i) && allows(bounds, value->negative ? -(int64_t)i : (int64_t)i))
            return true;
    return false;
}
