// SPDX-License-Identifier: GPL-3.0-or-later
// See machine.h.
#include "callsite/machine-internal.h"

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
                                 fact->from >= 8 ? machine_named(machine, contents, at, fact->src)
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
    case ISA_ADD_CARRY:
    case ISA_SUBTRACT_CARRY: {
        enum isa_kind kind = fact->kind == ISA_ADD_CARRY ? ISA_ADD : ISA_SUBTRACT;
        content = content_apply(contents, ISA_ADD, machine->registers[fact->dst],
                                right_operand(machine, contents, fact), fact->width);
        content = content_apply(contents, kind, content,
                                of_condition(machine, contents, ISA_IF_B, 1), fact->width);
        machine->registers[fact->dst] = content;
        return;
    }
    case ISA_ADD:
    case ISA_SUBTRACT:
    case ISA_AND:
    case ISA_OR:
    case ISA_XOR:
    case ISA_SHIFT_LEFT:
    case ISA_SHIFT_RIGHT:
    case ISA_SHIFT_SIGNED:
        machine->registers[fact->dst] =
            content_apply(contents, fact->kind, machine->registers[fact->dst],
                          right_operand(machine, contents, fact), fact->width);
        return;
    default:
        lose_registers(machine, contents, (uint16_t)(1u << fact->dst));
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

void machine_step(struct machine *machine, struct contents *contents,
                  const struct flow_image *image, uint32_t at)
{
    const struct isa_fact *fact = &image->facts.items[at];
    bool with_carry = fact->kind == ISA_BORROW || fact->kind == ISA_ADD_CARRY ||
                      fact->kind == ISA_SUBTRACT_CARRY; // read the flags before they change them
    if ((fact->flags & ISA_FLAGS) != 0 && !with_carry)
        set_flags(machine, contents, image, at);
    switch (fact->kind) {
    case ISA_STORE:
        lose_registers(machine, contents, fact->writes);
        machine_store(machine, contents, image, at,
                      fact->src != ISA_NONE ? machine->registers[fact->src] : CONTENT_UNKNOWN);
        return;
    case ISA_STORE_CONSTANT:
        machine_store(machine, contents, image, at, content_of_number(contents, fact->value));
        return;
    case ISA_SET:
        if ((fact->flags & ISA_MEMORY) != 0) {
            machine_store(machine, contents, image, at,
                          of_condition(machine, contents, fact->condition, 1));
            return;
        }
        break;
    case ISA_ADDRESS:
        machine->registers[fact->dst] = effective(machine, contents, image, at);
        return;
    case ISA_PUSH:
        machine_push(machine, contents,
                     (fact->flags & ISA_MEMORY) != 0 ? CONTENT_UNKNOWN
                                                     : right_operand(machine, contents, fact));
        return;
    case ISA_POP: {
        uint16_t content = machine_pop(machine, contents);
        if (fact->dst < ISA_REGISTERS)
            machine->registers[fact->dst] = content;
        return;
    }
    case ISA_LEAVE:
        machine->registers[ISA_STACK] = machine->registers[ISA_FRAME];
        machine->registers[ISA_FRAME] = machine_pop(machine, contents);
        return;
    case ISA_SYSCALL:
        machine->registers[ISA_RETURN] = CONTENT_UNKNOWN;
        lose_registers(machine, contents, fact->writes);
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
    bool plain = fact->kind != ISA_OTHER && fact->dst < ISA_REGISTERS;
    if (plain)
        step_to_register(machine, contents, image, at);
    if (with_carry && fact->kind != ISA_BORROW)
        machine->flags = (struct machine_flags){.kind = ISA_OTHER};
    lose_registers(machine, contents,
                   plain ? (uint16_t)(fact->writes & ~(1u << fact->dst)) : fact->writes);
}
