// SPDX-License-Identifier: GPL-3.0-or-later
// Translates one instruction into a step backwards: where a place's value was before, and what was
// done with it.
#include "profile/place.h"

#define TABLE_BLOCKS 3 // looked at to find where a table's address is made

static void pointers_at(const struct flow_image *image, const struct flow_block *block,
                        uint32_t insn, int32_t *ret_stack, int32_t *ret_frame)
{
    *ret_stack = block->stack;
    *ret_frame = block->frame;
    for (uint32_t i = block->first; i < insn; i++)
        flow_move_stack(&image->insns.items[i], ret_stack, ret_frame);
}

static bool slot_at(int32_t pointer, int64_t offset, struct place *ret_place)
{
    if (pointer == FLOW_LOST || offset < -(1 << 28) || offset > 1 << 28)
        return false;
    *ret_place = (struct place){.kind = PLACE_STACK, .slot = pointer + (int32_t)offset};
    return true;
}

bool place_of_memory(const struct flow_image *image, const struct flow_block *block, uint32_t insn,
                     struct place *ret_place)
{
    const struct isa_insn *what = &image->insns.items[insn];
    if ((what->flags & (ISA_MEMORY | ISA_THREAD)) != ISA_MEMORY || what->index != ISA_NONE ||
        (what->base != ISA_STACK && what->base != ISA_FRAME))
        return false;
    int32_t stack, frame;
    pointers_at(image, block, insn, &stack, &frame);
    return slot_at(what->base == ISA_STACK ? stack : frame, what->displacement, ret_place);
}

// The registers of arguments, in their order.
static const uint8_t argument_registers[] = {5, 4, 1, 2, 8, 9}; // rdi rsi rdx rcx r8 r9

int place_argument(struct place place)
{
    for (int i = 0; i < (int)sizeof argument_registers; i++)
        if (place.kind == PLACE_REGISTER && place.reg == argument_registers[i])
            return i;
    bool stack = place.kind == PLACE_STACK && place.slot >= 8 && place.slot < 128;
    return stack && place.slot % 8 == 0 ? 6 + (place.slot - 8) / 8 : -1;
}

bool place_of_argument(unsigned number, struct place *ret_place)
{
    if (number >= sizeof argument_registers)
        return false;
    *ret_place = place_register(argument_registers[number]);
    return true;
}

bool place_of_system_argument(unsigned number, struct place *ret_place)
{
    if (!place_of_argument(number, ret_place))
        return false;
    if (number == 3)
        ret_place->reg = 10; // syscall overwrites rcx, so r10 is used
    return true;
}

static struct step lost(void)
{
    return (struct step){.kind = STEP_LOST};
}

static struct step moved(struct place place)
{
    return (struct step){.kind = STEP_MOVED, .place = place};
}

// Adds an operation to a step. STEP_LOST if there is no room for it.
static struct step then(struct step step, enum operation_kind kind, uint8_t width, int64_t value)
{
    if (kind == OPERATION_ADD && value == 0 && width >= 4)
        return step;
    if (value < INT32_MIN || value > INT32_MAX || step.operation_count == STEP_OPERATIONS)
        return lost();
    if (step.kind != STEP_MOVED)
        return step;
    for (unsigned i = step.operation_count++; i > 0; i--)
        step.operations[i] = step.operations[i - 1];
    step.operations[0] =
        (struct operation){.kind = (uint8_t)kind, .width = width, .value = (int32_t)value};
    return step;
}

static struct step operated(struct place place, enum operation_kind kind, uint8_t width,
                            int64_t value)
{
    return then(moved(place), kind, width, value);
}

// dst = src, or a part of it.
static struct step copied(const struct isa_insn *insn, struct place from)
{
    if (insn->from >= insn->width && insn->from >= 4)
        return moved(from);
    return operated(from, insn->flags & ISA_SIGNED ? OPERATION_EXTEND : OPERATION_TRUNCATE,
                    insn->from, 0);
}

// The address that a register holds in front of `insn`, if it was put there shortly before.
static bool fixed_address(const struct flow_image *image, const struct flow_block *block,
                          uint32_t insn, uint8_t reg, uint64_t *ret_address)
{
    for (int blocks = 0; blocks < TABLE_BLOCKS; blocks++) {
        while (insn > block->first) {
            const struct isa_insn *before = &image->insns.items[--insn];
            if ((before->writes >> reg & 1) == 0)
                continue;
            *ret_address = before->kind == ISA_ADDRESS ? (uint64_t)before->displacement
                                                       : (uint64_t)(uint32_t)before->value;
            return before->kind == ISA_CONSTANT ||
                   (before->kind == ISA_ADDRESS && before->base == ISA_PC &&
                    before->index == ISA_NONE);
        }
        if (block->in_count != 1 || block->end == FLOW_CALLS)
            return false;
        block = &image->blocks.items[image->edges.items[block->edges_in].block];
        insn = block->first + block->count;
    }
    return false;
}

bool place_gets_address(const struct flow_image *image, const struct flow_block *block,
                        uint32_t insn, struct place place)
{
    const struct isa_insn *what = &image->insns.items[insn];
    uint64_t address;
    if (place.kind != PLACE_REGISTER || what->dst != place.reg || what->width != 8)
        return false;
    if (what->kind == ISA_ADDRESS)
        return what->base == ISA_PC || what->base == ISA_STACK;
    return what->kind == ISA_ADD && what->src != ISA_NONE &&
           (fixed_address(image, block, insn, what->src, &address) ||
            fixed_address(image, block, insn, what->dst, &address)) &&
           address >= 4096;
}

bool place_number(const struct flow_image *image, const struct flow_block *block, uint32_t insn,
                  uint8_t reg, int64_t *ret_number)
{
    while (insn > block->first) {
        const struct isa_insn *before = &image->insns.items[--insn];
        if ((before->writes >> reg & 1) == 0)
            continue;
        *ret_number = before->value;
        return before->kind == ISA_CONSTANT && before->width >= 4;
    }
    return false;
}

// Whether `mask` is filled with the sign of `reg`: mov mask, reg; sar mask, 31.
static bool is_sign_of(const struct flow_image *image, const struct flow_block *block,
                       uint32_t insn, uint8_t mask, uint8_t reg)
{
    bool shifted = false;
    while (insn > block->first) {
        const struct isa_insn *before = &image->insns.items[--insn];
        if ((before->writes >> reg & 1) != 0)
            return false;
        if ((before->writes >> mask & 1) == 0)
            continue;
        if (shifted)
            return before->kind == ISA_COPY && before->src == reg && before->from >= 4;
        shifted = before->kind == ISA_SHIFT_SIGNED && before->src == ISA_NONE &&
                  before->width >= 4 && before->value == before->width * 8 - 1;
        if (!shifted)
            return false;
    }
    return false;
}

// x & (x >> 31): x if it is negative, otherwise 0.
static bool keeps_negative(const struct flow_image *image, const struct flow_block *block,
                           uint32_t at, struct step *ret_step)
{
    const struct isa_insn *insn = &image->insns.items[at];
    uint8_t kept = is_sign_of(image, block, at, insn->dst, insn->src)   ? insn->src
                   : is_sign_of(image, block, at, insn->src, insn->dst) ? insn->dst
                                                                        : ISA_NONE;
    *ret_step = (struct step){.kind = STEP_NEGATIVE, .place = place_register(kept)};
    return kept != ISA_NONE;
}

// dst = dst OPERATION value or src, where one of the two is a number.
static struct step combined(const struct flow_image *image, const struct flow_block *block,
                            uint32_t at, enum operation_kind kind)
{
    const struct isa_insn *insn = &image->insns.items[at];
    struct place dst = place_register(insn->dst), src = place_register(insn->src);
    bool subtract = insn->kind == ISA_SUBTRACT;
    int64_t number;
    if (insn->src == ISA_NONE)
        return insn->kind == ISA_SUBTRACT || (insn->flags & ISA_MEMORY) != 0
                   ? lost()
                   : operated(dst, kind, insn->width, insn->value);
    if (insn->src == insn->dst && insn->kind == ISA_ADD)
        return operated(dst, OPERATION_MULTIPLY, insn->width, 2);
    if (insn->src == insn->dst)
        return kind == OPERATION_AND || kind == OPERATION_OR ? (struct step){.kind = STEP_SAME}
                                                             : lost();
    struct step step;
    if (kind == OPERATION_AND && keeps_negative(image, block, at, &step))
        return step;
    if (place_number(image, block, at, insn->src, &number) && number != INT64_MIN)
        return operated(dst, kind, insn->width, subtract ? -number : number);
    if (!place_number(image, block, at, insn->dst, &number))
        return lost();
    step = moved(src);
    if (subtract)
        step = then(step, OPERATION_NEGATE, insn->width, 0);
    return then(step, kind, insn->width, number);
}

// Unoptimised code negates by 0 - [memory].
static struct step subtracted(const struct flow_image *image, const struct flow_block *block,
                              uint32_t at)
{
    const struct isa_insn *insn = &image->insns.items[at];
    struct place from;
    int64_t number;
    if (!place_number(image, block, at, insn->dst, &number) ||
        !place_of_memory(image, block, at, &from))
        return lost();
    return then(operated(from, OPERATION_NEGATE, insn->width, 0), OPERATION_ADD, insn->width,
                number);
}

// A number and the carry, added or subtracted.
static struct step carried(const struct flow_image *image, const struct flow_block *block,
                           uint32_t at)
{
    const struct isa_insn *insn = &image->insns.items[at];
    int64_t number;
    if (!place_number(image, block, at, insn->dst, &number))
        return lost();
    uint64_t sum = (uint64_t)number + (uint64_t)insn->value;
    return (struct step){
        .kind = STEP_CONDITION,
        .constant = (int64_t)(insn->kind == ISA_ADD_CARRY ? sum + 1 : sum - 1),
        .otherwise = (int64_t)sum,
        .condition = ISA_IF_B,
    };
}

// A table of constants, as compilers make them of a switch: [table + index * scale].
static struct step from_table(const struct flow_image *image, const struct flow_block *block,
                              uint32_t at)
{
    const struct isa_insn *insn = &image->insns.items[at];
    uint8_t index = insn->index, base = insn->base, scale = insn->flags & ISA_SCALE;
    uint64_t address = 0;
    if ((insn->flags & ISA_THREAD) != 0 || base == ISA_STACK || base == ISA_PC)
        return lost();
    if (index == ISA_NONE) { // the only register is the index of a table at a fixed address
        index = base;
        base = ISA_NONE;
        if (index == ISA_NONE || insn->displacement < 4096)
            return lost();
    }
    if (base != ISA_NONE && !fixed_address(image, block, at, base, &address)) {
        if (scale != 0 || !fixed_address(image, block, at, index, &address))
            return lost();
        index = base;
    }
    int64_t offset = (int64_t)(address + (uint64_t)insn->displacement - image->base);
    struct step step = moved(place_register(index));
    if (scale != 0)
        step = then(step, OPERATION_SHIFT_LEFT, 8, scale);
    bool extended = (insn->flags & ISA_SIGNED) != 0 || insn->from >= 4;
    return then(step, extended ? OPERATION_SIGNED_TABLE : OPERATION_TABLE, insn->from, offset);
}

static struct step loaded(const struct flow_image *image, const struct flow_block *block,
                          uint32_t insn)
{
    struct place from;
    if (!place_of_memory(image, block, insn, &from))
        return from_table(image, block, insn);
    return copied(&image->insns.items[insn], from);
}

// dst = base + index * scale + displacement, if only one register is used.
static struct step computed(const struct isa_insn *insn)
{
    struct step step = moved(place_register(insn->base));
    uint8_t scale = insn->flags & ISA_SCALE;
    if (insn->base == ISA_STACK || insn->base == ISA_PC || insn->index == ISA_STACK)
        return lost();
    if (insn->base == ISA_NONE && insn->index != ISA_NONE)
        step = operated(place_register(insn->index), OPERATION_SHIFT_LEFT, 8, scale);
    else if (insn->index != ISA_NONE && insn->index == insn->base)
        step = operated(place_register(insn->index), OPERATION_MULTIPLY, 8, 1 + (1 << scale));
    else if (insn->index != ISA_NONE || insn->base == ISA_NONE)
        return lost();
    return then(step, OPERATION_ADD, insn->width, insn->displacement);
}

// A shift that leaves only the sign has two possible results.
static struct step shifted(const struct isa_insn *insn, enum operation_kind kind)
{
    struct place same = place_register(insn->dst);
    if (insn->src != ISA_NONE)
        return lost();
    if (kind == OPERATION_SHIFT_LEFT || insn->width < 4 || insn->value != insn->width * 8 - 1)
        return operated(same, kind, insn->width, insn->value);
    return (struct step){
        .kind = STEP_SIGN, .place = same, .constant = kind == OPERATION_SHIFT_RIGHT ? 1 : -1};
}

static struct step popped(const struct flow_image *image, const struct flow_block *block,
                          uint32_t insn)
{
    int32_t stack, frame;
    struct place from;
    pointers_at(image, block, insn, &stack, &frame);
    return slot_at(stack, 0, &from) ? moved(from) : lost();
}

static struct step conditional(const struct isa_insn *insn, int64_t yes)
{
    return (struct step){
        .kind = STEP_CONDITION,
        .constant = yes,
        .condition = insn->kind == ISA_BORROW ? ISA_IF_B : (enum isa_condition)insn->condition};
}

static struct step selected(const struct flow_image *image, const struct flow_block *block,
                            uint32_t at)
{
    const struct isa_insn *insn = &image->insns.items[at];
    struct step step = {.kind = STEP_SELECTED,
                        .condition = (enum isa_condition)insn->condition,
                        .place = place_register(insn->src)};
    if ((insn->flags & ISA_MEMORY) != 0)
        step.unknown = !place_of_memory(image, block, at, &step.place);
    return step;
}

static struct step step_register(const struct flow_image *image, const struct flow_block *block,
                                 uint32_t at, struct place place)
{
    const struct isa_insn *insn = &image->insns.items[at];
    struct place same = place_register(insn->dst);
    if ((insn->writes >> place.reg & 1) == 0)
        return (struct step){.kind = STEP_SAME};
    if (insn->dst != place.reg)
        return lost();
    switch (insn->kind) {
    case ISA_CONSTANT:
        return (struct step){.kind = STEP_CONSTANT, .constant = insn->value};
    case ISA_COPY:
        return copied(insn, place_register(insn->src));
    case ISA_LOAD:
        return loaded(image, block, at);
    case ISA_ADDRESS:
        return computed(insn);
    case ISA_ADD:
    case ISA_SUBTRACT:
        return combined(image, block, at, OPERATION_ADD);
    case ISA_ADD_CARRY:
    case ISA_SUBTRACT_CARRY:
        return carried(image, block, at);
    case ISA_SUBTRACT_MEMORY:
        return subtracted(image, block, at);
    case ISA_AND:
        return combined(image, block, at, OPERATION_AND);
    case ISA_OR:
        return combined(image, block, at, OPERATION_OR);
    case ISA_XOR:
        return combined(image, block, at, OPERATION_XOR);
    case ISA_SHIFT_LEFT:
        return shifted(insn, OPERATION_SHIFT_LEFT);
    case ISA_SHIFT_RIGHT:
        return shifted(insn, OPERATION_SHIFT_RIGHT);
    case ISA_SHIFT_SIGNED:
        return shifted(insn, OPERATION_SHIFT_SIGNED);
    case ISA_NEGATE:
        return operated(same, OPERATION_NEGATE, insn->width, 0);
    case ISA_INVERT:
        return operated(same, OPERATION_INVERT, insn->width, 0);
    case ISA_BORROW:
        return conditional(insn, -1);
    case ISA_SET:
        return conditional(insn, 1);
    case ISA_SELECT:
        return selected(image, block, at);
    case ISA_POP:
        return popped(image, block, at);
    default:
        return lost();
    }
}

static struct step step_stack(const struct flow_image *image, const struct flow_block *block,
                              uint32_t at, struct place place)
{
    const struct isa_insn *insn = &image->insns.items[at];
    struct place target;
    if (insn->kind == ISA_PUSH) {
        int32_t stack, frame;
        pointers_at(image, block, at, &stack, &frame);
        if (!slot_at(stack, -8, &target) || target.slot != place.slot)
            return (struct step){.kind = STEP_SAME};
        if ((insn->flags & ISA_MEMORY) != 0)
            return lost();
        return insn->src != ISA_NONE
                   ? moved(place_register(insn->src))
                   : (struct step){.kind = STEP_CONSTANT, .constant = insn->value};
    }
    bool stores = insn->kind == ISA_STORE || insn->kind == ISA_STORE_CONSTANT ||
                  (insn->kind == ISA_SET && (insn->flags & ISA_MEMORY) != 0);
    if (!stores || !place_of_memory(image, block, at, &target) || target.slot != place.slot)
        return (struct step){.kind = STEP_SAME};
    if (insn->kind == ISA_STORE_CONSTANT)
        return (struct step){.kind = STEP_CONSTANT, .constant = insn->value};
    if (insn->kind == ISA_SET)
        return conditional(insn, 1);
    return insn->src != ISA_NONE ? moved(place_register(insn->src)) : lost();
}

struct step place_step(const struct flow_image *image, const struct flow_block *block,
                       uint32_t insn, struct place place)
{
    if (place.kind == PLACE_ERROR)
        return (struct step){.kind = STEP_SAME};
    return place.kind == PLACE_REGISTER ? step_register(image, block, insn, place)
                                        : step_stack(image, block, insn, place);
}
