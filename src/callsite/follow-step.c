// SPDX-License-Identifier: GPL-3.0-or-later
// Executes one instruction on a path, and records what it does with the result: uses, stores and
// comparisons.
#include "callsite/follow-internal.h"

#include "callsite/reaching.h"

// A copy of a content with another number in one lane.
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
           number_signed(number, width) == number_signed(follower->possible->numbers[lane], width);
}

// fgets(line, size, file) == line: a success may be what was passed to the function.
static void meet_argument(struct follower *follower, const uint16_t *result, uint16_t *other,
                          unsigned width)
{
    const struct possible_results *possible = follower->possible;
    bool passed = false;
    for (unsigned i = 0; i < FOLLOW_ARGUMENTS; i++)
        passed |= follower->passed[i] == *other && *other != CONTENT_UNKNOWN;
    if (!passed || content_at(&follower->contents, *other)->kind != CONTENT_ADDRESS ||
        !content_derived(&follower->contents, *result))
        return;
    for (unsigned lane = 0; lane < possible->lanes; lane++)
        if ((possible->successes >> lane & 1) != 0 && lane_is(follower, *result, (int)lane, width))
            *other = content_of_number(&follower->contents, possible->numbers[lane]);
}

// Adapts the examples of success to what the result is compared with. An unknown number may be the
// length that the program asked for: then it equals the full length. A constant may equal the
// ordinary value by accident: then the ordinary value becomes another one.
static void choose_examples(struct follower *follower, struct machine_flags *flags, bool equality)
{
    const struct possible_results *possible = follower->possible;
    struct contents *contents = &follower->contents;
    int64_t number;
    bool constant = content_constant(contents, flags->right, &number);
    if (equality) {
        meet_argument(follower, &flags->left, &flags->right, flags->width);
        meet_argument(follower, &flags->right, &flags->left, flags->width);
    }
    if (lane_is(follower, flags->left, possible->full, flags->width)) {
        if (constant && equality &&
            number_signed(number, flags->width) >= (possible->zero_full ? 0 : 1))
            flags->left = with_lane(contents, flags->left, possible->full, number);
        else if (content_at(contents, flags->right)->kind != CONTENT_NUMBERS)
            flags->right = content_of_number(contents, possible->numbers[possible->full]);
    }
    if (constant && equality && lane_is(follower, flags->left, possible->ordinary, flags->width) &&
        number == possible->numbers[possible->ordinary])
        flags->left = with_lane(contents, flags->left, possible->ordinary, number + 1);
    if (lane_is(follower, flags->right, possible->full, flags->width) &&
        content_at(contents, flags->left)->kind != CONTENT_NUMBERS)
        flags->left = content_of_number(contents, possible->numbers[possible->full]);
}

struct split follow_split(struct follower *follower, const struct follow_path *path,
                          enum isa_condition condition)
{
    struct split split = {.equality = (condition & ~1u) == ISA_IF_E};
    struct machine machine = {.flags = path->machine.flags};
    struct machine_flags *flags = &machine.flags;
    const struct possible_results *possible = follower->possible;
    if (flags->kind == ISA_COMPARE)
        choose_examples(follower, flags, split.equality);
    else if (flags->kind == ISA_TEST && flags->left == flags->right && split.equality &&
             possible->zero_full && lane_is(follower, flags->left, possible->full, flags->width))
        flags->left = flags->right = with_lane(&follower->contents, flags->left, possible->full, 0);
    for (unsigned i = 0; i < follower->contents.lanes; i++) {
        int holds = machine_condition(&machine, &follower->contents, condition, i);
        if (holds != 0)
            split.yes |= 1ull << i;
        if (holds != 1)
            split.no |= 1ull << i;
    }
    return split;
}

// Failures are told apart if no success goes the same way. If it is unknown which success is the
// usual one, a comparison with one value needs only one success on the other side: code that
// compares with zero takes zero for success. This does not hold for intervals, with which a switch
// begins.
uint64_t follow_apart(const struct follower *follower, const struct follow_path *path,
                      struct split split)
{
    uint64_t only_yes = split.yes & ~split.no & path->alive;
    uint64_t only_no = split.no & ~split.yes & path->alive;
    uint64_t successes = follower->possible->successes & path->alive, apart = 0;
    bool one = split.equality && follower->possible->lenient;
    if ((only_no & successes) != 0 && (one || (split.yes & successes) == 0))
        apart |= only_yes & follower->failures;
    if ((only_yes & successes) != 0 && (one || (split.no & successes) == 0))
        apart |= only_no & follower->failures;
    return apart;
}

// Finds the constant that a register or stack slot was set to before the call.
static void look_back(struct follower *follower, struct follow_path *path, uint32_t at, uint8_t reg,
                      uint16_t *content)
{
    struct place place = place_register(reg);
    struct cell where;
    if (content_at(&follower->contents, *content)->kind == CONTENT_NUMBERS)
        return;
    if (reg >= ISA_REGISTERS) {
        if (!machine_address(&path->machine, &follower->contents, follower->image, at, &where) ||
            where.base != BASE_FRAME || where.offset != (int32_t)where.offset)
            return;
        place = (struct place){.kind = PLACE_STACK, .slot = (int32_t)where.offset};
    }
    struct reaching_value before = reaching_value_find(follower->image, path->block, at, place);
    if (before.kind == REACHING_NUMBER)
        *content = content_of_number(&follower->contents, before.number);
}

static bool is_errno(const struct follower *follower, uint16_t content)
{
    const struct content *item = content_at(&follower->contents, content);
    return item->kind == CONTENT_ADDRESS && item->base == BASE_ERROR_VALUE;
}

static void note_errno_check(struct follow_path *path)
{
    path->errno_checked = true;
    path->errno_checked_in = path->block;
}

static void compared(struct follower *follower, struct follow_path *path, uint32_t at)
{
    const struct isa_insn *insn = &follower->image->insns.items[at];
    struct machine_flags *flags = &path->machine.flags;
    struct contents *contents = &follower->contents;
    if (is_errno(follower, flags->left) || is_errno(follower, flags->right)) {
        if (path->errno_fresh && follow_failed(follower, path))
            note_errno_check(path);
        else if (path->errno_fresh)
            follow_told_apart(follower, path, at, ~0ull, true);
        return;
    }
    bool left = content_derived(contents, flags->left);
    bool right = content_derived(contents, flags->right);
    if (!left && !right)
        return;
    if (insn->kind != ISA_TEST && left)
        look_back(follower, path, at, insn->kind == ISA_COMPARE ? insn->dst : ISA_NONE,
                  &flags->right);
    if (insn->kind != ISA_TEST && right)
        look_back(follower, path, at, insn->src, &flags->left);
    follow_used(follower, path, at, SITE_COMPARED);
}

// gcc calls __errno_location() once and keeps the address in a register across calls. Finds out
// whether this instruction uses such a register.
static void find_errno(struct follower *follower, struct follow_path *path,
                       const struct isa_insn *insn)
{
    uint8_t reg = insn->base;
    if (follower->start == FLOW_NONE || (insn->flags & ISA_MEMORY) == 0 || reg >= ISA_REGISTERS ||
        insn->displacement != 0 || insn->index != ISA_NONE)
        return;
    const struct content *item = content_at(&follower->contents, path->machine.registers[reg]);
    if (item->kind != CONTENT_ADDRESS || item->offset != 0 || item->base < BASE_REGISTER ||
        item->base >= BASE_REGISTER + ISA_REGISTERS)
        return;
    uint8_t origin = (uint8_t)(item->base - BASE_REGISTER);
    if ((follower->searched >> origin & 1) == 0) {
        const struct flow_block *block = &follower->image->blocks.items[follower->start];
        struct reaching_value before =
            reaching_value_find(follower->image, follower->start, block->first + block->count - 1,
                                place_register(origin));
        follower->searched |= (uint16_t)(1u << origin);
        if (before.kind == REACHING_CALLED &&
            reaching_is_errno_location(follower->image, before.callee))
            follower->errno_registers |= (uint16_t)(1u << origin);
    }
    if ((follower->errno_registers >> origin & 1) != 0)
        path->machine.registers[reg] = content_of_address(&follower->contents, BASE_ERROR, 0);
}

static void touched(struct follower *follower, struct follow_path *path, uint32_t at)
{
    const struct isa_insn *insn = &follower->image->insns.items[at];
    const struct contents *contents = &follower->contents;
    if ((insn->flags & ISA_MEMORY) == 0 || insn->kind == ISA_ADDRESS || insn->kind == ISA_NOTHING)
        return;
    if (insn->base < ISA_REGISTERS &&
        content_derived(contents, path->machine.registers[insn->base]))
        follow_used(follower, path, at, SITE_DEREFERENCED);
    else if (insn->index < ISA_REGISTERS && insn->base < ISA_REGISTERS &&
             content_derived(contents, path->machine.registers[insn->index])) {
        int64_t table;
        if (follower->possible->full < 0 && follower->possible->ordinary < 0 &&
            (insn->flags & ISA_SCALE) == 0)
            follow_used(follower, path, at,
                        SITE_DEREFERENCED); // either of base and index may be the pointer
        else if (!content_constant(contents, path->machine.registers[insn->base], &table))
            follow_used(follower, path, at, SITE_CALCULATED);
    }
}

// Whether the operand is in a local variable of the function; arrays count.
static bool is_local(const struct follower *follower, const struct follow_path *path,
                     const struct isa_insn *insn)
{
    if (insn->base >= ISA_REGISTERS)
        return false;
    const struct content *base =
        content_at(&follower->contents, path->machine.registers[insn->base]);
    return base->kind == CONTENT_ADDRESS && base->base == BASE_FRAME;
}

static void stored(struct follower *follower, struct follow_path *path, uint32_t at)
{
    const struct isa_insn *insn = &follower->image->insns.items[at];
    struct cell where;
    if (insn->kind != ISA_STORE || insn->src >= ISA_REGISTERS ||
        !content_derived(&follower->contents, path->machine.registers[insn->src]))
        return;
    bool known = machine_address(&path->machine, &follower->contents, follower->image, at, &where);
    if (is_local(follower, path, insn))
        return;
    follow_used(follower, path, at,
                known && where.base == BASE_GLOBAL ? SITE_STORED_GLOBAL : SITE_STORED_ELSEWHERE);
}

// if (condition) dst = src. Decided lane by lane if the condition depends on the result; otherwise
// the path forks.
static void selected(struct follower *follower, struct follow_path *path, uint32_t at,
                     struct follow_path *other, bool *forked)
{
    const struct isa_insn *insn = &follower->image->insns.items[at];
    struct contents *contents = &follower->contents;
    struct machine *machine = &path->machine;
    uint16_t from = insn->src != ISA_NONE
                        ? machine->registers[insn->src]
                        : machine_load(machine, contents, follower->image, at, insn->from);
    uint16_t old = machine->registers[insn->dst];
    if (from == old)
        return;
    if (!machine_flags_derived(machine, contents)) {
        if (!content_derived(contents, from) && !content_derived(contents, old)) {
            machine->registers[insn->dst] = CONTENT_UNKNOWN;
            return;
        }
        *other = *path;
        *forked = true;
        machine->registers[insn->dst] =
            content_extend(contents, from, insn->width, false, insn->width);
        return;
    }
    struct split split = follow_split(follower, path, insn->condition);
    follow_told_apart(follower, path, at, follow_apart(follower, path, split), false);
    uint64_t known = 0;
    int64_t numbers[CONTENT_LANES];
    for (unsigned i = 0; i < contents->lanes; i++) {
        bool yes = (split.yes & ~split.no) >> i & 1, no = (split.no & ~split.yes) >> i & 1;
        if ((yes && content_number(contents, from, i, &numbers[i])) ||
            (no && content_number(contents, old, i, &numbers[i])))
            known |= 1ull << i;
        numbers[i] = (known >> i & 1) != 0 ? number_unsigned(numbers[i], insn->width) : 0;
    }
    machine->registers[insn->dst] = content_of_lanes(contents, known, numbers, true);
}

// A shift that leaves only the sign bit, or one bit more, tells negative results apart.
static void shifted(struct follower *follower, struct follow_path *path, uint32_t at)
{
    const struct isa_insn *insn = &follower->image->insns.items[at];
    struct split split = {0};
    if ((insn->kind != ISA_SHIFT_RIGHT && insn->kind != ISA_SHIFT_SIGNED) ||
        insn->src != ISA_NONE || insn->value < insn->width * 8 - 2 || insn->dst >= ISA_REGISTERS ||
        !content_derived(&follower->contents, path->machine.registers[insn->dst]))
        return;
    for (unsigned i = 0; i < follower->contents.lanes; i++) {
        int64_t number;
        bool known =
            content_number(&follower->contents, path->machine.registers[insn->dst], i, &number);
        split.yes |= !known || number != 0 ? 1ull << i : 0;
        split.no |= !known || number == 0 ? 1ull << i : 0;
    }
    follow_told_apart(follower, path, at, follow_apart(follower, path, split), false);
}

void follow_step(struct follower *follower, struct follow_path *path, uint32_t at,
                 struct follow_path *ret_other, bool *ret_forked)
{
    const struct isa_insn *insn = &follower->image->insns.items[at];
    struct contents *contents = &follower->contents;
    *ret_forked = false;
    touched(follower, path, at);
    stored(follower, path, at);
    find_errno(follower, path, insn);
    if (insn->kind == ISA_SELECT && insn->dst < ISA_REGISTERS) {
        selected(follower, path, at, ret_other, ret_forked);
        return;
    }
    bool carry =
        insn->kind == ISA_BORROW || insn->kind == ISA_ADD_CARRY || insn->kind == ISA_SUBTRACT_CARRY;
    if ((insn->kind == ISA_SET || carry) && machine_flags_derived(&path->machine, contents))
        follow_told_apart(
            follower, path, at,
            follow_apart(
                follower, path,
                follow_split(follower, path, insn->kind == ISA_SET ? insn->condition : ISA_IF_B)),
            false);
    bool derived = insn->dst < ISA_REGISTERS && insn->kind >= ISA_ADD && insn->kind <= ISA_XOR &&
                   content_at(contents, path->machine.registers[insn->dst])->known != 0;
    machine_step(&path->machine, contents, follower->image, at);
    shifted(follower, path, at);
    if (insn->kind == ISA_COMPARE || insn->kind == ISA_TEST || insn->kind == ISA_COMPARE_MEMORY)
        compared(follower, path, at);
    if (derived && content_derived(contents, path->machine.registers[insn->dst]) &&
        content_at(contents, path->machine.registers[insn->dst])->known == 0)
        follow_used(follower, path, at, SITE_CALCULATED);
}
