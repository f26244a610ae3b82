// SPDX-License-Identifier: GPL-3.0-or-later
// Finds where functions begin and end. Unwind tables are the most exact, symbols add names. A
// function with neither (assembly) begins where calls lead to and ends where the next one begins.
#include "flow/internal.h"

#include "base/cleanup.h"
#include "elf/frames.h"
#include "elf/symbols.h"
#include "elf/tables.h"

#include <stdlib.h>
#include <string.h>

#define UNKNOWN_LIMIT (64u << 10) // most bytes of a function whose end is not stated

struct range {
    uint64_t start, end;
    const char *name;
    uint32_t name_size;
    bool part;
};

struct ranges {
    ARRAY(struct range) items;
};

static void ranges_deinit(struct ranges *ranges)
{
    ARRAY_DEINIT(&ranges->items);
}

static struct error *ranges_add(struct ranges *ranges, struct range range)
{
    struct range *added = ARRAY_ADD(&ranges->items);
    if (added == NULL)
        return error_no_memory();
    *added = range;
    return NULL;
}

struct framing {
    const struct flow_image *image;
    struct ranges *ranges;
};

// The PLT has an unwind entry like a function: it begins with a push of memory and a jump through
// memory. It is no function; calls through it are resolved by their slots.
static bool is_linkage_table(const struct flow_image *image, uint64_t address)
{
    size_t size;
    const unsigned char *code = elf_object_code(image->object, address, 32, &size);
    struct isa_decoder decoder;
    struct isa_insn push, jump;
    isa_decoder_init(&decoder);
    return code != NULL && isa_decode(&decoder, code, size, address, &push) &&
           push.kind == ISA_PUSH && (push.flags & ISA_MEMORY) != 0 &&
           isa_decode(&decoder, code + push.length, size - push.length, address + push.length,
                      &jump) &&
           jump.kind == ISA_JUMP_INDIRECT && jump.base == ISA_PC;
}

static struct error *add_frame(void *data, const struct elf_frame *frame)
{
    struct framing *framing = data;
    if (frame->part && is_linkage_table(framing->image, frame->start))
        return NULL;
    return ranges_add(framing->ranges,
                      (struct range){frame->start, frame->end, NULL, 0, frame->part});
}

static bool is_cold(const struct elf_symbol *symbol)
{
    return memmem(symbol->name, symbol->name_size, ".cold", 5) != NULL;
}

static struct error *add_symbols(struct flow_image *image, struct ranges *ranges)
{
    struct elf_symbols symbols = {0};
    struct error *error = elf_symbols_load(image->object, NULL, &symbols);
    for (size_t i = 0; error == NULL && i < symbols.code.count; i++) {
        const struct elf_symbol *symbol = &symbols.code.items[i];
        if (symbol->kind == ELF_SYMBOL_FUNCTION && symbol->end > symbol->start)
            error =
                ranges_add(ranges, (struct range){symbol->start, symbol->end, symbol->name,
                                                  (uint32_t)symbol->name_size, is_cold(symbol)});
        if (error == NULL)
            error = flow_note_thunk(image, symbol->name, symbol->name_size, symbol->start);
    }
    elf_symbols_deinit(&symbols);
    return error;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct range *left = a, *right = b;
    if (left->start != right->start)
        return left->start < right->start ? -1 : 1;
    return (left->name == NULL) - (right->name == NULL); // names first
}

// One range per start, ending at the next start at the latest.
static void ranges_settle(struct ranges *ranges)
{
    struct range *items = ranges->items.items;
    size_t kept = 0;
    if (ranges->items.count == 0)
        return;
    qsort(items, ranges->items.count, sizeof *items, compare_ranges);
    for (size_t i = 0; i < ranges->items.count; i++) {
        if (kept != 0 && items[kept - 1].start == items[i].start) {
            struct range *same = &items[kept - 1];
            same->end = items[i].end > same->end ? items[i].end : same->end;
            same->part |= items[i].part;
        } else {
            items[kept++] = items[i];
        }
    }
    ranges->items.count = kept;
    for (size_t i = 0; i + 1 < kept; i++)
        if (items[i].end > items[i + 1].start)
            items[i].end = items[i + 1].start;
}

static struct error *decode_range(struct flow_image *image, const struct isa_decoder *decoder,
                                  struct flow_function *function)
{
    size_t size = function->end - function->start, there;
    const unsigned char *code = elf_object_code(image->object, function->start, size, &there);
    function->first_insn = (uint32_t)image->insns.count;
    for (size_t at = 0; code != NULL && at < there;) {
        struct isa_insn *insn = image->insns.count < image->insns.room
                                    ? &image->insns.items[image->insns.count++] // all of it is set
                                    : ARRAY_ADD(&image->insns);
        if (insn == NULL)
            return error_no_memory();
        uint64_t address = function->start + at;
        if (!isa_decode(decoder, code + at, there - at, address, insn)) {
            *insn = (struct isa_insn){.length = 1,
                                      .kind = ISA_STOP,
                                      .dst = ISA_NONE,
                                      .src = ISA_NONE,
                                      .base = ISA_NONE,
                                      .index = ISA_NONE,
                                      .condition = ISA_IF_UNKNOWN};
            image->unreadable++;
        }
        insn->offset = (uint32_t)(address - image->base);
        at += insn->length;
    }
    function->insn_count = (uint32_t)image->insns.count - function->first_insn;
    return NULL;
}

// Adds the functions of settled ranges. The instructions of one function stand together; functions
// may be in any order.
static struct error *add_functions(struct flow_image *image, const struct ranges *ranges)
{
    struct isa_decoder decoder;
    isa_decoder_init(&decoder);
    for (size_t i = 0; i < ranges->items.count; i++) {
        const struct range *range = &ranges->items.items[i];
        struct flow_function *function = ARRAY_ADD(&image->functions);
        if (function == NULL)
            return error_no_memory();
        *function = (struct flow_function){.start = range->start,
                                           .end = range->end,
                                           .name = range->name,
                                           .name_size = range->name_size,
                                           .part = range->part};
        TRY(decode_range(image, &decoder, function));
    }
    return NULL;
}

static int compare_functions(const void *a, const void *b)
{
    const struct flow_function *left = a, *right = b;
    return (left->start > right->start) - (left->start < right->start);
}

static void sort_functions(struct flow_image *image)
{
    if (image->functions.count != 0)
        qsort(image->functions.items, image->functions.count, sizeof *image->functions.items,
              compare_functions);
    for (size_t i = 0; i < image->functions.count; i++)
        image->functions.items[i].owner = (uint32_t)i;
}

// Bytes from an address to the next function, or to the end of the code.
static size_t room_at(const struct flow_image *image, uint64_t address)
{
    size_t low = 0, high = image->functions.count, there = 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (image->functions.items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (elf_object_code(image->object, address, UNKNOWN_LIMIT, &there) == NULL)
        return 0;
    if (low < image->functions.count && image->functions.items[low].start - address < there)
        there = image->functions.items[low].start - address;
    return there;
}

// Adds addresses that instructions from `first` on call, and where no function is known.
static struct error *find_called(const struct flow_image *image, size_t first,
                                 struct ranges *ranges)
{
    for (size_t i = first; i < image->insns.count; i++) {
        const struct isa_insn *insn = &image->insns.items[i];
        uint64_t target = (uint64_t)insn->value;
        if (insn->kind != ISA_CALL || flow_function_at(image, target) != FLOW_NONE ||
            flow_callee_at(image, target) != FLOW_NONE)
            continue;
        size_t size = room_at(image, target);
        if (size != 0)
            TRY(ranges_add(ranges, (struct range){.start = target, .end = target + size}));
    }
    ranges_settle(ranges);
    return NULL;
}

struct error *flow_load_functions(struct flow_image *image)
{
    uint64_t high;
    // Only segments with code count: a kernel has its per-CPU variables at address 0.
    if (!elf_object_code_extent(image->object, &image->base, &high))
        return NULL;
    if (high - image->base > UINT32_MAX)
        return error_new("%s: its code is more than 4 GiB apart", elf_object_path(image->object));
    _cleanup_(ranges_deinit) struct ranges ranges = {0};
    struct framing framing = {image, &ranges};
    TRY(elf_each_frame(image->object, add_frame, &framing));
    TRY(add_symbols(image, &ranges));
    ranges_settle(&ranges);
    for (size_t first = 0; ranges.items.count != 0;) {
        TRY(add_functions(image, &ranges));
        sort_functions(image);
        ranges.items.count = 0;
        TRY(find_called(image, first, &ranges));
        first = image->insns.count;
    }
    return NULL;
}

uint32_t flow_function_at(const struct flow_image *image, uint64_t address)
{
    size_t low = 0, high = image->functions.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (image->functions.items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || image->functions.items[low - 1].end <= address)
        return FLOW_NONE;
    return (uint32_t)low - 1;
}

uint32_t flow_insn_in(const struct flow_image *image, const struct flow_function *function,
                      uint64_t address)
{
    uint32_t offset = (uint32_t)(address - image->base);
    uint32_t low = function->first_insn, high = low + function->insn_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (image->insns.items[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < function->first_insn + function->insn_count &&
                 image->insns.items[low].offset == offset;
    return found ? low : FLOW_NONE;
}

uint32_t flow_insn_at(const struct flow_image *image, uint64_t address)
{
    uint32_t number = flow_function_at(image, address);
    return number != FLOW_NONE ? flow_insn_in(image, &image->functions.items[number], address)
                               : FLOW_NONE;
}
