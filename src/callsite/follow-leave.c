// SPDX-License-Identifier: GPL-3.0-or-later
// Leaves a block at its last instruction: decides where the path goes on, and with which lanes.
#include "callsite/follow-internal.h"

#include "base/cleanup.h"
#include "callsite/reaching.h"
#include "profile/names.h"

#include <string.h>
#include <strings.h>

static struct error *note_branch(struct follower *follower, const struct follow_path *path,
                                 struct split split)
{
    struct branch_lanes *known = NULL;
    for (size_t i = 0; i < follower->branches.count && known == NULL; i++)
        if (follower->branches.items[i].block == path->block)
            known = &follower->branches.items[i];
    if (known == NULL) {
        known = ARRAY_ADD(&follower->branches);
        if (known == NULL)
            return error_no_memory();
        *known = (struct branch_lanes){.block = path->block};
    }
    known->taken |= path->alive & split.yes;
    known->falls |= path->alive & split.no;
    return NULL;
}

static struct error *leave_by_branch(struct follower *follower, struct follow_path *path,
                                     uint32_t at)
{
    const struct flow_block *block = &follower->image->blocks.items[path->block];
    struct split split = {.yes = ~0ull, .no = ~0ull};
    if (machine_flags_derived(&path->machine, &follower->contents)) {
        split = follow_split(follower, path, follower->image->insns.items[at].condition);
        follow_told_apart(follower, path, at, follow_apart(follower, path, split), false);
    }
    if (follower->mode == FOLLOW_BRANCHES)
        TRY(note_branch(follower, path, split));
    if (block->end == FLOW_TAIL && (path->alive & split.yes) != 0) {
        struct follow_path tail = *path;
        tail.alive &= split.yes;
        follow_passed(follower, &tail, at, block->callee);
    }
    for (uint32_t i = 0; i < block->out_count; i++) {
        struct flow_edge edge = follower->image->edges.items[block->edges_out + i];
        TRY(follow_go_to(follower, path, edge.block,
                         edge.kind == FLOW_TAKEN ? split.yes : split.no));
    }
    return NULL;
}

// A switch: finds out where each lane goes.
static struct error *leave_by_table(struct follower *follower, struct follow_path *path,
                                    uint32_t at)
{
    const struct flow_image *image = follower->image;
    const struct flow_block *block = &image->blocks.items[path->block];
    const struct isa_insn *insn = &image->insns.items[at];
    uint16_t target = insn->src < ISA_REGISTERS
                          ? path->machine.registers[insn->src]
                          : machine_load(&path->machine, &follower->contents, image, at, 8);
    if (block->out_count == 0) {
        // The frame is gone, so this is a tail call to an unknown function.
        const struct content *stack =
            content_at(&follower->contents, path->machine.registers[ISA_STACK]);
        if (stack->kind == CONTENT_ADDRESS && stack->base == BASE_FRAME && stack->offset == 0)
            follow_passed(follower, path, at, FLOW_NONE);
        else
            follower->outcome.lost = true;
        return NULL;
    }
    uint64_t apart = 0;
    for (uint32_t i = 0; i < block->out_count; i++) {
        const struct flow_block *to =
            &image->blocks.items[image->edges.items[block->edges_out + i].block];
        struct split split = {0};
        for (unsigned lane = 0; lane < follower->contents.lanes; lane++) {
            int64_t address;
            bool known = content_number(&follower->contents, target, lane, &address);
            bool here =
                known && (uint64_t)address == flow_address(image, &image->insns.items[to->first]);
            split.yes |= !known || here ? 1ull << lane : 0;
            split.no |= !known || !here ? 1ull << lane : 0;
        }
        apart |= follow_apart(follower, path, split);
    }
    follow_told_apart(follower, path, at, apart, false);
    for (uint32_t i = 0; i < block->out_count; i++) {
        uint32_t to = image->edges.items[block->edges_out + i].block;
        uint64_t lanes = 0;
        for (unsigned lane = 0; lane < follower->contents.lanes; lane++) {
            int64_t address;
            if (!content_number(&follower->contents, target, lane, &address) ||
                (uint64_t)address ==
                    flow_address(image, &image->insns.items[image->blocks.items[to].first]))
                lanes |= 1ull << lane;
        }
        TRY(follow_go_to(follower, path, to, lanes));
    }
    return NULL;
}

static bool comes_back(const struct flow_image *image, const struct flow_block *block)
{
    if (block->callee == FLOW_NONE)
        return true;
    return flow_callee_is_import(block->callee)
               ? image->imports.items[flow_callee_import(block->callee)].returns
               : image->functions.items[block->callee].returns;
}

// Whether a call ends the program because of the result. __stack_chk_fail does not count: it ends
// the program whatever the result was.
static bool ends_program(const struct flow_image *image, const struct flow_block *block)
{
    return !comes_back(image, block) &&
           !(flow_callee_is_import(block->callee) &&
             strcmp(image->imports.items[flow_callee_import(block->callee)].name,
                    "__stack_chk_fail") == 0);
}

struct error *follow_go_on(struct follower *follower, struct follow_path *path)
{
    const struct flow_block *block = &follower->image->blocks.items[path->block];
    for (uint32_t i = 0; i < block->out_count; i++)
        TRY(follow_go_to(follower, path, follower->image->edges.items[block->edges_out + i].block,
                         ~0ull));
    return NULL;
}

// Whether a library's function is asked about the state of what it gets: PQstatus(), Ferror().
// Those of the C library, like ferror(), want a file that is open.
static bool asks_state(const struct flow_import *import)
{
    static const char *const ends[] = {"error", "errno", "errcode", "status"};
    size_t size = strlen(import->name);
    if (import->version != NULL && strncmp(import->version, "GLIBC_", 6) == 0)
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t end = strlen(ends[i]);
        if (size > end && strcasecmp(import->name + size - end, ends[i]) == 0)
            return true;
    }
    return false;
}

// A function of another module is asked whether the result is a failure.
static void ask(struct follower *follower, struct follow_path *path, uint32_t at, uint32_t callee)
{
    uint8_t argument = follow_argument(follower, path);
    if (!flow_callee_is_import(callee) || path->used || argument == ISA_NONE)
        return;
    const struct flow_import *import = &follower->image->imports.items[flow_callee_import(callee)];
    if (!name_asks_validity(import->name) &&
        (argument != follow_arguments[0] || !asks_state(import)))
        return;
    follower->outcome.called_on |= follow_not_told_apart(follower, path);
    follow_told_apart(follower, path, at, ~0ull, false);
}

// Whether a call that only failures reach ends the program because of what is passed to it.
static struct error *ends_by_argument(struct follower *follower, const struct follow_path *path,
                                      uint32_t callee, bool *ret_ends)
{
    struct ending_constants constants = {0};
    bool back = true;
    *ret_ends = false;
    if (follower->mode != FOLLOW_WRAPPER || !follow_failed(follower, path))
        return NULL;
    for (unsigned r = 0; r < ISA_REGISTERS; r++)
        if (content_constant(&follower->contents, path->machine.registers[r],
                             &constants.numbers[r]))
            constants.known |= (uint16_t)(1u << r);
    TRY(ending_comes_back(&follower->endings, follower->image, callee, &constants, &back));
    *ret_ends = !back;
    follower->outcome.dies |= !back;
    return NULL;
}

static struct error *leave_by_call(struct follower *follower, struct follow_path *path, uint32_t at)
{
    const struct flow_image *image = follower->image;
    const struct flow_block *block = &image->blocks.items[path->block];
    const struct isa_insn *insn = &image->insns.items[at];
    if (path->block == follower->start) {
        follower->outcome.retried |= path->errno_checked;
        follower->outcome.repeated |= follow_not_told_apart(follower, path) != 0;
    }
    if (ends_program(image, block))
        follower->outcome.dies |= follow_failed(follower, path);
    if (path->block == follower->start || !comes_back(image, block))
        return NULL;
    if (insn->src < ISA_REGISTERS &&
        content_derived(&follower->contents, path->machine.registers[insn->src]))
        follow_used(follower, path, at, SITE_DEREFERENCED);
    if (reaching_is_errno_location(image, block->callee)) {
        machine_after_call(&path->machine, &follower->contents);
        path->machine.registers[ISA_RETURN] =
            content_of_address(&follower->contents, BASE_ERROR, 0);
        return follow_go_on(follower, path);
    }
    bool ends;
    TRY(ends_by_argument(follower, path, block->callee, &ends));
    if (ends)
        return NULL;
    follower->outcome.handled |=
        follow_failed(follower, path) && !follow_is_harmless(image, block->callee);
    bool returned = false;
    if (block->callee != FLOW_NONE && !flow_callee_is_import(block->callee))
        TRY(follow_into(follower, path, at, block->callee, &returned));
    ask(follower, path, at, block->callee);
    follow_passed(follower, path, at, block->callee);
    path->errno_fresh = false;
    machine_after_call(&path->machine, &follower->contents);
    if (returned)
        path->machine.registers[ISA_RETURN] =
            content_of_lanes(&follower->contents, follower->inner->outcome.returned_known,
                             follower->inner->outcome.returned_numbers, true);
    return follow_go_on(follower, path);
}

// A tail call: what the callee returns, this function returns.
static struct error *leave_by_tail(struct follower *follower, struct follow_path *path, uint32_t at)
{
    uint32_t callee = follower->image->blocks.items[path->block].callee;
    bool returned = false;
    if (callee != FLOW_NONE && !flow_callee_is_import(callee))
        TRY(follow_into(follower, path, at, callee, &returned));
    follow_passed(follower, path, at, callee);
    if (!returned || follower->mode == FOLLOW_VOID)
        return NULL;
    path->machine.registers[ISA_RETURN] =
        content_of_lanes(&follower->contents, follower->inner->outcome.returned_known,
                         follower->inner->outcome.returned_numbers, true);
    follow_returned(follower, path, at);
    return NULL;
}

struct error *follow_leave_block(struct follower *follower, struct follow_path *path, uint32_t at)
{
    const struct flow_block *block = &follower->image->blocks.items[path->block];
    switch (block->end) {
    case FLOW_CALLS:
        return leave_by_call(follower, path, at);
    case FLOW_RETURNS:
        if (follower->mode != FOLLOW_VOID)
            follow_returned(follower, path, at);
        return NULL;
    case FLOW_STOPS:
        follower->outcome.dies |= follow_failed(follower, path);
        return NULL;
    default:
        break;
    }
    switch (follower->image->insns.items[at].kind) {
    case ISA_BRANCH:
        return leave_by_branch(follower, path, at);
    case ISA_JUMP_INDIRECT:
        return block->end == FLOW_TAIL ? leave_by_tail(follower, path, at)
                                       : leave_by_table(follower, path, at);
    default:
        if (block->end == FLOW_TAIL)
            TRY(leave_by_tail(follower, path, at));
        follower->outcome.lost |= block->end == FLOW_UNKNOWN;
        return follow_go_on(follower, path);
    }
}
