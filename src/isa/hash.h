// SPDX-License-Identifier: GPL-3.0-or-later
// A hash of instructions that stays the same when only addresses change.
#ifndef ORDEAL_ISA_HASH_H
#define ORDEAL_ISA_HASH_H

#include "isa/insn.h"

#define ISA_HASH_START 14695981039346656037ull

uint64_t isa_hash_bytes(uint64_t hash, const void *bytes, size_t size);
uint64_t isa_hash_number(uint64_t hash, uint64_t number);
// Adds an instruction without its distances to data and functions. `code` are its bytes, `address`
// is its link-time address. `target` is where a jump or a branch leads to, from the beginning of
// its function, or 0 if it leaves the function.
uint64_t isa_hash_insn(uint64_t hash, const void *code, const struct isa_insn *insn,
                       uint64_t address, uint64_t target);

#endif
