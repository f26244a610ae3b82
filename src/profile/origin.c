// SPDX-License-Identifier: GPL-3.0-or-later
// Follows a pointer backwards to where it was made.
#include "profile/origin.h"

#include "elf/tables.h"

#include <elf.h>
#include <string.h>

#define LONGEST_PATH 32 // blocks

static struct origin at_entry(struct place place, int64_t offset)
{
    int argument = place_argument(place);
    if (argument < 0)
        return (struct origin){.kind = ORIGIN_UNKNOWN};
    return (struct origin){.kind = ORIGIN_ARGUMENT, .argument = (uint8_t)argument, .where = offset};
}

static struct origin of_load(const struct flow_image *image, const struct isa_insn *load,
                             const struct search_context *context)
{
    struct origin origin = {.kind = ORIGIN_UNKNOWN};
    if (load->base != ISA_PC || load->index != ISA_NONE)
        return origin;
    const struct flow_slot *slot = flow_slot_at(image, (uint64_t)load->displacement);
    if (slot == NULL)
        return origin;
    if (context->is_error_slot(context->data, slot))
        origin.kind = ORIGIN_ERROR;
    else if (slot->type == R_X86_64_TPOFF64)
        origin = (struct origin){.kind = ORIGIN_THREAD, .where = load->displacement};
    else if (slot->type == R_X86_64_GLOB_DAT || slot->type == R_X86_64_RELATIVE)
        origin = (struct origin){.kind = ORIGIN_GLOBAL, .where = slot->addend};
    return origin;
}

static bool is_named(const struct flow_image *image, uint32_t callee, const char *wanted)
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
    return name != NULL && size == strlen(wanted) && memcmp(name, wanted, size) == 0;
}

// lea rdi, [slots]; call __tls_get_addr. Two slots hold the module and the offset in its storage.
static struct origin of_thread(const struct flow_image *image, const struct flow_block *block,
                               uint32_t call, int64_t offset)
{
    struct origin origin = {.kind = ORIGIN_UNKNOWN};
    const struct isa_insn *lea = call > block->first ? &image->insns.items[call - 1] : NULL;
    if (lea == NULL || lea->kind != ISA_ADDRESS || lea->base != ISA_PC || lea->index != ISA_NONE)
        return origin;
    const struct flow_slot *slot = flow_slot_at(image, (uint64_t)lea->displacement);
    if (slot == NULL || slot->type != R_X86_64_DTPMOD64)
        return origin;
    if (slot->symbol != NULL && slot->symbol[0] != 0)
        return (struct origin){.kind = ORIGIN_THREAD, .where = lea->displacement};
    size_t size;
    uint64_t within = 0;
    const unsigned char *bytes = elf_object_bytes(image->object, slot->address + 8, &size);
    if (bytes != NULL && size >= sizeof within)
        memcpy(&within, bytes, sizeof within);
    return (struct origin){.kind = ORIGIN_OWN_THREAD, .where = (int64_t)within + offset};
}

struct chase {
    const struct flow_image *image;
    const struct search_context *context;
    struct place place;
    int64_t offset;
};

// Goes one instruction back. True if the search ends there.
static bool chase_step(struct chase *chase, const struct flow_block *block, uint32_t at,
                       struct origin *ret_origin)
{
    const struct isa_insn *insn = &chase->image->insns.items[at];
    *ret_origin = (struct origin){.kind = ORIGIN_UNKNOWN};
    bool call = insn->kind == ISA_CALL || insn->kind == ISA_CALL_INDIRECT;
    if (call) {
        if (chase->place.kind != PLACE_REGISTER || (PLACE_CLOBBERED >> chase->place.reg & 1) == 0)
            return false;
        if (chase->place.reg == ISA_RETURN && chase->offset == 0 &&
            is_named(chase->image, block->callee, "__errno_location"))
            ret_origin->kind = ORIGIN_ERROR;
        else if (chase->place.reg == ISA_RETURN &&
                 is_named(chase->image, block->callee, "__tls_get_addr"))
            *ret_origin = of_thread(chase->image, block, at, chase->offset);
        return true;
    }
    struct step step = place_step(chase->image, block, at, chase->place);
    if (step.kind == STEP_SAME)
        return false;
    if (step.kind == STEP_MOVED &&
        (step.operation_count == 0 ||
         (step.operation_count == 1 && step.operations[0].kind == OPERATION_ADD))) {
        chase->place = step.place;
        chase->offset += step.operation_count != 0 ? step.operations[0].value : 0;
        return false;
    }
    if (insn->kind == ISA_LOAD)
        *ret_origin = of_load(chase->image, insn, chase->context);
    else if (insn->kind == ISA_ADDRESS && insn->base == ISA_PC && insn->index == ISA_NONE)
        *ret_origin = (struct origin){.kind = ORIGIN_GLOBAL, .where = insn->displacement};
    if (ret_origin->kind == ORIGIN_GLOBAL)
        ret_origin->where += chase->offset;
    return true;
}

static struct origin follow(struct chase *chase, const struct flow_block *block, uint32_t insn)
{
    const struct flow_image *image = chase->image;
    struct origin origin = {.kind = ORIGIN_UNKNOWN};
    for (int blocks = 0; blocks < LONGEST_PATH; blocks++) {
        while (insn > block->first)
            if (chase_step(chase, block, --insn, &origin))
                return origin;
        if (block->in_count == 0)
            break;
        block = &image->blocks.items[image->edges.items[block->edges_in].block];
        insn = block->first + block->count;
    }
    const struct flow_function *function = &image->functions.items[block->function];
    bool entry = function->first_block == (uint32_t)(block - image->blocks.items);
    return entry ? at_entry(chase->place, chase->offset) : origin;
}

struct origin origin_of_memory(const struct flow_image *image, const struct flow_block *block,
                               uint32_t insn, const struct search_context *context)
{
    const struct isa_insn *access = &image->insns.items[insn];
    struct origin origin = {.kind = ORIGIN_UNKNOWN};
    if (access->base == ISA_PC && access->index == ISA_NONE)
        return (struct origin){.kind = ORIGIN_GLOBAL, .where = access->displacement};
    if (access->base >= ISA_REGISTERS || access->index != ISA_NONE || access->base == ISA_STACK)
        return origin;
    struct chase chase = {.image = image,
                          .context = context,
                          .place = place_register(access->base),
                          .offset = access->displacement};
    return follow(&chase, block, insn);
}

struct origin origin_of_register(const struct flow_image *image, const struct flow_block *block,
                                 uint32_t insn, uint8_t reg, const struct search_context *context)
{
    struct chase chase = {.image = image, .context = context, .place = place_register(reg)};
    return follow(&chase, block, insn);
}
