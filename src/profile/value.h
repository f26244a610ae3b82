// SPDX-License-Identifier: GPL-3.0-or-later
// Values: what a place can hold when a function returns, as far as failures are concerned.
#ifndef ORDEAL_PROFILE_VALUE_H
#define ORDEAL_PROFILE_VALUE_H

#include "base/array.h"
#include "base/error.h"
#include "base/map.h"

#include <stdbool.h>
#include <stdint.h>

#define ERROR_NUMBERS 256 // error numbers are smaller

struct error_set {
    uint64_t bits[ERROR_NUMBERS / 64];
};
static inline bool error_set_has(const struct error_set *set, unsigned number)
{
    return number < ERROR_NUMBERS && (set->bits[number / 64] >> number % 64 & 1) != 0;
}
static inline bool error_set_is_empty(const struct error_set *set)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < ERROR_NUMBERS / 64; i++)
        all |= set->bits[i];
    return all == 0;
}
static inline void error_set_add(struct error_set *set, unsigned number)
{
    if (number < ERROR_NUMBERS)
        set->bits[number / 64] |= 1ull << number % 64;
}

static inline void error_set_remove(struct error_set *set, unsigned number)
{
    if (number < ERROR_NUMBERS)
        set->bits[number / 64] &= ~(1ull << number % 64);
}

// Each set is kept once and referred to by number; 0 is the empty set.
struct error_sets {
    ARRAY(struct error_set) items;
    struct map numbers; // by the set's hash
    bool shared;        // between threads: items never move
    unsigned char lock;
};
_must_check_ struct error *error_sets_init(struct error_sets *sets);
// From now on, several threads may add sets and read those that they have numbers of.
_must_check_ struct error *error_sets_share(struct error_sets *sets);
void error_sets_deinit(struct error_sets *sets);
_must_check_ struct error *error_sets_put(struct error_sets *sets, const struct error_set *set,
                                          uint32_t *ret_number);

enum value_kind {
    VALUE_OTHER,    // not a constant
    VALUE_SUCCESS,  // not a constant, and not a system call's error: -4095 to -1
    VALUE_CONSTANT, // `number`
    VALUE_ERRORS,   // any error number of `set`, negated if `negative`; unknown ones if it is empty
    VALUE_CALL, // any error of the system call whose number is argument `number`; may be negated
    VALUE_ARGUMENT, // the function's argument `number` (from 0), negated if `negative`
    VALUE_CALLBACK, // what the function returns that argument `number` points to
    VALUE_ERROR,    // what errno was when the function was called, negated if `negative`
    VALUE_POINTER,  // not a constant, and not NULL
};
struct value {
    uint8_t kind;
    bool negative;
    uint32_t set;
    int64_t number;
};

// Whether nothing is known of a value, or only what it is not.
static inline bool value_is_open(const struct value *value)
{
    return value->kind == VALUE_OTHER || value->kind == VALUE_SUCCESS ||
           value->kind == VALUE_POINTER;
}

enum operation_kind {
    OPERATION_ADD,
    OPERATION_AND,
    OPERATION_OR,
    OPERATION_XOR,
    OPERATION_MULTIPLY,
    OPERATION_SHIFT_LEFT,
    OPERATION_SHIFT_RIGHT,
    OPERATION_SHIFT_SIGNED,
    OPERATION_NEGATE,
    OPERATION_INVERT,
    OPERATION_EXTEND,
    OPERATION_TRUNCATE,
    OPERATION_TABLE,        // reads a table of constants at `value`, plus the operand as an offset
    OPERATION_SIGNED_TABLE, // the same, sign-extended
    OPERATION_SYSTEM_CALL,  // the negated errors of the system call whose number is the operand
};
struct operation {
    uint8_t kind;
    uint8_t width; // bytes of the result; of EXTEND, CUT and TABLE: bytes that count
    int32_t value; // for tables: offset from the image's base
};
// The result of an operation. For a set of error numbers, only negation is understood. Tables and
// system calls are not: they need the image (search-state.c).
struct value value_apply(struct value value, struct operation operation);

// What is known of a place: its value is within the interval, or outside of it.
struct bounds {
    int64_t low, high;
    bool outside;
    bool wide; // all 64 bits were compared
};
// Whether the value is NULL.
static inline bool bounds_say_null(const struct bounds *bounds)
{
    return !bounds->outside && bounds->wide && bounds->low == 0 && bounds->high == 0;
}
// Whether the value is known not to be NULL.
static inline bool bounds_exclude_null(const struct bounds *bounds)
{
    return bounds->outside && bounds->wide && bounds->low == 0 && bounds->high == 0;
}
// Whether no value satisfies both.
bool bounds_exclude(const struct bounds *a, const struct bounds *b);
bool bounds_allow(const struct bounds *bounds, const struct error_sets *sets,
                  const struct value *value);

#endif
