// SPDX-License-Identifier: GPL-3.0-or-later
// Proves the numbers of assembly.h: the build fails here if a struct or an enum changes and the
// assembly does not. Those of the table of recorded calls are proved in record.c.
#include "runtime/assembly/assembly.h"

#include "runtime/assembly/stubs.h"

#include <stddef.h>

#define SAME(number, value) _Static_assert((number) == (value), #number " is not " #value)

SAME(ASM_SLOT_SIZE, sizeof(struct stub_slot));
SAME(1 << ASM_SLOT_SHIFT, ASM_SLOT_SIZE);
SAME(ASM_SLOT_COUNT, offsetof(struct stub_slot, count));
SAME(ASM_SLOT_QUIET, offsetof(struct stub_slot, quiet_until));
SAME(ASM_SLOT_ORIGINAL, offsetof(struct stub_slot, original));
SAME(ASM_SLOT_GATE, offsetof(struct stub_slot, gate));
SAME(ASM_SLOT_LOW, offsetof(struct stub_slot, low));
SAME(ASM_SLOT_LENGTH, offsetof(struct stub_slot, length));
SAME(ASM_SLOT_NEXT, offsetof(struct stub_slot, next));

SAME(ASM_FRAME_R15, offsetof(struct call_frame, r15));
SAME(ASM_FRAME_R14, offsetof(struct call_frame, r14));
SAME(ASM_FRAME_R13, offsetof(struct call_frame, r13));
SAME(ASM_FRAME_R12, offsetof(struct call_frame, r12));
SAME(ASM_FRAME_RBP, offsetof(struct call_frame, rbp));
SAME(ASM_FRAME_RBX, offsetof(struct call_frame, rbx));
SAME(ASM_FRAME_ARGUMENTS, offsetof(struct call_frame, arguments));
SAME(ASM_FRAME_RAX, offsetof(struct call_frame, rax));
SAME(ASM_FRAME_R10, offsetof(struct call_frame, r10));
SAME(ASM_FRAME_TARGET, offsetof(struct call_frame, target));
SAME(ASM_FRAME_SLOT, offsetof(struct call_frame, slot));
SAME(ASM_FRAME_RETURN, offsetof(struct call_frame, return_address));
SAME(ASM_FRAME_STACK, offsetof(struct call_frame, stack));

SAME(ASM_DECIDE_PASS, DECIDE_PASS);
SAME(ASM_DECIDE_INTEGER, DECIDE_INTEGER);
SAME(ASM_DECIDE_COMPLEX, DECIDE_COMPLEX);
SAME(ASM_DECIDE_FLOATING, DECIDE_FLOATING);
SAME(ASM_DECIDE_LONG_DOUBLE, DECIDE_LONG_DOUBLE);
SAME(ASM_DECIDE_PERFORM, DECIDE_PERFORM);
SAME(ASM_DECIDE_AS_IS, DECIDE_AS_IS);

// A line of code has a bit in a word for each of its bytes.
SAME(SITE_LINE_SIZE, 8 * sizeof runtime_site_filter[0]);
SAME(1 << SITE_LINE_SHIFT, SITE_LINE_SIZE);
SAME(SITE_FILTER_WORDS, sizeof runtime_site_filter / sizeof runtime_site_filter[0]);
SAME(SITE_FILTER_WORDS &(SITE_FILTER_WORDS - 1), 0);

// A slot's number has its place in call_frame.slot and above a return address.
_Static_assert(RUNTIME_SLOTS - 1 <= FRAME_SLOT_MASK, "slots are too many for call_frame.slot");
_Static_assert(FRAME_SLOT_MASK >> FRAME_WORDS_SHIFT == 0, "the number of words needs other bits");
_Static_assert(FRAME_RULE_SHIFT - FRAME_WORDS_SHIFT == 16, "the assembly reads 16 bits of it");
_Static_assert(RUNTIME_SLOTS <= 1 << (64 - RECORD_SLOT_SHIFT), "slots are too many for a key");
