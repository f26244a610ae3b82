// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the functions that a stopped thread is in. The stack is not unwound: any word in it that
// points behind a call within a function counts as a return address.
#include "mutate/running.h"

#include "base/cleanup.h"
#include "elf/frames.h"
#include "elf/symbols.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_STACK ((size_t)1 << 20) // bytes of a stack that are looked at

void running_ranges_deinit(struct running_ranges *ranges)
{
    ARRAY_DEINIT(&ranges->items);
}

// ---- where functions are ----

struct search {
    const struct image *image;
    struct running_ranges *ranges;
};

// An entry may stand behind an instruction that guards indirect jumps.
static struct error *add_range(void *data, const struct elf_frame *frame)
{
    struct search *search = data;
    for (size_t i = 0; i < search->image->entries.count; i++) {
        const struct image_entry *entry = &search->image->entries.items[i];
        if (entry->address < frame->start || entry->address >= frame->end)
            continue;
        struct running_range *slot = ARRAY_ADD(&search->ranges->items);
        if (slot == NULL)
            return error_no_memory();
        *slot = (struct running_range){frame->start, frame->end, entry->function};
        break;
    }
    return NULL;
}

static bool has_entry(const struct image *image, size_t function)
{
    for (size_t i = 0; i < image->entries.count; i++)
        if (image->entries.items[i].function == function)
            return true;
    return false;
}

// The function without an entry that a symbol is about; SIZE_MAX if there is none, or several: a
// static function's name may be that of others.
static size_t function_of(const struct image *image, const struct elf_symbol *symbol)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < image->functions.count; i++) {
        const struct image_function *function = &image->functions.items[i];
        if (function->again || function->markers == 0 || (function->flags & MAP_IN_PLACE) != 0 ||
            strlen(function->name) != symbol->name_size ||
            memcmp(function->name, symbol->name, symbol->name_size) != 0)
            continue;
        if (found != SIZE_MAX || has_entry(image, i))
            return SIZE_MAX;
        found = i;
    }
    return found;
}

// Functions without an entry are known by their symbols. A stripped file has none.
static struct error *add_symbols(const struct search *search, const struct elf_object *object)
{
    _cleanup_(elf_symbols_deinit) struct elf_symbols symbols = {0};
    TRY(elf_symbols_load(object, NULL, &symbols));
    for (size_t i = 0; i < symbols.code.count; i++) {
        const struct elf_symbol *symbol = &symbols.code.items[i];
        size_t function =
            symbol->kind == ELF_SYMBOL_FUNCTION ? function_of(search->image, symbol) : SIZE_MAX;
        if (function == SIZE_MAX)
            continue;
        struct running_range *slot = ARRAY_ADD(&search->ranges->items);
        if (slot == NULL)
            return error_no_memory();
        *slot = (struct running_range){symbol->start, symbol->end, function};
    }
    return NULL;
}

static int by_start(const void *a, const void *b)
{
    const struct running_range *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

struct error *running_ranges_find(const struct image *image, struct running_ranges *ret_ranges)
{
    _cleanup_(running_ranges_deinit) struct running_ranges ranges = {0};
    struct search search = {image, &ranges};
    struct elf_object *object = NULL;
    TRY(elf_object_open_bare(image->path, &object));
    struct error *error = elf_each_frame(object, add_range, &search);
    if (error == NULL)
        error = add_symbols(&search, object);
    elf_object_close(object);
    TRY(error);
    if (ranges.items.count != 0)
        qsort(ranges.items.items, ranges.items.count, sizeof *ranges.items.items, by_start);
    *ret_ranges = ranges;
    ranges = (struct running_ranges){0};
    return NULL;
}

// ---- a thread ----

// The function at a link-time address; SIZE_MAX if none is known.
static size_t function_at(const struct running_ranges *ranges, uint64_t address)
{
    size_t low = 0, high = ranges->items.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges->items.items[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ranges->items.count && ranges->items.items[low].start <= address
               ? ranges->items.items[low].function
               : SIZE_MAX;
}

// Whether the bytes before an address may be a call: direct, or through a register or memory.
static bool is_behind_call(int memory, uint64_t address)
{
    unsigned char code[8];
    if (address < sizeof code ||
        pread(memory, code, sizeof code, (off_t)(address - sizeof code)) != (ssize_t)sizeof code)
        return false;
    if (code[3] == 0xe8)
        return true;
    for (size_t i = 1; i < sizeof code - 1; i++)
        if (code[i] == 0xff && (code[i + 1] & 0x38) == 0x10)
            return true;
    return false;
}

struct error *running_mark(const struct running_ranges *ranges, int memory, uint64_t instruction,
                           uint64_t stack, uint64_t bias, bool *running)
{
    size_t function = function_at(ranges, instruction - bias);
    if (function != SIZE_MAX)
        running[function] = true;
    _cleanup_free_ uint64_t *words = malloc(MOST_STACK);
    if (words == NULL)
        return error_no_memory();
    // Reads page by page, since the stack may end anywhere.
    size_t count = 0;
    stack &= ~(uint64_t)7;
    while (count * sizeof *words < MOST_STACK) {
        size_t page = 4096 - (stack + count * sizeof *words) % 4096;
        if (page > MOST_STACK - count * sizeof *words)
            page = MOST_STACK - count * sizeof *words;
        ssize_t got = pread(memory, words + count, page, (off_t)(stack + count * sizeof *words));
        if (got <= 0)
            break;
        count += (size_t)got / sizeof *words;
    }
    for (size_t i = 0; i < count; i++) {
        function = function_at(ranges, words[i] - bias);
        if (function != SIZE_MAX && !running[function] && is_behind_call(memory, words[i]))
            running[function] = true;
    }
    return NULL;
}
