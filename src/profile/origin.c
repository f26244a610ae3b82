// SPDX-License-Identifier: GPL-3.0-or-later
// See origin.h.
#include "profile/origin.h"

#include <elf.h>
#include <string.h>

#define LONGEST_WAY 32 // blocks

// Arguments in their order, as registers.
static const uint8_t argument_registers[] = {5, 4, 1, 2, 8, 9}; // rdi rsi rdx rcx r8 r9

static struct origin at_entry(struct place place, int64_t offset)
{
    struct origin origin = {.kind = ORIGIN_UNKNOWN};
    for (uint8_t i = 0; i < sizeof argument_registers; i++)
        if (place.kind == PLACE_REGISTER && place.reg == argument_registers[i])
            origin = (struct origin){.kind = ORIGIN_ARGUMENT, .argument = i, .where = offset};
    if (place.kind == PLACE_STACK && place.slot >= 8 && place.slot % 8 == 0 && place.slot < 128)
        origin = (struct origin){.kind = ORIGIN_ARGUMENT,
                                 .argument = (uint8_t)(6 + (place.slot - 8) / 8),
                                 .where = offset};
    return origin;
}

static struct origin of_load(const struct flow_image *image, const struct isa_fact *load,
                             const struct search_world *world)
{
    struct origin origin = {.kind = ORIGIN_UNKNOWN};
    if (load->base != ISA_PC || load->index != ISA_NONE)
        return origin;
    const struct flow_slot *slot = flow_slot_at(image, (uint64_t)load->displacement);
    if (slot == NULL)
        return origin;
    if (world->is_error_slot(world->data, slot))
        origin.kind = ORIGIN_ERROR;
    else if (slot->type == R_X86_64_TPOFF64)
        origin = (struct origin){.kind = ORIGIN_THREAD, .where = load->displacement};
    else if (slot->type == R_X86_64_GLOB_DAT || slot->type == R_X86_64_RELATIVE)
        origin = (struct origin){.kind = ORIGIN_GLOBAL, .where = slot->addend};
    return origin;
}

static bool is_error_location(const struct flow_image *image, uint32_t callee)
{
    const char *name;
    size_t size;
    if (callee == FLOW_NONE)
        return false;
    if (flow_callee_is_import(callee)) {
        name = image->imports.items[flow_callee_import(callee)].name;
        size = strlen(name);
    } else {
        name = image->functions.items[callee].name;
        size = image->functions.items[callee].name_size;
    }
    static const char wanted[] = "__errno_location";
    return name != NULL && size == sizeof wanted - 1 && memcmp(name, wanted, size) == 0;
}

struct chase {
    const struct flow_image *image;
    const struct search_world *world;
    struct place place;
    int64_t offset;
};

// One instruction back; true when the origin is known.
static bool chase_step(struct chase *chase, const struct flow_block *block, uint32_t at,
                       struct origin *ret_origin)
{
    const struct isa_fact *fact = &chase->image->facts.items[at];
    *ret_origin = (struct origin){.kind = ORIGIN_UNKNOWN};
    bool call = fact->kind == ISA_CALL || fact->kind == ISA_CALL_INDIRECT;
    if (call) {
        if (chase->place.kind != PLACE_REGISTER || (PLACE_CLOBBERED >> chase->place.reg & 1) == 0)
            return false;
        if (chase->place.reg == ISA_RETURN && chase->offset == 0 &&
            is_error_location(chase->image, block->callee))
            ret_origin->kind = ORIGIN_ERROR;
        return true;
    }
    struct step step = place_step(chase->image, block, at, chase->place);
    if (step.kind == STEP_SAME)
        return false;
    if (step.kind == STEP_MOVED && (!step.operated || step.operation.kind == OPERATION_ADD)) {
        chase->place = step.place;
        chase->offset += step.operated ? step.operation.value : 0;
        return false;
    }
    if (fact->kind == ISA_LOAD)
        *ret_origin = of_load(chase->image, fact, chase->world);
    else if (fact->kind == ISA_ADDRESS && fact->base == ISA_PC && fact->index == ISA_NONE)
        *ret_origin = (struct origin){.kind = ORIGIN_GLOBAL, .where = fact->displacement};
    if (ret_origin->kind == ORIGIN_GLOBAL)
        ret_origin->where += chase->offset;
    return true;
}

struct origin origin_of_store(const struct flow_image *image, const struct flow_block *block,
                              uint32_t fact, const struct search_world *world)
{
    const struct isa_fact *store = &image->facts.items[fact];
    struct origin origin = {.kind = ORIGIN_UNKNOWN};
    if (store->base == ISA_PC && store->index == ISA_NONE)
        return (struct origin){.kind = ORIGIN_GLOBAL, .where = store->displacement};
    if (store->base >= ISA_REGISTERS || store->index != ISA_NONE || store->base == ISA_STACK)
        return origin;
    struct chase chase = {.image = image,
                          .world = world,
                          .place = place_register(store->base),
                          .offset = store->displacement};
    for (int blocks = 0; blocks < LONGEST_WAY; blocks++) {
        while (fact > block->first)
            if (chase_step(&chase, block, --fact, &origin))
                return origin;
        if (block->in_count == 0)
            break;
        block = &image->blocks.items[image->edges.items[block->edges_in].block];
        fact = block->first + block->count;
    }
    const struct flow_function *function = &image->functions.items[block->function];
    bool entry = function->first_block == (uint32_t)(block - image->blocks.items);
    return entry ? at_entry(chase.place, chase.offset) : origin;
}
