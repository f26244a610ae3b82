// SPDX-License-Identifier: GPL-3.0-or-later
// What a register or a memory cell holds on a path that begins at a call. A call is followed for
// all its possible results at once. Every possible result is a *lane*, and a content that depends
// on the result has one number per lane. To find out what a check does, the analysis calculates
// what the code calculates, for every lane.
#ifndef ORDEAL_CALLSITE_CONTENT_H
#define ORDEAL_CALLSITE_CONTENT_H

#include "base/array.h"
#include "base/map.h"
#include "isa/insn.h"

#include <stdbool.h>
#include <stdint.h>

#define CONTENT_LANES   56
#define CONTENT_UNKNOWN 0 // the content of which nothing is known

enum content_kind { CONTENT_NOTHING, CONTENT_NUMBERS, CONTENT_ADDRESS };
struct content {
    uint8_t kind;
    bool derived;   // depends on the call's result
    uint64_t known; // NUMBERS: lanes whose number is known
    uint32_t first; // NUMBERS: in `numbers`
    uint64_t base;  // ADDRESS: names an unknown pointer or number; equal names are equal values
    int64_t offset; // ADDRESS: added to the base
};

// Each content is kept once and referred to by its index, so equal contents have equal indexes.
struct contents {
    unsigned lanes;
    ARRAY(struct content) items;
    ARRAY(int64_t) numbers;
    struct map by_hash;
    bool short_of_memory; // an allocation failed; the results since then are incomplete
};
void contents_deinit(struct contents *contents);
// Forgets all contents and begins anew with a number of lanes.
_must_check_ struct error *contents_start(struct contents *contents, unsigned lanes);

// These return CONTENT_UNKNOWN when there are too many contents or memory is short.
uint16_t content_of_lanes(struct contents *contents, uint64_t known, const int64_t *numbers,
                          bool derived);
uint16_t content_of_number(struct contents *contents, int64_t number);
uint16_t content_of_address(struct contents *contents, uint64_t base, int64_t offset);

// The result of an operation on addresses or constants, as a new base: the same operation on the
// same operands gives the same base. CONTENT_UNKNOWN if too many operations are combined.
#define CONTENT_SUM (ISA_ADD | 8 << 8) // the one operation known here; callers number others
uint16_t content_combined(struct contents *contents, unsigned operation, uint16_t left,
                          uint16_t right);

static inline const struct content *content_at(const struct contents *contents, uint16_t content)
{
    return &contents->items.items[content];
}
static inline bool content_derived(const struct contents *contents, uint16_t content)
{
    return content != CONTENT_UNKNOWN && contents->items.items[content].derived;
}
// The number of a lane, if it is known.
bool content_number(const struct contents *contents, uint16_t content, unsigned lane,
                    int64_t *ret_number);
// The number, if it is known and the same for every lane.
bool content_constant(const struct contents *contents, uint16_t content, int64_t *ret_number);

// `left OPERATION right` in `width` bytes, as a register holds it afterwards. Operations are
// ISA_ADD, ISA_SUBTRACT, ISA_AND, ISA_OR, ISA_XOR, shifts, ISA_NEGATE and ISA_INVERT; the last two
// ignore `right`.
uint16_t content_apply(struct contents *contents, enum isa_kind operation, uint16_t left,
                       uint16_t right, unsigned width);
// The lower `width` bytes, extended with zeros or with the sign to `to` bytes.
uint16_t content_extend(struct contents *contents, uint16_t content, unsigned width, bool with_sign,
                        unsigned to);

// The lower `width` bytes of a number, sign-extended or zero-extended.
int64_t number_signed(int64_t number, unsigned width);
int64_t number_unsigned(int64_t number, unsigned width);

#endif
