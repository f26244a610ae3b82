// SPDX-License-Identifier: GPL-3.0-or-later
// Finds possible callees of calls through tables of functions in objects:
// object->table->function(). Where an object is made, the address of its table is stored at some
// offset. All tables that are stored at this offset are candidates for a call that loads its table
// from there. The types are not known, so offsets with many tables are left alone.
#include "flow/internal.h"

#include "base/cleanup.h"

#include <elf.h>
#include <stdlib.h>

#define MOST_TABLES 8 // at one offset
#define WORD        8

struct object_table { // the address of a table is stored at an offset of an object
    int64_t offset;
    uint64_t table;
};

struct object_tables {
    ARRAY(struct object_table) items; // sorted by offset and table when all are there
    ARRAY(uint64_t) starts;           // of tables, sorted
};

static void object_tables_deinit(struct object_tables *tables)
{
    ARRAY_DEINIT(&tables->items);
    ARRAY_DEINIT(&tables->starts);
}

static bool reads_object(const struct isa_insn *insn)
{
    return (insn->flags & (ISA_MEMORY | ISA_THREAD)) == ISA_MEMORY && insn->index == ISA_NONE &&
           insn->base < ISA_REGISTERS && insn->base != ISA_STACK;
}

// Whether the loader puts addresses at this one, as in a table of functions.
static bool is_table(const struct flow_image *image, uint64_t address)
{
    const struct flow_slot *slot = flow_slot_at(image, address);
    if (slot == NULL) // the first entry may be a name or a number
        slot = flow_slot_at(image, address + WORD);
    return slot != NULL && slot->type == R_X86_64_RELATIVE;
}

static struct error *add_table(struct object_tables *tables, int64_t offset, uint64_t table)
{
    struct object_table *added = ARRAY_ADD(&tables->items);
    uint64_t *start = added != NULL ? ARRAY_ADD(&tables->starts) : NULL;
    if (start == NULL)
        return error_no_memory();
    *added = (struct object_table){offset, table};
    *start = table;
    return NULL;
}

// Stores of tables in a block: lea reg, [table]; mov [object + offset], reg.
static struct error *collect(const struct flow_image *image, const struct flow_block *block,
                             struct object_tables *tables)
{
    uint64_t held[ISA_REGISTERS] = {0};
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        const struct isa_insn *insn = &image->insns.items[i];
        if (insn->kind == ISA_STORE && insn->width == WORD && insn->src < ISA_REGISTERS &&
            held[insn->src] != 0 && reads_object(insn))
            TRY(add_table(tables, insn->displacement, held[insn->src]));
        for (uint32_t writes = insn->writes; writes != 0; writes &= writes - 1)
            if (__builtin_ctz(writes) < ISA_REGISTERS)
                held[__builtin_ctz(writes)] = 0;
        if (insn->kind == ISA_ADDRESS && insn->base == ISA_PC && insn->index == ISA_NONE &&
            insn->dst < ISA_REGISTERS && is_table(image, (uint64_t)insn->displacement))
            held[insn->dst] = (uint64_t)insn->displacement;
    }
    return NULL;
}

static int compare_tables(const void *a, const void *b)
{
    const struct object_table *left = a, *right = b;
    if (left->offset != right->offset)
        return left->offset < right->offset ? -1 : 1;
    return (left->table > right->table) - (left->table < right->table);
}

static int compare_starts(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

static void sort(struct object_tables *tables)
{
    size_t count = tables->items.count, kept = 0;
    if (count == 0)
        return;
    qsort(tables->items.items, count, sizeof *tables->items.items, compare_tables);
    qsort(tables->starts.items, count, sizeof *tables->starts.items, compare_starts);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || compare_tables(&tables->items.items[i], &tables->items.items[kept - 1]) != 0)
            tables->items.items[kept++] = tables->items.items[i];
    tables->items.count = kept;
}

// Whether another table begins between the start of one and an entry behind it.
static bool is_beyond(const struct object_tables *tables, uint64_t table, uint64_t entry)
{
    size_t low = 0, high = tables->starts.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tables->starts.items[middle] <= table)
            low = middle + 1;
        else
            high = middle;
    }
    return low < tables->starts.count && tables->starts.items[low] <= entry;
}

static struct error *add_target(struct flow_image *image, uint32_t block, size_t first,
                                uint32_t callee)
{
    for (size_t i = first; i < image->targets.count; i++)
        if (image->targets.items[i].callee == callee)
            return NULL;
    struct flow_target *added = ARRAY_ADD(&image->targets);
    if (added == NULL)
        return error_no_memory();
    *added = (struct flow_target){block, callee};
    return NULL;
}

static struct error *find_targets(struct flow_image *image, const struct object_tables *tables,
                                  uint32_t block)
{
    int64_t offset, entry;
    if (!flow_calls_table(image, &image->blocks.items[block], &offset, &entry))
        return NULL;
    size_t low = 0, high = tables->items.count, first = image->targets.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tables->items.items[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    size_t end = low;
    while (end < tables->items.count && tables->items.items[end].offset == offset)
        end++;
    for (size_t i = low; i < end && end - low <= MOST_TABLES; i++) {
        uint64_t table = tables->items.items[i].table, address = table + (uint64_t)entry;
        uint32_t callee = entry >= 0 && !is_beyond(tables, table, address)
                              ? flow_callee_of_slot(image, address)
                              : FLOW_NONE;
        if (callee != FLOW_NONE)
            TRY(add_target(image, block, first, callee));
    }
    return NULL;
}

struct error *flow_find_targets(struct flow_image *image)
{
    _cleanup_(object_tables_deinit) struct object_tables tables = {0};
    if (image->slots.count == 0)
        return NULL;
    for (size_t i = 0; i < image->blocks.count; i++)
        TRY(collect(image, &image->blocks.items[i], &tables));
    sort(&tables);
    for (size_t i = 0; tables.items.count != 0 && i < image->blocks.count; i++) {
        const struct flow_block *block = &image->blocks.items[i];
        if (block->callee == FLOW_NONE && block->count != 0 &&
            (block->end == FLOW_CALLS || block->end == FLOW_UNKNOWN))
            TRY(find_targets(image, &tables, (uint32_t)i));
    }
    return NULL;
}

size_t flow_targets(const struct flow_image *image, uint32_t block,
                    const struct flow_target **ret_targets)
{
    size_t low = 0, high = image->targets.count, count = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (image->targets.items[middle].block < block)
            low = middle + 1;
        else
            high = middle;
    }
    while (low + count < image->targets.count && image->targets.items[low + count].block == block)
        count++;
    *ret_targets = count != 0 ? &image->targets.items[low] : NULL;
    return count;
}
