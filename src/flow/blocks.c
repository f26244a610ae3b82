// SPDX-License-Identifier: GPL-3.0-or-later
// Divides functions into basic blocks and connects them with edges. A block also ends at every
// call, so that a call that never returns needs no second pass. Jumps into a split-off part of a
// function, and back, stay within the function.
#include "flow/internal.h"

#include "base/cleanup.h"

#include <stdlib.h>

struct table_edge {
    uint32_t from, to; // indexes of instructions
};

struct building {
    struct flow_image *image;
    unsigned char *leaders; // by instruction: a block begins here
    unsigned char *targets; // by instruction: something jumps here
    uint32_t *block_of;     // by instruction, if it is a leader
    ARRAY(struct table_edge) tables;
    uint32_t current; // the jump whose table is read
};

static void building_deinit(struct building *building)
{
    free(building->leaders);
    free(building->targets);
    free(building->block_of);
    ARRAY_DEINIT(&building->tables);
}

static bool ends_block(const struct isa_insn *insn)
{
    switch (insn->kind) {
    case ISA_CALL:
    case ISA_CALL_INDIRECT:
    case ISA_JUMP:
    case ISA_JUMP_INDIRECT:
    case ISA_BRANCH:
    case ISA_RET:
    case ISA_STOP:
        return true;
    default:
        return false;
    }
}

// A part belongs to the function that jumps into it, or to which it jumps back. Done twice, for
// parts of parts.
static void adopt_parts(struct flow_image *image)
{
    for (int round = 0; round < 2; round++)
        for (size_t f = 0; f < image->functions.count; f++) {
            struct flow_function *function = &image->functions.items[f];
            for (uint32_t i = 0; i < function->insn_count; i++) {
                const struct isa_insn *insn = &image->insns.items[function->first_insn + i];
                if (insn->kind != ISA_JUMP && insn->kind != ISA_BRANCH)
                    continue;
                uint64_t target = (uint64_t)insn->value;
                if (target >= function->start && target < function->end)
                    continue;
                uint32_t other = flow_function_at(image, target);
                if (other == FLOW_NONE)
                    continue;
                struct flow_function *reached = &image->functions.items[other];
                if (reached->part && reached->owner == other && function->owner != other)
                    reached->owner = function->owner;
                else if (function->part && function->owner == f && reached->owner != f &&
                         target != reached->start)
                    function->owner = reached->owner;
            }
        }
}

static void list_parts(struct flow_image *image)
{
    for (size_t f = 0; f < image->functions.count; f++)
        image->functions.items[f].next_part = FLOW_NONE;
    for (size_t f = image->functions.count; f-- > 0;) {
        struct flow_function *part = &image->functions.items[f];
        if (part->owner == f)
            continue;
        part->next_part = image->functions.items[part->owner].next_part;
        image->functions.items[part->owner].next_part = (uint32_t)f;
    }
}

// The instruction that a jump leads to, if it stays within the function; else FLOW_NONE.
static uint32_t local_target(const struct flow_image *image, uint32_t function, uint64_t address)
{
    const struct flow_function *from = &image->functions.items[function];
    if (address >= from->start && address < from->end)
        return flow_insn_in(image, from, address);
    uint32_t other = flow_function_at(image, address);
    if (other == FLOW_NONE || image->functions.items[other].owner != from->owner)
        return FLOW_NONE;
    return flow_insn_in(image, &image->functions.items[other], address);
}

static struct error *note_table_target(void *data, uint32_t insn)
{
    struct building *building = data;
    struct table_edge *edge = ARRAY_ADD(&building->tables);
    if (edge == NULL)
        return error_no_memory();
    *edge = (struct table_edge){building->current, insn};
    building->leaders[insn] = building->targets[insn] = 1;
    return NULL;
}

static struct error *mark_leaders(struct building *building, uint32_t number)
{
    struct flow_image *image = building->image;
    const struct flow_function *function = &image->functions.items[number];
    if (function->insn_count != 0)
        building->leaders[function->first_insn] = 1;
    for (uint32_t i = 0; i < function->insn_count; i++) {
        uint32_t at = function->first_insn + i;
        const struct isa_insn *insn = &image->insns.items[at];
        if (!ends_block(insn))
            continue;
        if (i + 1 < function->insn_count)
            building->leaders[at + 1] = 1;
        if (insn->kind == ISA_JUMP || insn->kind == ISA_BRANCH) {
            uint32_t target = local_target(image, number, (uint64_t)insn->value);
            if (target != FLOW_NONE)
                building->leaders[target] = building->targets[target] = 1;
        } else if (insn->kind == ISA_JUMP_INDIRECT) {
            bool understood;
            building->current = at;
            TRY(flow_table_targets(image, number, at, note_table_target, building, &understood));
        }
    }
    return NULL;
}

static struct error *cut_function(struct building *building, uint32_t number)
{
    struct flow_image *image = building->image;
    struct flow_function *function = &image->functions.items[number];
    function->first_block = (uint32_t)image->blocks.count;
    for (uint32_t i = 0; i < function->insn_count; i++) {
        uint32_t at = function->first_insn + i;
        if (building->leaders[at]) {
            struct flow_block *block = ARRAY_ADD(&image->blocks);
            if (block == NULL)
                return error_no_memory();
            *block = (struct flow_block){.first = at,
                                         .function = function->owner,
                                         .callee = FLOW_NONE,
                                         .stack = FLOW_LOST,
                                         .frame = FLOW_LOST};
        }
        image->blocks.items[image->blocks.count - 1].count++;
        building->block_of[at] = (uint32_t)image->blocks.count - 1;
    }
    function->block_count = (uint32_t)image->blocks.count - function->first_block;
    return NULL;
}

static struct error *add_edge(struct building *building, struct flow_block *from, uint32_t insn,
                              enum flow_edge_kind kind)
{
    struct flow_edge *edge = ARRAY_ADD(&building->image->edges);
    if (edge == NULL)
        return error_no_memory();
    *edge = (struct flow_edge){building->block_of[insn], kind};
    from->out_count++;
    return NULL;
}

// Behind the last instruction of a function another function begins. Falling into it is a kind of
// tail call.
static struct error *fall_through(struct building *building, struct flow_block *block,
                                  uint32_t number, uint32_t last)
{
    const struct flow_image *image = building->image;
    const struct flow_function *function = &image->functions.items[number];
    if (last + 1 < function->first_insn + function->insn_count)
        return add_edge(building, block, last + 1, FLOW_FALLS);
    uint32_t next = local_target(image, number, function->end);
    if (next != FLOW_NONE)
        return add_edge(building, block, next, FLOW_FALLS);
    if (block->end == FLOW_GOES_ON) {
        block->callee = flow_callee_at(image, function->end);
        block->end = block->callee != FLOW_NONE ? FLOW_TAIL : FLOW_STOPS;
    }
    return NULL;
}

static struct error *jump(struct building *building, struct flow_block *block, uint32_t number,
                          uint64_t address, enum flow_edge_kind kind)
{
    uint32_t target = local_target(building->image, number, address);
    if (target != FLOW_NONE)
        return add_edge(building, block, target, kind);
    // A conditional jump to another function is a tail call, too. The block then also goes on.
    block->callee = flow_callee_at(building->image, address);
    block->end = block->callee != FLOW_NONE ? FLOW_TAIL : FLOW_UNKNOWN;
    return NULL;
}

static struct error *indirect_jump(struct building *building, struct flow_block *block, uint32_t at,
                                   size_t *table)
{
    const struct isa_insn *insn = &building->image->insns.items[at];
    if (*table < building->tables.count && building->tables.items[*table].from == at) {
        for (; *table < building->tables.count && building->tables.items[*table].from == at;
             ++*table)
            TRY(add_edge(building, block, building->tables.items[*table].to, FLOW_TABLE));
        return NULL;
    }
    bool slot = insn->base == ISA_PC && insn->index == ISA_NONE;
    if (slot)
        block->callee = flow_callee_of_slot(building->image, (uint64_t)insn->displacement);
    block->end = block->callee != FLOW_NONE ? FLOW_TAIL : FLOW_UNKNOWN;
    return NULL;
}

static void set_callee(const struct flow_image *image, struct flow_block *block,
                       const struct isa_insn *call)
{
    block->end = FLOW_CALLS;
    if (call->kind == ISA_CALL)
        block->callee = flow_callee_at(image, (uint64_t)call->value);
    else if (call->base == ISA_PC && call->index == ISA_NONE && (call->flags & ISA_MEMORY) != 0)
        block->callee = flow_callee_of_slot(image, (uint64_t)call->displacement);
}

// Whether the bytes between a jump and the next target only align that target.
static bool is_padding(const struct flow_image *image, const struct flow_function *function,
                       const struct flow_block *block)
{
    for (uint32_t i = 0; i < block->count; i++)
        if (image->insns.items[block->first + i].kind != ISA_NOTHING)
            return false;
    if (block->first == function->first_insn)
        return false;
    uint8_t before = image->insns.items[block->first - 1].kind;
    return before == ISA_JUMP || before == ISA_JUMP_INDIRECT || before == ISA_RET ||
           before == ISA_STOP;
}

static struct error *connect(struct building *building, uint32_t number, uint32_t b, size_t *table)
{
    struct flow_image *image = building->image;
    struct flow_block *block = &image->blocks.items[b];
    uint32_t last = block->first + block->count - 1;
    const struct isa_insn *insn = &image->insns.items[last];
    block->edges_out = (uint32_t)image->edges.count;
    if (!building->targets[block->first] &&
        is_padding(image, &image->functions.items[number], block)) {
        block->end = FLOW_STOPS;
        return NULL;
    }
    switch (insn->kind) {
    case ISA_CALL:
    case ISA_CALL_INDIRECT:
        set_callee(image, block, insn);
        return fall_through(building, block, number, last);
    case ISA_JUMP:
        return jump(building, block, number, (uint64_t)insn->value, FLOW_JUMPS);
    case ISA_BRANCH:
        TRY(jump(building, block, number, (uint64_t)insn->value, FLOW_TAKEN));
        return fall_through(building, block, number, last);
    case ISA_JUMP_INDIRECT:
        return indirect_jump(building, block, last, table);
    case ISA_RET:
        block->end = FLOW_RETURNS;
        return NULL;
    case ISA_STOP:
        block->end = FLOW_STOPS;
        return NULL;
    default:
        return fall_through(building, block, number, last);
    }
}

// Adds the incoming edges of every block.
static struct error *reverse_edges(struct flow_image *image)
{
    size_t count = image->edges.count;
    for (size_t i = 0; i < count; i++)
        image->blocks.items[image->edges.items[i].block].in_count++;
    uint32_t at = (uint32_t)count;
    for (size_t b = 0; b < image->blocks.count; b++) {
        image->blocks.items[b].edges_in = at;
        at += image->blocks.items[b].in_count;
        image->blocks.items[b].in_count = 0;
    }
    for (size_t i = 0; i < count; i++)
        if (ARRAY_ADD(&image->edges) == NULL)
            return error_no_memory();
    for (size_t b = 0; b < image->blocks.count; b++) {
        const struct flow_block *block = &image->blocks.items[b];
        for (uint32_t i = 0; i < block->out_count; i++) {
            struct flow_edge edge = image->edges.items[block->edges_out + i];
            struct flow_block *to = &image->blocks.items[edge.block];
            image->edges.items[to->edges_in + to->in_count++] =
                (struct flow_edge){(uint32_t)b, edge.kind};
        }
    }
    return NULL;
}

struct error *flow_build_blocks(struct flow_image *image)
{
    _cleanup_(building_deinit) struct building building = {.image = image};
    building.leaders = calloc(image->insns.count + 1, 1);
    building.targets = calloc(image->insns.count + 1, 1);
    building.block_of = calloc(image->insns.count + 1, sizeof *building.block_of);
    if (building.leaders == NULL || building.targets == NULL || building.block_of == NULL)
        return error_no_memory();
    adopt_parts(image);
    list_parts(image);
    for (uint32_t f = 0; f < image->functions.count; f++)
        TRY(mark_leaders(&building, f));
    for (uint32_t f = 0; f < image->functions.count; f++)
        TRY(cut_function(&building, f));
    size_t table = 0;
    for (uint32_t f = 0; f < image->functions.count; f++) {
        const struct flow_function *function = &image->functions.items[f];
        for (uint32_t b = 0; b < function->block_count; b++)
            TRY(connect(&building, f, function->first_block + b, &table));
    }
    return reverse_edges(image);
}
