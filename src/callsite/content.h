// SPDX-License-Identifier: GPL-3.0-or-later
// What a register or a piece of memory holds on a path from a call on. A call is followed for all
// its possible results at once: every result is a *lane*, and a content that depends on the result
// has a number for each. Checks of any kind are then worked out by doing what the code does.
#ifndef ORDEAL_CALLSITE_CONTENT_H
#define ORDEAL_CALLSITE_CONTENT_H

#include "base/array.h"
#include "base/map.h"
#include "isa/insn.h"

#include <stdbool.h>
#include <stdint.h>

#define CONTENT_LANES   56
#define CONTENT_UNKNOWN 0 // the content nothing is known of

enum content_kind { CONTENT_NOTHING, CONTENT_NUMBERS, CONTENT_ADDRESS };
struct content {
    uint8_t kind;
    bool derived;   // depends on the call's result
    uint64_t known; // NUMBERS: lanes whose number is known
    uint32_t first; // NUMBERS: in `numbers`
    uint64_t base;  // ADDRESS: something that is only known by name; pointer or number
    int64_t offset; // ADDRESS: bytes behind it
};

// Contents are kept once each and known by number, so that equal ones are the same.
struct contents {
    unsigned lanes;
    ARRAY(struct content) items;
    ARRAY(int64_t) numbers;
    struct map by_hash;
    bool short_of_memory; // something was not added
};
void contents_deinit(struct contents *contents);
// Forgets everything.
_must_check_ struct error *contents_start(struct contents *contents, unsigned lanes);

// All of these give CONTENT_UNKNOWN when there are too many, or memory is short.
uint16_t content_of_lanes(struct contents *contents, uint64_t known, const int64_t *numbers,
                          bool derived);
uint16_t content_of_number(struct contents *contents, int64_t number);
uint16_t content_of_address(struct contents *contents, uint64_t base, int64_t offset);

// What an operation makes of things that are only known by name has a name, too: the same of the
// same. CONTENT_UNKNOWN if it is too long.
#define CONTENT_SUM (ISA_ADD | 8 << 8) // as an operation; others are the caller's
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

// left OPERATION right in `width` bytes, as a register holds it afterwards: ISA_ADD, ISA_SUBTRACT,
// ISA_AND, ISA_OR, ISA_XOR, shifts; right does not matter to ISA_NEGATE and ISA_INVERT.
uint16_t content_apply(struct contents *contents, enum isa_kind operation, uint16_t left,
                       uint16_t right, unsigned width);
// The lower `width` bytes, extended with zeros or with the sign to `to` bytes.
uint16_t content_extend(struct contents *contents, uint16_t content, unsigned width, bool with_sign,
                        unsigned to);

// A number as `width` bytes hold it, seen as signed or not.
int64_t number_signed(int64_t number, unsigned width);
int64_t number_unsigned(int64_t number, unsigned width);

#endif
