// SPDX-License-Identifier: GPL-3.0-or-later
// Call instructions: their length, and whether a return address follows one. If Zydis cannot be
// loaded, there are none; see isa_need().
#ifndef ORDEAL_ISA_CALL_H
#define ORDEAL_ISA_CALL_H

#include <stdbool.h>
#include <stddef.h>

// The length of the call instruction at the start of `bytes`, or 0 if there is none.
size_t isa_call_length(const void *bytes, size_t size);

// Whether a call instruction may end right before `end`, where `size` bytes lie before it. Code
// cannot be decoded backwards with certainty: this says yes if any call fits.
bool isa_call_ends_at(const void *end, size_t size);

#endif
