// SPDX-License-Identifier: GPL-3.0-or-later
// Errors by way of a pointer: `socket = lookup(fd, &error); if (!socket) return error;`. Kernels do
// so around sockets. Whether the value really is what the caller returns is not followed: a caller
// that hands out the address of a variable, to a function that stores error numbers through a
// pointer, and reads the variable, is taken to return them.
#include "profile/kernel-walk.h"
#include "profile/place.h"

#include <errno.h>

#define MOST_SLOTS 8

// The error numbers a function stores where some pointer points to.
static struct error_set stored_errors(const struct flow_image *image, uint32_t function)
{
    struct error_set errors = {0};
    const struct flow_function *range = &image->functions.items[function];
    for (uint32_t i = 0; i < range->fact_count; i++) {
        const struct isa_fact *fact = &image->facts.items[range->first_fact + i];
        if (fact->kind == ISA_STORE_CONSTANT && fact->width == 4 && fact->displacement == 0 &&
            fact->index == ISA_NONE && fact->base < ISA_REGISTERS && fact->base != ISA_STACK &&
            fact->value < 0 && fact->value >= -EHWPOISON)
            error_set_add(&errors, (unsigned)-fact->value);
    }
    return errors;
}

static bool is_argument(uint8_t reg)
{
    return reg < ISA_REGISTERS && (1u << reg & (1u << 5 | 1u << 4 | 1u << 1 | 1u << 2)) != 0;
}

// Variables whose address a block puts into argument registers.
static unsigned handed_out(const struct flow_image *image, const struct flow_block *block,
                           struct place *slots)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < block->count && count < MOST_SLOTS; i++) {
        const struct isa_fact *fact = &image->facts.items[block->first + i];
        if (fact->kind == ISA_ADDRESS && is_argument(fact->dst) &&
            place_of_memory(image, block, block->first + i, &slots[count]))
            count++;
    }
    return count;
}

static bool reads(const struct flow_image *image, uint32_t function, const struct place *slots,
                  unsigned count)
{
    const struct flow_function *range = &image->functions.items[function];
    for (uint32_t b = 0; b < range->block_count; b++) {
        const struct flow_block *block = &image->blocks.items[range->first_block + b];
        for (uint32_t i = 0; i < block->count; i++) {
            const struct isa_fact *fact = &image->facts.items[block->first + i];
            struct place from;
            if (fact->kind != ISA_LOAD || fact->from != 4 ||
                !place_of_memory(image, block, block->first + i, &from))
                continue;
            for (unsigned s = 0; s < count; s++)
                if (place_equal(slots[s], from))
                    return true;
        }
    }
    return false;
}

void walk_add_pointed_errors(const struct flow_image *image, uint32_t function,
                             struct error_set *errors)
{
    const struct flow_function *range = &image->functions.items[function];
    for (uint32_t b = 0; b < range->block_count; b++) {
        const struct flow_block *block = &image->blocks.items[range->first_block + b];
        struct place slots[MOST_SLOTS];
        if (block->end != FLOW_CALLS || block->callee >= image->functions.count)
            continue;
        unsigned count = handed_out(image, block, slots);
        if (count == 0 || !reads(image, function, slots, count))
            continue;
        const struct error_set stored = stored_errors(image, block->callee);
        for (unsigned i = 0; i < ERROR_NUMBERS / 64; i++)
            errors->bits[i] |= stored.bits[i];
    }
}
