// SPDX-License-Identifier: GPL-3.0-or-later
// Executes instructions on contents: registers and flags. Memory is in machine-memory.c.
#include "callsite/machine-internal.h"

#include "profile/place.h"

#include <string.h>

void machine_start(struct machine *machine, struct contents *contents, int32_t stack, int32_t frame)
{
    memset(machine, 0, sizeof *machine);
    for (uint8_t r = 0; r < ISA_REGISTERS; r++)
        if ((PLACE_CLOBBERED >> r & 1) == 0)
            machine->registers[r] = content_of_address(contents, BASE_REGISTER + r, 0);
    // If the stack pointer is unknown, any beginning will do: only differences matter.
    machine->registers[ISA_STACK] =
        content_of_address(contents, BASE_FRAME, stack == FLOW_LOST ? 0 : stack);
    if (stack != FLOW_LOST && frame != FLOW_LOST)
        machine->registers[ISA_FRAME] = content_of_address(contents, BASE_FRAME, frame);
}

static uint16_t right_operand(struct machine *machine, struct contents *contents,
                              const struct isa_insn *insn)
{
    return insn->src != ISA_NONE ? machine->registers[insn->src]
                                 : content_of_number(contents, insn->value);
}

static void set_register(struct machine *machine, struct contents *contents,
                         const struct isa_insn *insn, uint16_t content)
{
    if (insn->width < 4) { // the rest stays
        uint16_t old = machine->registers[insn->dst];
        int64_t mask = number_unsigned(-1, insn->width);
        uint16_t low =
            content_apply(contents, ISA_AND, content, content_of_number(contents, mask), 8);
        uint16_t high =
            content_apply(contents, ISA_AND, old, content_of_number(contents, ~mask), 8);
        uint16_t both = content_apply(contents, ISA_OR, low, high, 8);
        // Code cuts an unknown upper part off before it looks at the register.
        content = content_at(contents, high)->kind == CONTENT_NUMBERS ? both : low;
    }
    machine->registers[insn->dst] = content;
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
    const struct isa_insn *insn = &image->insns.items[at];
    struct machine_flags flags = {.kind = insn->kind, .width = insn->width};
    switch (insn->kind) {
    case ISA_COMPARE:
    case ISA_TEST:
        flags.left = insn->src != ISA_NONE
                         ? machine->registers[insn->src]
                         : machine_load(machine, contents, image, at, insn->width);
        flags.right = insn->dst != ISA_NONE ? machine->registers[insn->dst]
                                            : content_of_number(contents, insn->value);
        break;
    case ISA_COMPARE_MEMORY:
        flags.kind = ISA_COMPARE;
        flags.left = machine->registers[insn->src];
        flags.right = machine_load(machine, contents, image, at, insn->width);
        break;
    case ISA_BIT:
        flags.left = machine->registers[insn->src];
        flags.right = insn->dst != ISA_NONE ? machine->registers[insn->dst]
                                            : content_of_number(contents, insn->value);
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
        if ((insn->flags & ISA_RESULT) == 0) {
            flags.kind = ISA_OTHER;
            break;
        }
        flags.left = machine->registers[insn->dst];
        flags.right = right_operand(machine, contents, insn);
        break;
    default:
        flags.kind = ISA_OTHER;
        break;
    }
    machine->flags = flags;
}

// Registers that changed in an unknown way. They still depend on the result if they did before.
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
    const struct isa_insn *insn = &image->insns.items[at];
    uint16_t content;
    switch (insn->kind) {
    case ISA_CONSTANT:
        content = content_of_number(contents, number_unsigned(insn->value, insn->width));
        break;
    case ISA_COPY:
        content = content_extend(contents,
                                 insn->from >= 8 ? machine_named(machine, contents, at, insn->src)
                                                 : machine->registers[insn->src],
                                 insn->from, (insn->flags & ISA_SIGNED) != 0, insn->width);
        break;
    case ISA_LOAD:
        content = content_extend(contents, machine_load(machine, contents, image, at, insn->from),
                                 insn->from, (insn->flags & ISA_SIGNED) != 0, insn->width);
        break;
    case ISA_NEGATE:
    case ISA_INVERT:
        content =
            content_apply(contents, insn->kind, machine->registers[insn->dst], 0, insn->width);
        break;
    case ISA_BORROW:
        content = content_extend(contents, of_condition(machine, contents, ISA_IF_B, -1),
                                 insn->width, false, insn->width);
        break;
    case ISA_SET:
        content = of_condition(machine, contents, insn->condition, 1);
        break;
    case ISA_ADD_CARRY:
    case ISA_SUBTRACT_CARRY: {
        enum isa_kind kind = insn->kind == ISA_ADD_CARRY ? ISA_ADD : ISA_SUBTRACT;
        content = content_apply(contents, ISA_ADD, machine->registers[insn->dst],
                                right_operand(machine, contents, insn), insn->width);
        content = content_apply(contents, kind, content,
                                of_condition(machine, contents, ISA_IF_B, 1), insn->width);
        machine->registers[insn->dst] = content;
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
        machine->registers[insn->dst] =
            content_apply(contents, insn->kind, machine->registers[insn->dst],
                          right_operand(machine, contents, insn), insn->width);
        return;
    default:
        lose_registers(machine, contents, (uint16_t)(1u << insn->dst));
        return;
    }
    set_register(machine, contents, insn, content);
}

static uint16_t effective(struct machine *machine, struct contents *contents,
                          const struct flow_image *image, uint32_t at)
{
    const struct isa_insn *insn = &image->insns.items[at];
    struct cell where;
    if (insn->width < 8 || !machine_address(machine, contents, image, at, &where)) {
        uint16_t sum = content_of_number(contents, insn->displacement);
        if (insn->base < ISA_REGISTERS)
            sum = content_apply(contents, ISA_ADD, machine->registers[insn->base], sum, 8);
        if (insn->index < ISA_REGISTERS) {
            uint16_t scale = content_of_number(contents, insn->flags & ISA_SCALE);
            uint16_t scaled =
                content_apply(contents, ISA_SHIFT_LEFT, machine->registers[insn->index], scale, 8);
            sum = content_apply(contents, ISA_ADD, sum, scaled, 8);
        }
        return content_extend(contents, sum, insn->width, false, insn->width);
    }
    return where.base == BASE_GLOBAL ? content_of_number(contents, where.offset)
                                     : content_of_address(contents, where.base, where.offset);
}

void machine_step(struct machine *machine, struct contents *contents,
                  const struct flow_image *image, uint32_t at)
{
    const struct isa_insn *insn = &image->insns.items[at];
    bool with_carry = insn->kind == ISA_BORROW || insn->kind == ISA_ADD_CARRY ||
                      insn->kind == ISA_SUBTRACT_CARRY; // these read the flags first
    if ((insn->flags & ISA_FLAGS) != 0 && !with_carry)
        set_flags(machine, contents, image, at);
    switch (insn->kind) {
    case ISA_STORE:
        lose_registers(machine, contents, insn->writes);
        machine_store(machine, contents, image, at,
                      insn->src != ISA_NONE ? machine->registers[insn->src] : CONTENT_UNKNOWN);
        return;
    case ISA_STORE_CONSTANT:
        machine_store(machine, contents, image, at, content_of_number(contents, insn->value));
        return;
    case ISA_SET:
        if ((insn->flags & ISA_MEMORY) != 0) {
            machine_store(machine, contents, image, at,
                          of_condition(machine, contents, insn->condition, 1));
            return;
        }
        break;
    case ISA_ADDRESS:
        machine->registers[insn->dst] = effective(machine, contents, image, at);
        return;
    case ISA_PUSH:
        machine_push(machine, contents,
                     (insn->flags & ISA_MEMORY) != 0 ? CONTENT_UNKNOWN
                                                     : right_operand(machine, contents, insn));
        return;
    case ISA_POP: {
        uint16_t content = machine_pop(machine, contents);
        if (insn->dst < ISA_REGISTERS)
            machine->registers[insn->dst] = content;
        return;
    }
    case ISA_LEAVE:
        machine->registers[ISA_STACK] = machine->registers[ISA_FRAME];
        machine->registers[ISA_FRAME] = machine_pop(machine, contents);
        return;
    case ISA_SYSCALL:
        machine->registers[ISA_RETURN] = CONTENT_UNKNOWN;
        lose_registers(machine, contents, insn->writes);
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
    bool plain = insn->kind != ISA_OTHER && insn->dst < ISA_REGISTERS;
    if (plain)
        step_to_register(machine, contents, image, at);
    if (with_carry && insn->kind != ISA_BORROW)
        machine->flags = (struct machine_flags){.kind = ISA_OTHER};
    lose_registers(machine, contents,
                   plain ? (uint16_t)(insn->writes & ~(1u << insn->dst)) : insn->writes);
}
