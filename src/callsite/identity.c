// SPDX-License-Identifier: GPL-3.0-or-later
// Hashes the code of a function without what changes when only addresses change.
#include "callsite/identity.h"

#include "elf/tables.h"
#include "isa/hash.h"

#include <string.h>

// Mixes in the name of a function, if it has one that stays the same in other builds.
static uint64_t mix_callee(uint64_t hash, const struct flow_image *image, uint32_t callee)
{
    if (callee == FLOW_NONE)
        return isa_hash_bytes(hash, "?", 1);
    if (flow_callee_is_import(callee)) {
        const char *name = image->imports.items[flow_callee_import(callee)].name;
        return isa_hash_bytes(hash, name, strlen(name));
    }
    const struct flow_function *function = &image->functions.items[callee];
    return function->name != NULL ? isa_hash_bytes(hash, function->name, function->name_size)
                                  : isa_hash_bytes(hash, "local", 5);
}

static uint64_t mix_insn(uint64_t hash, const struct flow_image *image, const struct isa_insn *insn,
                         uint64_t start)
{
    uint64_t address = flow_address(image, insn);
    size_t there;
    const unsigned char *code = elf_object_bytes(image->object, address, &there);
    if (code == NULL || there < insn->length)
        return isa_hash_number(hash, insn->kind);
    bool jumps = insn->kind == ISA_JUMP || insn->kind == ISA_BRANCH;
    bool within =
        jumps && flow_function_at(image, (uint64_t)insn->value) == flow_function_at(image, start);
    return isa_hash_insn(hash, code, insn, address, within ? (uint64_t)insn->value - start : 0);
}

uint64_t site_identity(const struct flow_image *image, const struct site *site)
{
    const struct flow_function *owner = &image->functions.items[site->function];
    uint64_t hash = ISA_HASH_START, position = 0;
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
        hash = isa_hash_bytes(hash, owner->name, owner->name_size);
    hash = isa_hash_number(hash, position);
    return hash != 0 ? hash : 1;
}
