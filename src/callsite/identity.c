// SPDX-License-Identifier: GPL-3.0-or-later
// Hashes the code of a function without what changes when only addresses change.
#include "callsite/identity.h"

#include "elf/tables.h"

#include <string.h>

#define LONGEST_INSTRUCTION 15

static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * 1099511628211ull;
    return hash;
}

static uint64_t mix_number(uint64_t hash, uint64_t number)
{
    return mix(hash, &number, sizeof number);
}

// Mixes in the name of a function, if it has one that stays the same in other builds.
static uint64_t mix_callee(uint64_t hash, const struct flow_image *image, uint32_t callee)
{
    if (callee == FLOW_NONE)
        return mix(hash, "?", 1);
    if (flow_callee_is_import(callee)) {
        const char *name = image->imports.items[flow_callee_import(callee)].name;
        return mix(hash, name, strlen(name));
    }
    const struct flow_function *function = &image->functions.items[callee];
    return function->name != NULL ? mix(hash, function->name, function->name_size)
                                  : mix(hash, "local", 5);
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

static uint64_t mix_insn(uint64_t hash, const struct flow_image *image, const struct isa_insn *insn,
                         uint64_t start)
{
    unsigned char bytes[LONGEST_INSTRUCTION];
    uint64_t address = flow_address(image, insn);
    size_t there, size = insn->length < sizeof bytes ? insn->length : sizeof bytes;
    const unsigned char *code = elf_object_bytes(image->object, address, &there);
    if (code == NULL || there < size)
        return mix_number(hash, insn->kind);
    memcpy(bytes, code, size);
    switch (insn->kind) {
    case ISA_CALL:
        return mix(hash, bytes, 1); // the callee is mixed in by name
    case ISA_JUMP:
    case ISA_BRANCH: // short and long forms of the same jump differ with distances
        return mix_number(mix_number(hash, (uint64_t)insn->kind << 8 | insn->condition),
                          flow_function_at(image, (uint64_t)insn->value) ==
                                  flow_function_at(image, start)
                              ? (uint64_t)insn->value - start
                              : 0);
    default:
        if ((insn->flags & ISA_MEMORY) != 0 && insn->base == ISA_PC)
            forget_distance(bytes, size, insn->displacement - (int64_t)(address + insn->length));
        return mix(hash, bytes, size);
    }
}

uint64_t site_identity(const struct flow_image *image, const struct site *site)
{
    const struct flow_function *owner = &image->functions.items[site->function];
    uint64_t hash = 14695981039346656037ull, position = 0;
    for (uint32_t f = site->function; f != FLOW_NONE; f = image->functions.items[f].next_part) {
        const struct flow_function *part = &image->functions.items[f];
        for (uint32_t i = 0; i < part->block_count; i++) {
            const struct flow_block *block = &image->blocks.items[part->first_block + i];
            for (uint32_t j = 0; j < block->count; j++) {
                const struct isa_insn *insn = &image->insns.items[block->first + j];
                hash = mix_insn(hash, image, insn, part->start);
                position += flow_address(image, insn) < site->address &&
                            flow_address(image, insn) >= owner->start;
            }
            if (block->end == FLOW_CALLS || block->end == FLOW_TAIL)
                hash = mix_callee(hash, image, block->callee);
        }
    }
    if (owner->name != NULL)
        hash = mix(hash, owner->name, owner->name_size);
    hash = mix_number(hash, position);
    return hash != 0 ? hash : 1;
}
