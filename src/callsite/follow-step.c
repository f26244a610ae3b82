// SPDX-License-Identifier: GPL-3.0-or-later
// Executes one instruction on a path, and records what it does with the result: uses, stores and
// comparisons.
#include "callsite/follow-internal.h"

#include "callsite/reaching.h"

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

// isdigit(getc(file)): the tables of <ctype.h> have an entry for EOF, which is like that of many
// other characters.
static bool looks_up_character(const struct follower *follower, const struct isa_insn *insn)
{
    return follow_is_character(follower->possible) && (insn->flags & ISA_SCALE) == 1 &&
           (insn->displacement & ~1) == 0;
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
        else if (looks_up_character(follower, insn)) {
            follower->outcome.sifted |= follow_not_told_apart(follower, path);
            follow_used(follower, path, at, SITE_COMPARED);
        } else if (!content_constant(contents, path->machine.registers[insn->base], &table))
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

// Code that only failures reach notes them somewhere. errno does not count: it goes with a result.
static void handled(struct follower *follower, struct follow_path *path, uint32_t at)
{
    const struct isa_insn *insn = &follower->image->insns.items[at];
    struct cell where;
    if ((insn->kind != ISA_STORE && insn->kind != ISA_STORE_CONSTANT) ||
        !follow_failed(follower, path) || is_local(follower, path, insn))
        return;
    bool known = machine_address(&path->machine, &follower->contents, follower->image, at, &where);
    follower->outcome.handled |= !known || where.base != BASE_ERROR;
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

// if (length < 1) length = 1: a failure is told apart if another value takes its place, but not
// that of every success.
static uint64_t replaced(const struct follower *follower, const struct follow_path *path,
                         struct split split, uint16_t old, uint16_t from)
{
    bool keeps = content_derived(&follower->contents, old);
    if (keeps == content_derived(&follower->contents, from))
        return 0;
    uint64_t only_yes = split.yes & ~split.no & path->alive;
    uint64_t only_no = split.no & ~split.yes & path->alive;
    uint64_t kept = keeps ? only_no : only_yes;
    return (kept & follower->possible->successes) != 0
               ? (keeps ? only_yes : only_no) & follower->failures
               : 0;
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
    follow_told_apart(follower, path, at, replaced(follower, path, split, old, from), false);
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

// Arguments from the seventh on are pushed.
static void pushed(struct follower *follower, struct follow_path *path, uint32_t at)
{
    const struct isa_insn *insn = &follower->image->insns.items[at];
    if (follow_not_told_apart(follower, path) == 0)
        return;
    uint16_t content = CONTENT_UNKNOWN;
    if ((insn->flags & ISA_MEMORY) != 0)
        content = machine_load(&path->machine, &follower->contents, follower->image, at, 8);
    else if (insn->src < ISA_REGISTERS)
        content = path->machine.registers[insn->src];
    follower->outcome.on_stack |= content_derived(&follower->contents, content);
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
    if (follower->mode == FOLLOW_WRAPPER)
        handled(follower, path, at);
    if (insn->kind == ISA_PUSH)
        pushed(follower, path, at);
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
