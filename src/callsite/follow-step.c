// SPDX-License-Identifier: GPL-3.0-or-later
// See follow-internal.h: one instruction, and what it says about the result.
#include "callsite/follow-internal.h"

#include "callsite/before.h"

// The same content, but for one lane.
static uint16_t with_lane(struct contents *contents, uint16_t content, int lane, int64_t number)
{
    const struct content *item = content_at(contents, content);
    int64_t numbers[CONTENT_LANES];
    for (unsigned i = 0; i < contents->lanes; i++)
        numbers[i] = contents->numbers.items[item->first + i];
    numbers[lane] = number;
    return content_of_lanes(contents, item->known, numbers, true);
}

static bool lane_is(const struct follower *follower, uint16_t content, int lane, unsigned width)
{
    int64_t number;
    return lane >= 0 && content_number(&follower->contents, content, (unsigned)lane, &number) &&
           number_signed(number, width) ==
               number_signed(follower->candidates->numbers[lane], width);
}

// What the result is compared with may be an example of success itself: the length that was asked
// for, or a constant that the example was not meant to equal.
static void choose_examples(struct follower *follower, struct machine_flags *flags, bool equality)
{
    const struct candidates *candidates = follower->candidates;
    struct contents *contents = &follower->contents;
    int64_t number;
    bool constant = content_constant(contents, flags->right, &number);
    if (lane_is(follower, flags->left, candidates->full, flags->width)) {
        if (constant && equality && number_signed(number, flags->width) > 0)
            flags->left = with_lane(contents, flags->left, candidates->full, number);
        else if (content_at(contents, flags->right)->kind != CONTENT_NUMBERS)
            flags->right = content_of_number(contents, candidates->numbers[candidates->full]);
    }
    if (constant && equality &&
        lane_is(follower, flags->left, candidates->ordinary, flags->width) &&
        number == candidates->numbers[candidates->ordinary])
        flags->left = with_lane(contents, flags->left, candidates->ordinary, number + 1);
    if (lane_is(follower, flags->right, candidates->full, flags->width) &&
        content_at(contents, flags->left)->kind != CONTENT_NUMBERS)
        flags->left = content_of_number(contents, candidates->numbers[candidates->full]);
}

struct split follow_split(struct follower *follower, const struct way *way,
                          enum isa_condition condition)
{
    struct split split = {.equality = (condition & ~1u) == ISA_IF_E};
    struct machine machine = {.flags = way->machine.flags};
    if (machine.flags.kind == ISA_COMPARE)
        choose_examples(follower, &machine.flags, split.equality);
    for (unsigned i = 0; i < follower->contents.lanes; i++) {
        int holds = machine_condition(&machine, &follower->contents, condition, i);
        if (holds != 0)
            split.yes |= 1ull << i;
        if (holds != 1)
            split.no |= 1ull << i;
    }
    return split;
}

// With several examples of success, one is enough where a value is asked for: who asks whether the
// result is zero takes zero for success. An interval, which a switch begins with, must hold none.
uint64_t follow_apart(const struct follower *follower, const struct way *way, struct split split)
{
    uint64_t only_yes = split.yes & ~split.no & way->alive;
    uint64_t only_no = split.no & ~split.yes & way->alive;
    uint64_t successes = follower->candidates->successes & way->alive, apart = 0;
    bool one = split.equality && follower->candidates->lenient;
    if ((only_no & successes) != 0 && (one || (split.yes & successes) == 0))
        apart |= only_yes & follower->failures;
    if ((only_yes & successes) != 0 && (one || (split.no & successes) == 0))
        apart |= only_no & follower->failures;
    return apart;
}

// What was filled before the call: a register, or a slot of the stack.
static void look_back(struct follower *follower, struct way *way, uint32_t at, uint8_t reg,
                      uint16_t *content)
{
    struct place place = place_register(reg);
    struct cell where;
    if (content_at(&follower->contents, *content)->kind == CONTENT_NUMBERS)
        return;
    if (reg >= ISA_REGISTERS) {
        if (!machine_address(&way->machine, &follower->contents, follower->image, at, &where) ||
            where.base != BASE_FRAME || where.offset != (int32_t)where.offset)
            return;
        place = (struct place){.kind = PLACE_STACK, .slot = (int32_t)where.offset};
    }
    struct before before = before_find(follower->image, way->block, at, place);
    if (before.kind == BEFORE_NUMBER)
        *content = content_of_number(&follower->contents, before.number);
}

static bool is_errno(const struct follower *follower, uint16_t content)
{
    const struct content *item = content_at(&follower->contents, content);
    return item->kind == CONTENT_ADDRESS && item->base == BASE_ERROR_VALUE;
}

static void follow_asked(struct way *way)
{
    way->asked = true;
    way->asked_in = way->block;
}

static void compared(struct follower *follower, struct way *way, uint32_t at)
{
    const struct isa_fact *fact = &follower->image->facts.items[at];
    struct machine_flags *flags = &way->machine.flags;
    struct contents *contents = &follower->contents;
    if (is_errno(follower, flags->left) || is_errno(follower, flags->right)) {
        if (way->fresh && follow_failed(follower, way))
            follow_asked(way);
        else if (way->fresh)
            follow_told(follower, way, at, ~0ull, true);
        return;
    }
    bool left = content_derived(contents, flags->left);
    bool right = content_derived(contents, flags->right);
    if (!left && !right)
        return;
    if (fact->kind != ISA_TEST && left)
        look_back(follower, way, at, fact->kind == ISA_COMPARE ? fact->dst : ISA_NONE,
                  &flags->right);
    if (fact->kind != ISA_TEST && right)
        look_back(follower, way, at, fact->src, &flags->left);
    follow_used(follower, way, at, SITE_COMPARED);
}

// Gcc asks for errno's address once and keeps it in a register across calls.
static void find_errno(struct follower *follower, struct way *way, const struct isa_fact *fact)
{
    uint8_t reg = fact->base;
    if (follower->start == FLOW_NONE || (fact->flags & ISA_MEMORY) == 0 || reg >= ISA_REGISTERS ||
        fact->displacement != 0 || fact->index != ISA_NONE)
        return;
    const struct content *item = content_at(&follower->contents, way->machine.registers[reg]);
    if (item->kind != CONTENT_ADDRESS || item->offset != 0 || item->base < BASE_REGISTER ||
        item->base >= BASE_REGISTER + ISA_REGISTERS)
        return;
    uint8_t origin = (uint8_t)(item->base - BASE_REGISTER);
    if ((follower->searched >> origin & 1) == 0) {
        const struct flow_block *block = &follower->image->blocks.items[follower->start];
        struct before before = before_find(follower->image, follower->start,
                                           block->first + block->count - 1, place_register(origin));
        follower->searched |= (uint16_t)(1u << origin);
        if (before.kind == BEFORE_CALLED &&
            before_is_error_location(follower->image, before.callee))
            follower->errno_registers |= (uint16_t)(1u << origin);
    }
    if ((follower->errno_registers >> origin & 1) != 0)
        way->machine.registers[reg] = content_of_address(&follower->contents, BASE_ERROR, 0);
}

static void touched(struct follower *follower, struct way *way, uint32_t at)
{
    const struct isa_fact *fact = &follower->image->facts.items[at];
    const struct contents *contents = &follower->contents;
    if ((fact->flags & ISA_MEMORY) == 0 || fact->kind == ISA_ADDRESS || fact->kind == ISA_NOTHING)
        return;
    if (fact->base < ISA_REGISTERS && content_derived(contents, way->machine.registers[fact->base]))
        follow_used(follower, way, at, SITE_DEREFERENCED);
    else if (fact->index < ISA_REGISTERS && fact->base < ISA_REGISTERS &&
             content_derived(contents, way->machine.registers[fact->index])) {
        int64_t table;
        if (follower->candidates->full < 0 && follower->candidates->ordinary < 0 &&
            (fact->flags & ISA_SCALE) == 0)
            follow_used(follower, way, at,
                        SITE_DEREFERENCED); // base and index are as good as each other
        else if (!content_constant(contents, way->machine.registers[fact->base], &table))
            follow_used(follower, way, at, SITE_CALCULATED);
    }
}

// In the function's own variables, arrays among them.
static bool is_local(const struct follower *follower, const struct way *way,
                     const struct isa_fact *fact)
{
    if (fact->base >= ISA_REGISTERS)
        return false;
    const struct content *base =
        content_at(&follower->contents, way->machine.registers[fact->base]);
    return base->kind == CONTENT_ADDRESS && base->base == BASE_FRAME;
}

static void stored(struct follower *follower, struct way *way, uint32_t at)
{
    const struct isa_fact *fact = &follower->image->facts.items[at];
    struct cell where;
    if (fact->kind != ISA_STORE || fact->src >= ISA_REGISTERS ||
        !content_derived(&follower->contents, way->machine.registers[fact->src]))
        return;
    bool known = machine_address(&way->machine, &follower->contents, follower->image, at, &where);
    if (is_local(follower, way, fact))
        return;
    follow_used(follower, way, at,
                known && where.base == BASE_GLOBAL ? SITE_STORED_GLOBAL : SITE_STORED_ELSEWHERE);
}

// if (condition) dst = src: by lanes where the condition depends on the result, otherwise both
// ways.
static void selected(struct follower *follower, struct way *way, uint32_t at, struct way *other,
                     bool *forked)
{
    const struct isa_fact *fact = &follower->image->facts.items[at];
    struct contents *contents = &follower->contents;
    struct machine *machine = &way->machine;
    uint16_t from = fact->src != ISA_NONE
                        ? machine->registers[fact->src]
                        : machine_load(machine, contents, follower->image, at, fact->from);
    uint16_t old = machine->registers[fact->dst];
    if (from == old)
        return;
    if (!machine_flags_derived(machine, contents)) {
        if (!content_derived(contents, from) && !content_derived(contents, old)) {
            machine->registers[fact->dst] = CONTENT_UNKNOWN;
            return;
        }
        *other = *way;
        *forked = true;
        machine->registers[fact->dst] =
            content_extend(contents, from, fact->width, false, fact->width);
        return;
    }
    struct split split = follow_split(follower, way, fact->condition);
    follow_told(follower, way, at, follow_apart(follower, way, split), false);
    uint64_t known = 0;
    int64_t numbers[CONTENT_LANES];
    for (unsigned i = 0; i < contents->lanes; i++) {
        bool yes = (split.yes & ~split.no) >> i & 1, no = (split.no & ~split.yes) >> i & 1;
        if ((yes && content_number(contents, from, i, &numbers[i])) ||
            (no && content_number(contents, old, i, &numbers[i])))
            known |= 1ull << i;
        numbers[i] = (known >> i & 1) != 0 ? number_unsigned(numbers[i], fact->width) : 0;
    }
    machine->registers[fact->dst] = content_of_lanes(contents, known, numbers, true);
}

// A shift that leaves the sign, or little more, tells what is negative.
static void shifted(struct follower *follower, struct way *way, uint32_t at)
{
    const struct isa_fact *fact = &follower->image->facts.items[at];
    struct split split = {0};
    if ((fact->kind != ISA_SHIFT_RIGHT && fact->kind != ISA_SHIFT_SIGNED) ||
        fact->src != ISA_NONE || fact->value < fact->width * 8 - 2 || fact->dst >= ISA_REGISTERS ||
        !content_derived(&follower->contents, way->machine.registers[fact->dst]))
        return;
    for (unsigned i = 0; i < follower->contents.lanes; i++) {
        int64_t number;
        bool known =
            content_number(&follower->contents, way->machine.registers[fact->dst], i, &number);
        split.yes |= !known || number != 0 ? 1ull << i : 0;
        split.no |= !known || number == 0 ? 1ull << i : 0;
    }
    follow_told(follower, way, at, follow_apart(follower, way, split), false);
}

void follow_step(struct follower *follower, struct way *way, uint32_t at, struct way *ret_other,
                 bool *ret_forked)
{
    const struct isa_fact *fact = &follower->image->facts.items[at];
    struct contents *contents = &follower->contents;
    *ret_forked = false;
    touched(follower, way, at);
    stored(follower, way, at);
    find_errno(follower, way, fact);
    if (fact->kind == ISA_SELECT && fact->dst < ISA_REGISTERS) {
        selected(follower, way, at, ret_other, ret_forked);
        return;
    }
    bool carry =
        fact->kind == ISA_BORROW || fact->kind == ISA_ADD_CARRY || fact->kind == ISA_SUBTRACT_CARRY;
    if ((fact->kind == ISA_SET || carry) && machine_flags_derived(&way->machine, contents))
        follow_told(follower, way, at,
                    follow_apart(follower, way,
                                 follow_split(follower, way,
                                              fact->kind == ISA_SET ? fact->condition : ISA_IF_B)),
                    false);
    bool derived = fact->dst < ISA_REGISTERS && fact->kind >= ISA_ADD && fact->kind <= ISA_XOR &&
                   content_at(contents, way->machine.registers[fact->dst])->known != 0;
    machine_step(&way->machine, contents, follower->image, at);
    shifted(follower, way, at);
    if (fact->kind == ISA_COMPARE || fact->kind == ISA_TEST || fact->kind == ISA_COMPARE_MEMORY)
        compared(follower, way, at);
    if (derived && content_derived(contents, way->machine.registers[fact->dst]) &&
        content_at(contents, way->machine.registers[fact->dst])->known == 0)
        follow_used(follower, way, at, SITE_CALCULATED);
}
