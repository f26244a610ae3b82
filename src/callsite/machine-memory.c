// SPDX-License-Identifier: GPL-3.0-or-later
// The memory of the machine: a handful of cells. Cells that depend on the result stay longest. The
// others are there to see that two pointers are the same.
#include "callsite/machine-internal.h"

#include "elf/tables.h"
#include "profile/place.h"

#include <string.h>

#define INDEXED 0x10000 // an operation for content_combined(), beyond those of enum isa_kind

static uint64_t made_up(uint32_t insn, unsigned what)
{
    return ((uint64_t)insn + 1) << 8 | what;
}

uint16_t machine_named(struct machine *machine, struct contents *contents, uint32_t insn, uint8_t r)
{
    if (machine->registers[r] == CONTENT_UNKNOWN)
        machine->registers[r] = content_of_address(contents, made_up(insn, r), 0);
    return machine->registers[r];
}

// Adds the index to an address. An unknown index gives a new base: only the same element is known
// to be equal to it.
static bool add_index(const struct machine *machine, struct contents *contents,
                      const struct isa_insn *insn, struct cell *where)
{
    unsigned scale = insn->flags & ISA_SCALE;
    int64_t number;
    if (insn->index >= ISA_REGISTERS)
        return false;
    uint16_t index = machine->registers[insn->index];
    if (content_constant(contents, index, &number)) {
        where->offset = (int64_t)((uint64_t)where->offset + ((uint64_t)number << scale));
        return true;
    }
    if (content_derived(contents, index))
        return false;
    uint16_t base = content_of_address(contents, where->base, scale == 0 ? where->offset : 0);
    uint16_t element =
        content_combined(contents, scale == 0 ? CONTENT_SUM : INDEXED + scale, base, index);
    if (element == CONTENT_UNKNOWN)
        return false;
    where->base = content_at(contents, element)->base;
    if (scale == 0)
        where->offset = content_at(contents, element)->offset;
    return true;
}

bool machine_address(struct machine *machine, struct contents *contents,
                     const struct flow_image *image, uint32_t at, struct cell *ret_where)
{
    const struct isa_insn *insn = &image->insns.items[at];
    struct cell where = {.base = BASE_GLOBAL, .offset = insn->displacement};
    int64_t number;
    if ((insn->flags & ISA_THREAD) != 0)
        where.base = BASE_THREAD;
    if (insn->base < ISA_REGISTERS) {
        uint16_t base = machine_named(machine, contents, at, insn->base);
        const struct content *item = content_at(contents, base);
        if ((insn->flags & ISA_THREAD) != 0)
            return false;
        if (content_constant(contents, base, &number)) {
            where.offset = (int64_t)((uint64_t)where.offset + (uint64_t)number);
        } else if (item->kind == CONTENT_ADDRESS) {
            where.base = item->base;
            where.offset = (int64_t)((uint64_t)where.offset + (uint64_t)item->offset);
        } else {
            return false;
        }
    }
    if (insn->index != ISA_NONE && !add_index(machine, contents, insn, &where))
        return false;
    *ret_where = where;
    return true;
}

static void forget_cell(struct machine *machine, unsigned i)
{
    memmove(&machine->cells[i], &machine->cells[i + 1],
            (machine->cell_count - i - 1) * sizeof *machine->cells);
    machine->cell_count--;
    machine->cells[machine->cell_count] = (struct cell){0}; // machines are compared bytewise
}

// A function that gets the address of a variable may change it. A variable that holds the result is
// assumed to be only read.
static void forget_given(struct machine *machine, const struct contents *contents, uint8_t r)
{
    const struct content *item = content_at(contents, machine->registers[r]);
    for (unsigned i = machine->cell_count; item->kind == CONTENT_ADDRESS && i-- > 0;) {
        const struct cell *cell = &machine->cells[i];
        if (cell->base == item->base && cell->offset == item->offset &&
            !content_derived(contents, cell->content))
            forget_cell(machine, i);
    }
}

void machine_after_call(struct machine *machine, const struct contents *contents)
{
    struct place place;
    for (unsigned i = 0; place_of_argument(i, &place); i++)
        forget_given(machine, contents, place.reg);
    for (uint8_t r = 0; r < ISA_REGISTERS; r++)
        if ((PLACE_CLOBBERED >> r & 1) != 0)
            machine->registers[r] = CONTENT_UNKNOWN;
    machine->flags = (struct machine_flags){.kind = ISA_OTHER};
    for (unsigned i = machine->cell_count; i-- > 0;)
        if (machine->cells[i].base == BASE_ERROR)
            forget_cell(machine, i);
}

static void make_room(struct machine *machine, const struct contents *contents)
{
    unsigned victim = 0;
    for (unsigned i = 0; i < machine->cell_count; i++)
        if (!content_derived(contents, machine->cells[i].content)) {
            victim = i;
            break;
        }
    forget_cell(machine, victim);
}

void machine_write(struct machine *machine, const struct contents *contents, struct cell where)
{
    for (unsigned i = machine->cell_count; i-- > 0;) {
        const struct cell *cell = &machine->cells[i];
        uint64_t apart = (uint64_t)where.offset - (uint64_t)cell->offset;
        if (cell->base == where.base && (apart < cell->width || 0 - apart < where.width))
            forget_cell(machine, i);
    }
    if (where.content == CONTENT_UNKNOWN)
        return;
    if (machine->cell_count == MACHINE_CELLS)
        make_room(machine, contents);
    machine->cells[machine->cell_count++] = where;
}

// Reads a table of the file, once for every lane, because the index depends on the result.
static uint16_t read_table(const struct machine *machine, struct contents *contents,
                           const struct flow_image *image, uint32_t at, unsigned width)
{
    const struct isa_insn *insn = &image->insns.items[at];
    int64_t base = 0, numbers[CONTENT_LANES];
    uint64_t known = 0;
    if (insn->index >= ISA_REGISTERS || (insn->flags & ISA_THREAD) != 0 || width > 8 ||
        !content_derived(contents, machine->registers[insn->index]) ||
        (insn->base < ISA_REGISTERS &&
         !content_constant(contents, machine->registers[insn->base], &base)))
        return CONTENT_UNKNOWN;
    for (unsigned i = 0; i < contents->lanes; i++) {
        int64_t index;
        if (!content_number(contents, machine->registers[insn->index], i, &index))
            continue;
        size_t size;
        uint64_t address = (uint64_t)base + (uint64_t)insn->displacement +
                           ((uint64_t)index << (insn->flags & ISA_SCALE));
        const unsigned char *bytes = elf_object_bytes(image->object, address, &size);
        if (bytes == NULL || size < width)
            continue;
        uint64_t word = 0;
        memcpy(&word, bytes, width);
        known |= 1ull << i;
        numbers[i] = (int64_t)word;
    }
    return content_of_lanes(contents, known, numbers, true);
}

uint16_t machine_load(struct machine *machine, struct contents *contents,
                      const struct flow_image *image, uint32_t at, unsigned width)
{
    struct cell where;
    if (!machine_address(machine, contents, image, at, &where))
        return read_table(machine, contents, image, at, width);
    for (unsigned i = 0; i < machine->cell_count; i++) {
        const struct cell *cell = &machine->cells[i];
        if (cell->base == where.base && cell->offset == where.offset && cell->width >= width)
            return cell->content;
    }
    if (where.base == BASE_ERROR && where.offset == 0)
        return content_of_address(contents, BASE_ERROR_VALUE, 0);
    if (width < 4)
        return CONTENT_UNKNOWN;
    where.width = (uint8_t)width;
    where.content = content_of_address(contents, made_up(at, 0x20), 0);
    machine_write(machine, contents, where);
    return where.content;
}

void machine_store(struct machine *machine, struct contents *contents,
                   const struct flow_image *image, uint32_t at, uint16_t content)
{
    struct cell where;
    if (!machine_address(machine, contents, image, at, &where))
        return;
    where.content = content;
    where.width = image->insns.items[at].width;
    machine_write(machine, contents, where);
}

void machine_push(struct machine *machine, struct contents *contents, uint16_t content)
{
    uint16_t stack = content_apply(contents, ISA_ADD, machine->registers[ISA_STACK],
                                   content_of_number(contents, -8), 8);
    machine->registers[ISA_STACK] = stack;
    const struct content *item = content_at(contents, stack);
    if (item->kind == CONTENT_ADDRESS)
        machine_write(
            machine, contents,
            (struct cell){
                .base = item->base, .offset = item->offset, .content = content, .width = 8});
}

uint16_t machine_pop(struct machine *machine, struct contents *contents)
{
    uint16_t stack = machine->registers[ISA_STACK], content = CONTENT_UNKNOWN;
    const struct content *item = content_at(contents, stack);
    for (unsigned i = 0; i < machine->cell_count; i++) {
        const struct cell *cell = &machine->cells[i];
        if (item->kind == CONTENT_ADDRESS && cell->base == item->base &&
            cell->offset == item->offset && cell->width == 8)
            content = cell->content;
    }
    machine->registers[ISA_STACK] =
        content_apply(contents, ISA_ADD, stack, content_of_number(contents, 8), 8);
    return content;
}
