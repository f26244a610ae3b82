// SPDX-License-Identifier: GPL-3.0-or-later
// Looks for comparisons of global variables and members of structures: of memory with a number, or
// of a register that was loaded shortly before.
#include "callsite/globals.h"

#include "base/cleanup.h"

#include <stdlib.h>

#define NEAR 4 // instructions from the load to the comparison

void compared_globals_deinit(struct compared_globals *globals)
{
    ARRAY_DEINIT(&globals->items);
}

static bool is_global(const struct isa_insn *insn)
{
    return (insn->flags & (ISA_MEMORY | ISA_THREAD)) == ISA_MEMORY && insn->base == ISA_PC &&
           insn->index == ISA_NONE;
}

uint64_t compared_member(int64_t offset, unsigned width)
{
    return 1ull << 63 | (uint64_t)width << 32 | (uint32_t)offset;
}

// The variable or member that an instruction reads. False for local variables and elements.
static bool read_by(const struct isa_insn *insn, const struct flow_block *block,
                    uint64_t *ret_address)
{
    if (is_global(insn)) {
        *ret_address = (uint64_t)insn->displacement;
        return true;
    }
    bool local = insn->base == ISA_STACK || (insn->base == ISA_FRAME && block->frame != FLOW_LOST);
    if ((insn->flags & (ISA_MEMORY | ISA_THREAD)) != ISA_MEMORY || insn->base >= ISA_REGISTERS ||
        insn->index != ISA_NONE || local)
        return false;
    *ret_address =
        compared_member(insn->displacement, insn->kind == ISA_LOAD ? insn->from : insn->width);
    return true;
}

// The number that an instruction compares a register with. A test is a comparison with 0.
static bool compares(const struct isa_insn *insn, uint8_t reg, int64_t *ret_number)
{
    *ret_number = insn->kind == ISA_TEST ? 0 : insn->value;
    if (insn->src != reg || (insn->flags & ISA_MEMORY) != 0)
        return false;
    return insn->kind == ISA_TEST ? insn->dst == reg
                                  : insn->kind == ISA_COMPARE && insn->dst == ISA_NONE;
}

static struct error *add(struct compared_globals *globals, uint64_t address, int64_t number)
{
    struct compared_global *added = ARRAY_ADD(&globals->items);
    if (added == NULL)
        return error_no_memory();
    *added = (struct compared_global){address, number};
    return NULL;
}

static struct error *find_in_block(const struct flow_image *image, const struct flow_block *block,
                                   struct compared_globals *globals)
{
    for (uint32_t i = 0; i < block->count; i++) {
        const struct isa_insn *insn = &image->insns.items[block->first + i];
        uint64_t address;
        bool compared = insn->kind == ISA_COMPARE && insn->src == ISA_NONE && insn->dst == ISA_NONE;
        if ((!compared && insn->kind != ISA_LOAD) || !read_by(insn, block, &address))
            continue;
        if (compared)
            TRY(add(globals, address, insn->value));
        for (uint32_t k = i + 1; !compared && k < block->count && k <= i + NEAR; k++) {
            int64_t number;
            if (compares(&image->insns.items[block->first + k], insn->dst, &number))
                TRY(add(globals, address, number));
            if ((image->insns.items[block->first + k].writes >> insn->dst & 1) != 0)
                break;
        }
    }
    return NULL;
}

static int compare(const void *a, const void *b)
{
    const struct compared_global *left = a, *right = b;
    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    return (left->number > right->number) - (left->number < right->number);
}

struct error *compared_globals_find(const struct flow_image *image,
                                    struct compared_globals *globals)
{
    for (size_t i = 0; i < image->blocks.count && !globals->found; i++)
        TRY(find_in_block(image, &image->blocks.items[i], globals));
    if (!globals->found && globals->items.count != 0)
        qsort(globals->items.items, globals->items.count, sizeof *globals->items.items, compare);
    globals->found = true;
    return NULL;
}

bool compared_globals_has(const struct compared_globals *globals, uint64_t address, int64_t number)
{
    const struct compared_global wanted = {address, number};
    return globals->items.count != 0 && bsearch(&wanted, globals->items.items, globals->items.count,
                                                sizeof wanted, compare) != NULL;
}
