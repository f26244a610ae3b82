// SPDX-License-Identifier: GPL-3.0-or-later
// Hashes instructions without what changes when only addresses change.
#include "isa/hash.h"

#include <string.h>

#define LONGEST_INSTRUCTION 15

uint64_t isa_hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * 1099511628211ull;
    return hash;
}

uint64_t isa_hash_number(uint64_t hash, uint64_t number)
{
    return isa_hash_bytes(hash, &number, sizeof number);
}

// Zeroes the four bytes that hold a distance to data or a function.
static void forget_distance(unsigned char *bytes, size_t size, int64_t distance)
{
    int32_t wanted = (int32_t)distance;
    for (size_t i = size < 5 ? size : size - 4; i > 0; i--)
        if (i + 4 <= size && memcmp(bytes + i, &wanted, 4) == 0) {
            memset(bytes + i, 0, 4);
            return;
        }
}

uint64_t isa_hash_insn(uint64_t hash, const void *code, const struct isa_insn *insn,
                       uint64_t address, uint64_t target)
{
    unsigned char bytes[LONGEST_INSTRUCTION];
    size_t size = insn->length < sizeof bytes ? insn->length : sizeof bytes;
    memcpy(bytes, code, size);
    switch (insn->kind) {
    case ISA_CALL:
        return isa_hash_bytes(hash, bytes, 1);
    case ISA_JUMP:
    case ISA_BRANCH: // short and long forms of the same jump differ with distances
        return isa_hash_number(isa_hash_number(hash, (uint64_t)insn->kind << 8 | insn->condition),
                               target);
    default:
        if ((insn->flags & ISA_MEMORY) != 0 && insn->base == ISA_PC)
            forget_distance(bytes, size, insn->displacement - (int64_t)(address + insn->length));
        return isa_hash_bytes(hash, bytes, size);
    }
}
