// SPDX-License-Identifier: GPL-3.0-or-later
// Finds where a value comes from, by reading the code backward: `mov rax, [rbx+8]; mov dl, [rax]`
// reads from what is at offset 8 of what rbx points to.
#include "explain/internal.h"

#include "base/cleanup.h"

#include <string.h>

#define MOST_BLOCKS 8 // looked back through
#define DEEPEST     6 // loads and copies
#define RETURN_SIZE 8 // what a call pushes: the frame's address is above it
#define PRESERVED                                                                                  \
    (1u << 3 | 1u << ISA_FRAME | 1u << ISA_STACK | 1u << 12 | 1u << 13 | 1u << 14 | 1u << 15)

// Stack and frame pointer right before an instruction of a block.
static void pointers_at(const struct flow_image *image, const struct flow_block *block,
                        uint32_t insn, int32_t *ret_stack, int32_t *ret_frame)
{
    *ret_stack = block->stack;
    *ret_frame = block->frame;
    for (uint32_t i = block->first; i < insn; i++)
        flow_move_stack(&image->insns.items[i], ret_stack, ret_frame);
}

static bool writes(const struct isa_insn *insn, uint8_t reg)
{
    return (insn->writes >> reg & 1) != 0;
}

static struct provenance add(struct provenance provenance, int64_t offset)
{
    if (provenance.known && dwarf_place_add(&provenance.place, offset) != NULL)
        provenance.known = false;
    return provenance;
}

static struct provenance load(struct provenance provenance)
{
    if (provenance.known && dwarf_place_load(&provenance.place) != NULL)
        provenance.known = false;
    return provenance;
}

static struct provenance value(const struct flow_image *image, uint32_t block, uint32_t insn,
                               uint8_t reg, unsigned depth);

// The address that a memory operand means.
static struct provenance address_of(const struct flow_image *image, uint32_t block, uint32_t at,
                                    unsigned depth)
{
    const struct isa_insn *insn = &image->insns.items[at];
    struct provenance provenance = {.pc = flow_address(image, insn)};
    if ((insn->flags & ISA_MEMORY) == 0 || (insn->flags & ISA_THREAD) != 0 ||
        insn->index != ISA_NONE)
        return provenance;
    if (insn->base == ISA_PC || insn->base == ISA_NONE) {
        provenance.known = insn->base == ISA_PC;
        provenance.place.base = DWARF_BASE_STATIC;
        provenance.place.offset = insn->displacement;
        return provenance;
    }
    int32_t stack, frame;
    pointers_at(image, &image->blocks.items[block], at, &stack, &frame);
    int32_t own = insn->base == ISA_STACK ? stack : insn->base == ISA_FRAME ? frame : FLOW_LOST;
    if (own != FLOW_LOST) {
        provenance.known = true;
        provenance.place.base = DWARF_BASE_CFA;
        provenance.place.offset = own - RETURN_SIZE + insn->displacement;
        return provenance;
    }
    return insn->base == ISA_STACK
               ? provenance
               : add(value(image, block, at, insn->base, depth), insn->displacement);
}

// What an instruction leaves in the register that it writes.
static struct provenance made_by(const struct flow_image *image, uint32_t block, uint32_t at,
                                 uint8_t reg, unsigned depth)
{
    const struct isa_insn *insn = &image->insns.items[at];
    struct provenance unknown = {0};
    if (insn->dst != reg || insn->width != 8)
        return unknown;
    switch (insn->kind) {
    case ISA_COPY:
        return insn->from == 8 ? value(image, block, at, insn->src, depth) : unknown;
    case ISA_LOAD:
        return insn->from == 8 ? load(address_of(image, block, at, depth)) : unknown;
    case ISA_ADDRESS:
        return address_of(image, block, at, depth);
    case ISA_ADD:
        return insn->src == ISA_NONE ? add(value(image, block, at, reg, depth), insn->value)
                                     : unknown;
    default:
        return unknown;
    }
}

static struct provenance in_register(const struct flow_image *image, uint32_t insn, uint8_t reg)
{
    struct provenance provenance = {.known = true,
                                    .pc = flow_address(image, &image->insns.items[insn])};
    provenance.place.base = DWARF_BASE_REGISTER;
    provenance.place.reg = reg;
    return provenance;
}

// The value of a register right before an instruction.
static struct provenance value(const struct flow_image *image, uint32_t number, uint32_t insn,
                               uint8_t reg, unsigned depth)
{
    struct provenance unknown = {0};
    uint32_t at = insn;
    if (depth == 0 || reg >= ISA_REGISTERS)
        return unknown;
    for (unsigned blocks = 0; blocks < MOST_BLOCKS; blocks++) {
        const struct flow_block *block = &image->blocks.items[number];
        while (at-- > block->first)
            if (writes(&image->insns.items[at], reg))
                return made_by(image, number, at, reg, depth - 1);
        if (block->in_count != 1)
            break;
        uint32_t before = image->edges.items[block->edges_in].block;
        const struct flow_block *earlier = &image->blocks.items[before];
        if (earlier->function != block->function)
            break;
        if (earlier->end == FLOW_CALLS && (PRESERVED >> reg & 1) == 0)
            return unknown; // the result of the call, or nothing
        number = before;
        at = earlier->first + earlier->count;
    }
    return in_register(image, insn, reg);
}

struct provenance provenance_of_operand(const struct flow_image *image, uint32_t block,
                                        uint32_t insn)
{
    return address_of(image, block, insn, DEEPEST);
}

struct provenance provenance_of_register(const struct flow_image *image, uint32_t block,
                                         uint32_t insn, uint8_t reg)
{
    struct provenance provenance = value(image, block, insn, reg, DEEPEST);
    // The last step is the load that gives the value: what is left is the place that it was read
    // from.
    size_t steps = provenance.place.step_count;
    if (!provenance.known || steps == 0 || !provenance.place.steps[steps - 1].load ||
        provenance.place.steps[steps - 1].offset != 0)
        return (struct provenance){0};
    provenance.place.step_count--;
    return provenance;
}

void named_place_deinit(struct named_place *place)
{
    dwarf_name_deinit(&place->name);
}

struct error *named_place_make(const struct code *code, struct provenance provenance,
                               struct named_place *ret_place)
{
    struct named_place place = {.provenance = provenance};
    if (provenance.known && code->dwarf != NULL)
        TRY(dwarf_place_name(code->dwarf, provenance.pc, &provenance.place, &place.name));
    *ret_place = place;
    return NULL;
}

// The offset that the last step of the way adds: of a member in its structure.
static int64_t last_offset(const struct dwarf_place *place)
{
    return place->step_count != 0 ? place->steps[place->step_count - 1].offset : place->offset;
}

static bool is_static(const struct dwarf_place *place)
{
    return place->base == DWARF_BASE_STATIC && place->step_count == 0;
}

static bool is_in_frame(const struct dwarf_place *place)
{
    return place->base == DWARF_BASE_CFA && place->step_count == 0;
}

enum place_match named_place_compare(const struct code *code, const struct named_place *place,
                                     const struct code *other_code, const struct named_place *other)
{
    const struct dwarf_place *a = &place->provenance.place, *b = &other->provenance.place;
    if (!place->provenance.known || !other->provenance.known || is_in_frame(a) || is_in_frame(b))
        return PLACE_OTHER;
    if (is_static(a) || is_static(b))
        return is_static(a) && is_static(b) && code == other_code && a->offset == b->offset
                   ? PLACE_SAME
                   : PLACE_OTHER;
    if (place->name.member != NULL && other->name.member != NULL)
        return strcmp(place->name.member, other->name.member) == 0 ? PLACE_SIMILAR : PLACE_OTHER;
    // Without types the offset is all there is. One of 0 says nothing.
    return code == other_code && last_offset(a) == last_offset(b) && last_offset(a) != 0
               ? PLACE_SIMILAR
               : PLACE_OTHER;
}
