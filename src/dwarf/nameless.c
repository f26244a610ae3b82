// SPDX-License-Identifier: GPL-3.0-or-later
// Finds functions in unwind tables, and hashes their code.
#include "dwarf/nameless.h"

#include "base/cleanup.h"
#include "elf/frames.h"
#include "elf/tables.h"
#include "isa/hash.h"
#include "isa/need.h"

#include <stdlib.h>

void nameless_functions_deinit(struct nameless_functions *functions)
{
    ARRAY_DEINIT(&functions->items);
}

static struct error *add(void *data, const struct elf_frame *frame)
{
    struct nameless_functions *functions = data;
    struct nameless_function *added = ARRAY_ADD(&functions->items);
    if (added == NULL)
        return error_no_memory();
    *added = (struct nameless_function){.start = frame->start, .end = frame->end};
    return NULL;
}

static int by_start(const void *left, const void *right)
{
    const struct nameless_function *a = left, *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

static void load(struct nameless_functions *functions, const struct elf_object *object)
{
    functions->loaded = true;
    // What is missing has no hash; without a decoder, nothing has.
    _cleanup_error_ struct error *missing = isa_need();
    if (missing == NULL)
        error_free(elf_each_frame(object, add, functions));
    if (functions->items.count != 0)
        qsort(functions->items.items, functions->items.count, sizeof *functions->items.items,
              by_start);
}

static uint32_t hash_code(const struct elf_object *object, const struct nameless_function *function)
{
    uint64_t hash = ISA_HASH_START;
    struct isa_decoder decoder;
    isa_decoder_init(&decoder);
    for (uint64_t address = function->start; address < function->end;) {
        size_t there;
        struct isa_insn insn;
        const unsigned char *code = elf_object_bytes(object, address, &there);
        if (code == NULL)
            break;
        if (!isa_decode(&decoder, code, there, address, &insn)) {
            hash = isa_hash_bytes(hash, code, 1);
            address++;
            continue;
        }
        uint64_t target = (uint64_t)insn.value;
        bool within = target >= function->start && target < function->end;
        hash = isa_hash_insn(hash, code, &insn, address, within ? target - function->start : 0);
        address += insn.length;
    }
    uint32_t folded = (uint32_t)(hash ^ hash >> 32);
    return folded != 0 ? folded : 1;
}

const struct nameless_function *nameless_functions_find(struct nameless_functions *functions,
                                                        const struct elf_object *object,
                                                        uint64_t address)
{
    if (!functions->loaded)
        load(functions, object);
    size_t low = 0, high = functions->items.count;
    while (low < high) { // the first one that starts after the address
        size_t middle = low + (high - low) / 2;
        bool after = functions->items.items[middle].start > address;
        high = after ? middle : high;
        low = after ? low : middle + 1;
    }
    struct nameless_function *found = low != 0 ? &functions->items.items[low - 1] : NULL;
    if (found == NULL || address >= found->end)
        return NULL;
    if (found->hash == 0)
        found->hash = hash_code(object, found);
    return found;
}
