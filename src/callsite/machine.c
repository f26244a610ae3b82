// SPDX-License-Identifier: GPL-3.0-or-later
// See machine.h. Memory is a handful of cells: those that hold what depends on the result, and
// enough of the others to see that two pointers are the same.
#include "callsite/machine.h"

#include "elf/tables.h"
#include "profile/place.h"

#include <string.h>

void machine_start(struct machine *machine, struct contents *contents, int32_t stack, int32_t frame)
{
    memset(machine, 0, sizeof *machine);
    for (uint8_t r = 0; r < ISA_REGISTERS; r++)
        if ((PLACE_CLOBBERED >> r & 1) == 0)
            machine->registers[r] = content_of_address(contents, BASE_REGISTER + r, 0);
    // Where the stack pointer is lost, only differences count.
    machine->registers[ISA_STACK] =
        content_of_address(contents, BASE_FRAME, stack == FLOW_LOST ? 0 : stack);
    if (stack != FLOW_LOST && frame != FLOW_LOST)
        machine->registers[ISA_FRAME] = content_of_address(contents, BASE_FRAME, frame);
}

// ---- memory ----

static uint64_t made_up(uint32_t fact, unsigned what)
{
    return ((uint64_t)fact + 1) << 8 | what;
}

// The content of a register, which gets a name if it has none.
static uint16_t named(struct machine *machine, struct contents *contents, uint32_t fact, uint8_t r)
{
    if (machine->registers[r] == CONTENT_UNKNOWN)
        machine->registers[r] = content_of_address(contents, made_up(fact, r), 0);
    return machine->registers[r];
}

bool machine_address(struct machine *machine, struct contents *contents,
                     const struct flow_image *image, uint32_t at, struct cell *ret_where)
{
    const struct isa_fact *fact = &image->facts.items[at];
    struct cell where = {.base = BASE_GLOBAL, .offset = fact->displacement};
    int64_t number;
    if ((fact->flags & ISA_THREAD) != 0)
        where.base = BASE_THREAD;
    if (fact->base < ISA_REGISTERS) {
        uint16_t base = named(machine, contents, at, fact->base);
        const struct content *item = content_at(contents, base);
        if ((fact->flags & ISA_THREAD) != 0)
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
    if (fact->index != ISA_NONE) {
        if (fact->index >= ISA_REGISTERS ||
            !content_constant(contents, machine->registers[fact->index], &number))
            return false;
        where.offset =
            (int64_t)((uint64_t)where.offset + ((uint64_t)number << (fact->flags & ISA_SCALE)));
    }
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

void machine_after_call(struct machine *machine)
{
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

static void write_cell(struct machine *machine, const struct contents *contents, struct cell where)
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

// A table in the file, read for every lane: the index depends on the result.
static uint16_t read_table(const struct machine *machine, struct contents *contents,
                           const struct flow_image *image, uint32_t at, unsigned width)
{
    const struct isa_fact *fact = &image->facts.items[at];
    int64_t base = 0, numbers[CONTENT_LANES];
    uint64_t known = 0;
    if (fact->index >= ISA_REGISTERS || (fact->flags & ISA_THREAD) != 0 || width > 8 ||
        !content_derived(contents, machine->registers[fact->index]) ||
        (fact->base < ISA_REGISTERS &&
         !content_constant(contents, machine->registers[fact->base], &base)))
        return CONTENT_UNKNOWN;
    for (unsigned i = 0; i < contents->lanes; i++) {
        int64_t index;
        if (!content_number(contents, machine->registers[fact->index], i, &index))
            continue;
        size_t size;
        uint64_t address = (uint64_t)base + (uint64_t)fact->displacement +
                           ((uint64_t)index << (fact->flags & ISA_SCALE));
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
    if (width != 8)
        return CONTENT_UNKNOWN;
    where.width = 8;
    where.content = content_of_address(contents, made_up(at, 0x20), 0);
    write_cell(machine, contents, where);
    return where.content;
}

static void store(struct machine *machine, struct contents *contents,
                  const struct flow_image *image, uint32_t at, uint16_t content)
{
    struct cell where;
    if (!machine_address(machine, contents, image, at, &where))
        return;
    where.content = content;
    where.width = image->facts.items[at].width;
    write_cell(machine, contents, where);
}

static void push(struct machine *machine, struct contents *contents, uint16_t content)
{
    uint16_t stack = content_apply(contents, ISA_ADD, machine->registers[ISA_STACK],
                                   content_of_number(contents, -8), 8);
    machine->registers[ISA_STACK] = stack;
    const struct content *item = content_at(contents, stack);
    if (item->kind == CONTENT_ADDRESS)
        write_cell(machine, contents,
                   (struct cell){
                       .base = item->base, .offset = item->offset, .content = content, .width = 8});
}

static uint16_t pop(struct machine *machine, struct contents *contents)
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

// ---- one instruction ----

static uint16_t right_operand(struct machine *machine, struct contents *contents,
                              const struct isa_fact *fact)
{
    return fact->src != ISA_NONE ? machine->registers[fact->src]
                                 : content_of_number(contents, fact->value);
}

static void set_register(struct machine *machine, struct contents *contents,
                         const struct isa_fact *fact, uint16_t content)
{
    if (fact->width < 4) { // the rest stays
        uint16_t old = machine->registers[fact->dst];
        int64_t mask = number_unsigned(-1, fact->width);
        uint16_t low =
            content_apply(contents, ISA_AND, content, content_of_number(contents, mask), 8);
        uint16_t high =
            content_apply(contents, ISA_AND, old, content_of_number(contents, ~mask), 8);
        uint16_t both = content_apply(contents, ISA_OR, low, high, 8);
        // Nobody looks at an upper part that is unknown without cutting it off first.
        content = content_at(contents, high)->kind == CONTENT_NUMBERS ? both : low;
    }
    machine->registers[fact->dst] = content;
}

static uint16_t of_condition(const struct machine *machine, struct contents *contents,
                             enum isa_condition condition, int64_t yes)
{
    int64_t numbers[CONTENT_LANES];
    uint64_t known = 0;
    for (unsigned i = 0; i < contents->lanes; i++) {
        int holds = machine_condition(machine, contents, condition, i);
        if (holds < 0)
            continue;
        known |= 1ull << i;
        numbers[i] = holds ? yes : 0;
    }
    return content_of_lanes(contents, known, numbers, machine_flags_derived(machine, contents));
}

static void set_flags(struct machine *machine, struct contents *contents,
                      const struct flow_image *image, uint32_t at)
{
    const struct isa_fact *fact = &image->facts.items[at];
    struct machine_flags flags = {.kind = fact->kind, .width = fact->width};
    switch (fact->kind) {
    case ISA_COMPARE:
    case ISA_TEST:
        flags.left = fact->src != ISA_NONE
                         ? machine->registers[fact->src]
                         : machine_load(machine, contents, image, at, fact->width);
        flags.right = fact->dst != ISA_NONE ? machine->registers[fact->dst]
                                            : content_of_number(contents, fact->value);
        break;
    case ISA_COMPARE_MEMORY:
        flags.kind = ISA_COMPARE;
        flags.left = machine->registers[fact->src];
        flags.right = machine_load(machine, contents, image, at, fact->width);
        break;
    case ISA_BIT:
        flags.left = machine->registers[fact->src];
        flags.right = fact->dst != ISA_NONE ? machine->registers[fact->dst]
                                            : content_of_number(contents, fact->value);
        break;
    case ISA_ADD:
    case ISA_SUBTRACT:
    case ISA_AND:
    case ISA_OR:
    case ISA_XOR:
    case ISA_SHIFT_LEFT:
    case ISA_SHIFT_RIGHT:
    case ISA_SHIFT_SIGNED:
    case ISA_NEGATE:
        if ((fact->flags & ISA_RESULT) == 0) {
            flags.kind = ISA_OTHER;
            break;
        }
        flags.left = machine->registers[fact->dst];
        flags.right = right_operand(machine, contents, fact);
        break;
    default:
        flags.kind = ISA_OTHER;
        break;
    }
    machine->flags = flags;
}

static void step_to_register(struct machine *machine, struct contents *contents,
                             const struct flow_image *image, uint32_t at)
{
    const struct isa_fact *fact = &image->facts.items[at];
    uint16_t content;
    switch (fact->kind) {
    case ISA_CONSTANT:
        content = content_of_number(contents, number_unsigned(fact->value, fact->width));
        break;
    case ISA_COPY:
        content = content_extend(contents,
                                 fact->from >= 8 ? named(machine, contents, at, fact->src)
                                                 : machine->registers[fact->src],
                                 fact->from, (fact->flags & ISA_SIGNED) != 0, fact->width);
        break;
    case ISA_LOAD:
        content = content_extend(contents, machine_load(machine, contents, image, at, fact->from),
                                 fact->from, (fact->flags & ISA_SIGNED) != 0, fact->width);
        break;
    case ISA_NEGATE:
    case ISA_INVERT:
        content =
            content_apply(contents, fact->kind, machine->registers[fact->dst], 0, fact->width);
        break;
    case ISA_BORROW:
        content = content_extend(contents, of_condition(machine, contents, ISA_IF_B, -1),
                                 fact->width, false, fact->width);
        break;
    case ISA_SET:
        content = of_condition(machine, contents, fact->condition, 1);
        break;
    default:
        content = content_apply(contents, fact->kind, machine->registers[fact->dst],
                                right_operand(machine, contents, fact), fact->width);
        machine->registers[fact->dst] = content;
        return;
    }
    set_register(machine, contents, fact, content);
}

static uint16_t effective(struct machine *machine, struct contents *contents,
                          const struct flow_image *image, uint32_t at)
{
    const struct isa_fact *fact = &image->facts.items[at];
    struct cell where;
    if (fact->width < 8 || !machine_address(machine, contents, image, at, &where)) {
        uint16_t sum = content_of_number(contents, fact->displacement);
        if (fact->base < ISA_REGISTERS)
            sum = content_apply(contents, ISA_ADD, machine->registers[fact->base], sum, 8);
        if (fact->index < ISA_REGISTERS) {
            uint16_t scale = content_of_number(contents, fact->flags & ISA_SCALE);
            uint16_t scaled =
                content_apply(contents, ISA_SHIFT_LEFT, machine->registers[fact->index], scale, 8);
            sum = content_apply(contents, ISA_ADD, sum, scaled, 8);
        }
        return content_extend(contents, sum, fact->width, false, fact->width);
    }
    return where.base == BASE_GLOBAL ? content_of_number(contents, where.offset)
                                     : content_of_address(contents, where.base, where.offset);
}

// What changed in a way nobody knows: still the result's offspring if it was before.
static void lose_registers(struct machine *machine, struct contents *contents, uint16_t writes)
{
    for (uint8_t r = 0; r < ISA_REGISTERS; r++) {
        if ((writes >> r & 1) == 0)
            continue;
        machine->registers[r] =
            content_of_lanes(contents, 0, NULL, content_derived(contents, machine->registers[r]));
    }
}

void machine_step(struct machine *machine, struct contents *contents,
                  const struct flow_image *image, uint32_t at)
{
    const struct isa_fact *fact = &image->facts.items[at];
    if ((fact->flags & ISA_FLAGS) != 0 && fact->kind != ISA_BORROW)
        set_flags(machine, contents, image, at);
    switch (fact->kind) {
    case ISA_STORE:
        lose_registers(machine, contents, fact->writes);
        store(machine, contents, image, at,
              fact->src != ISA_NONE ? machine->registers[fact->src] : CONTENT_UNKNOWN);
        return;
    case ISA_STORE_CONSTANT:
        store(machine, contents, image, at, content_of_number(contents, fact->value));
        return;
    case ISA_SET:
        if ((fact->flags & ISA_MEMORY) != 0) {
            store(machine, contents, image, at,
                  of_condition(machine, contents, fact->condition, 1));
            return;
        }
        break;
    case ISA_ADDRESS:
        machine->registers[fact->dst] = effective(machine, contents, image, at);
        return;
    case ISA_PUSH:
        push(machine, contents,
             (fact->flags & ISA_MEMORY) != 0 ? CONTENT_UNKNOWN
                                             : right_operand(machine, contents, fact));
        return;
    case ISA_POP: {
        uint16_t content = pop(machine, contents);
        if (fact->dst < ISA_REGISTERS)
            machine->registers[fact->dst] = content;
        return;
    }
    case ISA_LEAVE:
        machine->registers[ISA_STACK] = machine->registers[ISA_FRAME];
        machine->registers[ISA_FRAME] = pop(machine, contents);
        return;
    case ISA_COMPARE:
    case ISA_COMPARE_MEMORY:
    case ISA_TEST:
    case ISA_BIT:
    case ISA_NOTHING:
        return;
    default:
        break;
    }
    bool plain = fact->kind != ISA_OTHER && fact->kind != ISA_SYSCALL && fact->dst < ISA_REGISTERS;
    if (plain)
        step_to_register(machine, contents, image, at);
    lose_registers(machine, contents,
                   plain ? (uint16_t)(fact->writes & ~(1u << fact->dst)) : fact->writes);
}
