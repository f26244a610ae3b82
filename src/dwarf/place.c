// SPDX-License-Identifier: GPL-3.0-or-later
// Translates DWARF location expressions into places. Only places are accepted that can be recovered
// in a caller's frame: registers only if a called function must preserve them.
#include "dwarf/place.h"

#include <dwarf.h>

#define STACK 8

static const char too_deep[] = "its location is too complicated";
static const char optimised[] = "the compiler did not keep it where a caller's frame can be read";
static const char in_thread[] = "it is thread-local";

const char *dwarf_place_add(struct dwarf_place *place, int64_t offset)
{
    if (offset == 0)
        return NULL;
    if (place->is_value && place->base == DWARF_BASE_REGISTER && place->step_count == 0 &&
        place->offset == 0) {
        // A member of a small struct that is in a register as a whole.
        if (offset < 0 || offset > 7)
            return optimised;
        place->bit_offset += (unsigned)offset * 8;
        return NULL;
    }
    if (place->is_value)
        return optimised;
    int64_t *sum =
        place->step_count != 0 ? &place->steps[place->step_count - 1].offset : &place->offset;
    return __builtin_add_overflow(*sum, offset, sum) ? too_deep : NULL;
}

const char *dwarf_place_load(struct dwarf_place *place)
{
    if (place->is_value) {
        if (place->bit_offset != 0 || place->bit_width != 0)
            return optimised;
        place->is_value = false;
        return NULL;
    }
    if (place->bit_width != 0 || place->step_count == DWARF_PLACE_STEPS)
        return too_deep;
    place->steps[place->step_count++] = (struct dwarf_step){.load = true};
    return NULL;
}

const char *dwarf_place_bits(struct dwarf_place *place, uint64_t bit_offset, unsigned bit_width)
{
    const char *problem = dwarf_place_add(place, (int64_t)(bit_offset / 8));
    place->bit_offset += bit_offset % 8;
    place->bit_width = bit_width;
    return problem;
}

struct item {
    bool constant;
    int64_t number;
    struct dwarf_place place;
};

struct machine {
    struct item items[STACK];
    size_t count;
    const struct dwarf_place *frame_base;
};

static const char *push(struct machine *machine, const struct item *item)
{
    if (machine->count == STACK)
        return too_deep;
    machine->items[machine->count++] = *item;
    return NULL;
}

static const char *push_constant(struct machine *machine, int64_t number)
{
    return push(machine, &(struct item){.constant = true, .number = number});
}

static const char *push_base(struct machine *machine, enum dwarf_base base, unsigned reg,
                             int64_t offset, bool is_value)
{
    bool preserved = reg == 3 || reg == 6 || reg == 7 || (reg >= 12 && reg <= 15);
    if (base == DWARF_BASE_REGISTER && !preserved)
        return optimised;
    return push(machine,
                &(struct item){
                    .place = {.base = base, .reg = reg, .offset = offset, .is_value = is_value}});
}

static const char *push_frame(struct machine *machine, int64_t offset)
{
    if (machine->frame_base == NULL)
        return optimised;
    struct item item = {.place = *machine->frame_base};
    item.place.is_value = false; // the frame base is an address, even if a register holds it
    const char *problem = dwarf_place_add(&item.place, offset);
    return problem != NULL ? problem : push(machine, &item);
}

// a + sign * b, where one of them is a number.
static const char *combine(struct machine *machine, int sign)
{
    if (machine->count < 2)
        return too_deep;
    struct item *a = &machine->items[machine->count - 2], *b = a + 1;
    if (sign > 0 && a->constant && !b->constant) {
        struct item swapped = *a;
        *a = *b;
        *b = swapped;
    }
    if (!b->constant)
        return too_deep;
    machine->count--;
    int64_t number = sign > 0 ? b->number : (int64_t)(0 - (uint64_t)b->number);
    if (!a->constant)
        return dwarf_place_add(&a->place, number);
    a->number = (int64_t)((uint64_t)a->number + (uint64_t)number);
    return NULL;
}

static const char *with_top(struct machine *machine, unsigned operation, int64_t number)
{
    if (machine->count == 0)
        return too_deep;
    struct item *top = &machine->items[machine->count - 1];
    if (operation == DW_OP_plus_uconst && top->constant) {
        top->number = (int64_t)((uint64_t)top->number + (uint64_t)number);
        return NULL;
    }
    if (top->constant)
        return optimised;
    if (operation == DW_OP_plus_uconst)
        return dwarf_place_add(&top->place, number);
    if (operation == DW_OP_deref)
        return dwarf_place_load(&top->place);
    top->place.is_value = true; // DW_OP_stack_value
    return NULL;
}

static const char *push_address(struct machine *machine, Dwarf_Attribute *attribute,
                                const Dwarf_Op *operation)
{
    Dwarf_Attribute indirect;
    Dwarf_Addr address = operation->number;
    if (operation->atom != DW_OP_addr &&
        (dwarf_getlocation_attr(attribute, operation, &indirect) != 0 ||
         dwarf_formaddr(&indirect, &address) != 0))
        return too_deep;
    return push_base(machine, DWARF_BASE_STATIC, 0, (int64_t)address, false);
}

static const char *step(struct machine *machine, Dwarf_Attribute *attribute,
                        const Dwarf_Op *operation)
{
    unsigned atom = operation->atom;
    int64_t number = (int64_t)operation->number;
    if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
        return push_constant(machine, atom - DW_OP_lit0);
    if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31)
        return push_base(machine, DWARF_BASE_REGISTER, atom - DW_OP_reg0, 0, true);
    if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
        return push_base(machine, DWARF_BASE_REGISTER, atom - DW_OP_breg0, number, false);
    if (atom >= DW_OP_const1u && atom <= DW_OP_consts)
        return push_constant(machine, number);
    switch (atom) {
    case DW_OP_nop:
        return NULL;
    case DW_OP_addr:
    case DW_OP_addrx:
    case DW_OP_GNU_addr_index:
        return push_address(machine, attribute, operation);
    case DW_OP_regx:
        return push_base(machine, DWARF_BASE_REGISTER, (unsigned)number, 0, true);
    case DW_OP_bregx:
        return push_base(machine, DWARF_BASE_REGISTER, (unsigned)number,
                         (int64_t)operation->number2, false);
    case DW_OP_fbreg:
        return push_frame(machine, number);
    case DW_OP_call_frame_cfa:
        return push_base(machine, DWARF_BASE_CFA, 0, 0, false);
    case DW_OP_plus:
        return combine(machine, 1);
    case DW_OP_minus:
        return combine(machine, -1);
    case DW_OP_plus_uconst:
    case DW_OP_deref:
    case DW_OP_stack_value:
        return with_top(machine, atom, number);
    default:
        return optimised;
    }
}

const char *dwarf_place_evaluate(Dwarf_Attribute *attribute, const Dwarf_Op *operations,
                                 size_t count, const struct dwarf_place *frame_base,
                                 struct dwarf_place *ret_place)
{
    struct machine machine = {.frame_base = frame_base};
    for (size_t i = 0; i < count; i++)
        if (operations[i].atom == DW_OP_form_tls_address ||
            operations[i].atom == DW_OP_GNU_push_tls_address)
            return in_thread;
    for (size_t i = 0; i < count; i++) {
        const char *problem = step(&machine, attribute, &operations[i]);
        if (problem != NULL)
            return problem;
    }
    if (machine.count == 0 || machine.items[machine.count - 1].constant)
        return optimised;
    *ret_place = machine.items[machine.count - 1].place;
    return NULL;
}
