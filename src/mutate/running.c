// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the functions that a stopped thread is in. The stack is not unwound: any word in it that
// points behind a call within a function counts as a return address.
#include "mutate/running.h"

#include "base/cleanup.h"
#include "base/map.h"
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
    struct running_range *entries; // by their addresses, one byte each
    struct map names;              // hashes of functions' names: the functions
    bool *excluded;                // functions that a symbol does not tell
};

static int by_start(const void *a, const void *b)
{
    const struct running_range *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static void search_deinit(struct search *search)
{
    free(search->entries);
    free(search->excluded);
    map_deinit(&search->names);
}

struct sought {
    const struct image *image;
    const char *name;
    size_t size;
};

static bool is_named(const void *data, uint32_t function)
{
    const struct sought *sought = data;
    const char *name = sought->image->functions.items[function].name;
    return strlen(name) == sought->size && memcmp(name, sought->name, sought->size) == 0;
}

static uint64_t hash_name(const char *name, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3u;
    return hash;
}

// A static function's name may be that of others: none of them is known by it then, nor is one that
// has an entry.
static struct error *note_name(struct search *search, size_t number)
{
    const struct image_function *function = &search->image->functions.items[number];
    if (function->again || function->markers == 0 || (function->flags & MAP_IN_PLACE) != 0)
        return NULL;
    const struct sought sought = {search->image, function->name, strlen(function->name)};
    uint64_t hash = hash_name(sought.name, sought.size);
    uint32_t same = map_find_equal(&search->names, hash, is_named, &sought);
    if (same == MAP_NONE)
        return map_put(&search->names, hash, (uint32_t)number);
    search->excluded[same] = true;
    return NULL;
}

static struct error *search_init(struct search *search)
{
    const struct image *image = search->image;
    search->entries = calloc(image->entries.count + 1, sizeof *search->entries);
    search->excluded = calloc(image->functions.count + 1, sizeof *search->excluded);
    if (search->entries == NULL || search->excluded == NULL)
        return error_no_memory();
    for (size_t i = 0; i < image->entries.count; i++) {
        const struct image_entry *entry = &image->entries.items[i];
        search->entries[i] =
            (struct running_range){entry->begin, entry->begin + 1, entry->function};
        search->excluded[entry->function] = true;
    }
    qsort(search->entries, image->entries.count, sizeof *search->entries, by_start);
    for (size_t i = 0; i < image->functions.count; i++)
        TRY(note_name(search, i));
    return NULL;
}

// The first of sorted ranges that ends behind an address; `count` if none does.
static size_t first_behind(const struct running_range *ranges, size_t count, uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// An entry may stand behind an instruction that guards indirect jumps.
static struct error *add_range(void *data, const struct elf_frame *frame)
{
    struct search *search = data;
    size_t count = search->image->entries.count;
    size_t first = first_behind(search->entries, count, frame->start);
    if (first == count || search->entries[first].start >= frame->end)
        return NULL;
    struct running_range *slot = ARRAY_ADD(&search->ranges->items);
    if (slot == NULL)
        return error_no_memory();
    *slot = (struct running_range){frame->start, frame->end, search->entries[first].function};
    return NULL;
}

// The function without an entry that a symbol is about; SIZE_MAX if there is none, or several.
static size_t function_of(const struct search *search, const struct elf_symbol *symbol)
{
    const struct sought sought = {search->image, symbol->name, symbol->name_size};
    uint32_t found = map_find_equal(&search->names, hash_name(symbol->name, symbol->name_size),
                                    is_named, &sought);
    return found != MAP_NONE && !search->excluded[found] ? found : SIZE_MAX;
}

// Functions without an entry are known by their symbols. A stripped file has none.
static struct error *add_symbols(const struct search *search, const struct elf_object *object)
{
    _cleanup_(elf_symbols_deinit) struct elf_symbols symbols = {0};
    TRY(elf_symbols_load(object, NULL, &symbols));
    for (size_t i = 0; i < symbols.code.count; i++) {
        const struct elf_symbol *symbol = &symbols.code.items[i];
        size_t function =
            symbol->kind == ELF_SYMBOL_FUNCTION ? function_of(search, symbol) : SIZE_MAX;
        if (function == SIZE_MAX)
            continue;
        struct running_range *slot = ARRAY_ADD(&search->ranges->items);
        if (slot == NULL)
            return error_no_memory();
        *slot = (struct running_range){symbol->start, symbol->end, function};
    }
    return NULL;
}

struct error *running_ranges_find(const struct image *image, struct running_ranges *ret_ranges)
{
    _cleanup_(running_ranges_deinit) struct running_ranges ranges = {0};
    _cleanup_(search_deinit) struct search search = {.image = image, .ranges = &ranges};
    struct elf_object *object = NULL;
    TRY(search_init(&search));
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
    size_t low = first_behind(ranges->items.items, ranges->items.count, address);
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

// Reads page by page, since the stack may end anywhere. Returns how many words there are.
static size_t read_stack(int memory, uint64_t stack, uint64_t *words)
{
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
    return count;
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
    size_t count = read_stack(memory, stack, words);
    for (size_t i = 0; i < count; i++) {
        function = function_at(ranges, words[i] - bias);
        if (function != SIZE_MAX && !running[function] && is_behind_call(memory, words[i]))
            running[function] = true;
    }
    return NULL;
}

struct error *running_returns_into(const struct image_patches *patches, int memory, uint64_t stack,
                                   uint64_t bias, bool *ret_found)
{
    _cleanup_free_ uint64_t *words = malloc(MOST_STACK);
    if (words == NULL)
        return error_no_memory();
    size_t count = read_stack(memory, stack, words);
    *ret_found = false;
    for (size_t i = 0; i < patches->items.count; i++) {
        const struct image_patch *patch = &patches->items.items[i];
        for (size_t j = 0; j < count; j++) {
            uint64_t at = words[j] - bias;
            *ret_found |= at > patch->address && at < patch->address + patch->size &&
                          is_behind_call(memory, words[j]);
        }
    }
    return NULL;
}
