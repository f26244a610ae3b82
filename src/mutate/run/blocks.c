// SPDX-License-Identifier: GPL-3.0-or-later
// Lists the places of a program to patch: for a run that finds out what is executed, or for a run
// with faults.
#include "mutate/run/programs.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

void ir_blocks_deinit(struct ir_blocks *blocks)
{
    ARRAY_DEINIT(&blocks->items);
}

static struct error *add(struct ir_blocks *blocks, uint64_t address, const unsigned char *code,
                         size_t marker, struct ir_block **ret_block)
{
    struct ir_block *block = ARRAY_ADD(&blocks->items);
    if (block == NULL)
        return error_no_memory();
    block->wire.address = address;
    memcpy(&block->wire.code, code, sizeof block->wire.code);
    block->marker = marker;
    *ret_block = block;
    return NULL;
}

static int by_address(const void *a, const void *b)
{
    const struct ir_block *first = a, *second = b;
    return (first->wire.address > second->wire.address) -
           (first->wire.address < second->wire.address);
}

static void sort(struct ir_blocks *blocks)
{
    if (blocks->items.count != 0)
        qsort(blocks->items.items, blocks->items.count, sizeof *blocks->items.items, by_address);
}

static struct error *add_entry(const struct image_entry *entry, struct ir_blocks *blocks)
{
    struct ir_block *block = NULL;
    TRY(add(blocks, entry->address, entry->idle, SIZE_MAX, &block));
    block->wire.flags = WIRE_BLOCK_PUT | WIRE_BLOCK_QUIET;
    memcpy(block->wire.put, entry->leads, sizeof entry->leads);
    return NULL;
}

struct error *ir_blocks_add_entries(const struct image *image, struct ir_blocks *blocks)
{
    size_t known = blocks->items.count;
    for (size_t i = 0; i < image->entries.count; i++) {
        const struct ir_block sought = {.wire.address = image->entries.items[i].address};
        if (known == 0 ||
            bsearch(&sought, blocks->items.items, known, sizeof sought, by_address) == NULL)
            TRY(add_entry(&image->entries.items[i], blocks));
    }
    sort(blocks);
    return NULL;
}

// Where the faults of a plain file are: the block is the first candidate there. Without enough code
// for a breakpoint nothing is noted.
static struct error *add_candidates(const struct image *image, struct ir_blocks *blocks)
{
    for (size_t i = 0; i < image->candidates.count; i++) {
        const struct image_candidate *candidate = &image->candidates.items[i];
        struct ir_block *block = NULL;
        const unsigned char *code = image_code(image, candidate->address, sizeof block->wire.code);
        if (candidate->copies != 0 && code != NULL)
            TRY(add(blocks, candidate->address, code, i, &block));
    }
    sort(blocks);
    size_t kept = 0; // one breakpoint for an address
    for (size_t i = 0; i < blocks->items.count; i++)
        if (kept == 0 ||
            blocks->items.items[i].wire.address != blocks->items.items[kept - 1].wire.address)
            blocks->items.items[kept++] = blocks->items.items[i];
    blocks->items.count = kept;
    return NULL;
}

struct error *ir_blocks_of_all(const struct image *image, struct ir_blocks *blocks)
{
    struct ir_block *block = NULL;
    if (image->plain)
        return add_candidates(image, blocks);
    for (size_t i = 0; i < image->entries.count; i++)
        TRY(add_entry(&image->entries.items[i], blocks));
    for (size_t i = 0; i < image->markers.count; i++)
        TRY(add(blocks, image->markers.items[i].address, mark_nop, i, &block));
    sort(blocks);
    return NULL;
}

// The marker at an address, or SIZE_MAX.
static size_t find_marker(const struct image *image, uint64_t address)
{
    size_t low = 0, high = image->markers.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (image->markers.items[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < image->markers.count && image->markers.items[low].address == address ? low
                                                                                      : SIZE_MAX;
}

static struct error *add_patches(const struct image *image, const struct image_patches *patches,
                                 struct ir_blocks *blocks)
{
    for (size_t i = 0; i < patches->items.count; i++) {
        const struct image_patch *patch = &patches->items.items[i];
        size_t marker = find_marker(image, patch->address);
        struct ir_block *block = NULL;
        TRY(add(blocks, patch->address, patch->before, marker, &block));
        block->wire.flags =
            WIRE_BLOCK_PUT | (marker != SIZE_MAX ? WIRE_BLOCK_COUNT : WIRE_BLOCK_QUIET);
        memcpy(block->wire.put, patch->after, WIRE_BLOCK_BYTES);
    }
    sort(blocks);
    return NULL;
}

// A change of a plain file's code takes several blocks. What they put behind it is what other
// changes make of it.
static struct error *add_changes(struct image *image, const struct image_patches *patches,
                                 struct ir_blocks *blocks)
{
    for (size_t i = 0; i < patches->items.count; i++)
        for (size_t at = 0; at < patches->items.items[i].size; at += WIRE_BLOCK_BYTES) {
            uint64_t address = patches->items.items[i].address + at;
            const unsigned char *code = image_code(image, address, WIRE_BLOCK_BYTES);
            struct ir_block *block = NULL;
            if (code == NULL)
                return error_new("the code of %s ends too close behind the fault", image->path);
            TRY(add(blocks, address, code, SIZE_MAX, &block));
            block->wire.flags = WIRE_BLOCK_PUT | WIRE_BLOCK_QUIET;
            memcpy(block->wire.put, code, WIRE_BLOCK_BYTES);
        }
    sort(blocks);
    image_undo(image, patches);
    for (size_t i = 0; i < blocks->items.count; i++) {
        struct wire_coverage_block *wire = &blocks->items.items[i].wire;
        memcpy(&wire->code, image_code(image, wire->address, sizeof wire->code), sizeof wire->code);
    }
    return NULL;
}

struct error *ir_blocks_of_faults(struct image *image, const size_t *candidates, size_t count,
                                  struct ir_blocks *blocks)
{
    _cleanup_(image_patches_deinit) struct image_patches patches = {0}, back = {0};
    _cleanup_free_ bool *enabled = calloc(image->candidates.count + 1, sizeof *enabled);
    if (enabled == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++)
        enabled[candidates[i]] = true;
    struct error *error = image_enable(image, enabled, &patches);
    if (error == NULL && image->plain)
        return add_changes(image, &patches, blocks);
    // Undo it, so that the next call finds the image without faults.
    if (error == NULL) {
        image_undo(image, &patches);
        return add_patches(image, &patches, blocks);
    }
    memset(enabled, 0, image->candidates.count);
    error_free(image_enable(image, enabled, &back));
    return error;
}
