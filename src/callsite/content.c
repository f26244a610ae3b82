// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps each content once, in a table by hash, and calculates with contents lane by lane.
#include "callsite/content.h"

#include "base/cleanup.h"
#include "base/hash.h"

#include <string.h>

#define MOST_CONTENTS 1200
#define MOST_NAMED    900 // the rest of the room is for contents that depend on the result

void contents_deinit(struct contents *contents)
{
    ARRAY_DEINIT(&contents->items);
    ARRAY_DEINIT(&contents->numbers);
    map_deinit(&contents->by_hash);
}

struct error *contents_start(struct contents *contents, unsigned lanes)
{
    contents->lanes = lanes;
    contents->items.count = contents->numbers.count = 0;
    contents->short_of_memory = false;
    map_clear(&contents->by_hash);
    return ARRAY_ADD(&contents->items) == NULL ? error_no_memory() : NULL;
}

int64_t number_signed(int64_t number, unsigned width)
{
    switch (width) {
    case 1:
        return (int8_t)number;
    case 2:
        return (int16_t)number;
    case 4:
        return (int32_t)number;
    default:
        return number;
    }
}

int64_t number_unsigned(int64_t number, unsigned width)
{
    return width >= 8 ? number : (int64_t)((uint64_t)number & ((1ull << width * 8) - 1));
}

struct sought {
    const struct contents *contents;
    const struct content *content;
    const int64_t *numbers;
};

static bool is_equal(const void *data, uint32_t index)
{
    const struct sought *sought = data;
    const struct contents *contents = sought->contents;
    const struct content *a = &contents->items.items[index], *b = sought->content;
    if (a->kind != b->kind || a->derived != b->derived)
        return false;
    if (a->kind == CONTENT_ADDRESS)
        return a->base == b->base && a->offset == b->offset;
    return a->known == b->known && memcmp(&contents->numbers.items[a->first], sought->numbers,
                                          contents->lanes * sizeof *sought->numbers) == 0;
}

static bool add_numbers(struct contents *contents, const int64_t *numbers, uint32_t *ret_first)
{
    *ret_first = (uint32_t)contents->numbers.count;
    for (unsigned i = 0; i < contents->lanes; i++) {
        int64_t *number = ARRAY_ADD(&contents->numbers);
        if (number == NULL)
            return false;
        *number = numbers[i];
    }
    return true;
}

static bool add(struct contents *contents, uint64_t hash, struct content *content,
                const int64_t *numbers)
{
    if (numbers != NULL && !add_numbers(contents, numbers, &content->first))
        return false;
    struct content *added = ARRAY_ADD(&contents->items);
    if (added == NULL)
        return false;
    *added = *content;
    struct error *error = map_put(&contents->by_hash, hash, (uint32_t)(contents->items.count - 1));
    error_free(error);
    return error == NULL;
}

// `numbers` is used for CONTENT_NUMBERS only.
static uint16_t put(struct contents *contents, struct content content, const int64_t *numbers)
{
    uint64_t hash = content.kind == CONTENT_ADDRESS
                        ? content.base * 0x9e3779b97f4a7c15ull ^ (uint64_t)content.offset
                        : hash_bytes(numbers, contents->lanes * sizeof *numbers) ^ content.known;
    const struct sought sought = {contents, &content, numbers};
    uint32_t found = map_find_equal(&contents->by_hash, hash, is_equal, &sought);
    if (found != MAP_NONE)
        return (uint16_t)found;
    if (contents->items.count > (numbers != NULL ? MOST_CONTENTS : MOST_NAMED))
        return CONTENT_UNKNOWN;
    if (!add(contents, hash, &content, numbers)) {
        contents->short_of_memory = true;
        return CONTENT_UNKNOWN;
    }
    return (uint16_t)(contents->items.count - 1);
}

uint16_t content_of_lanes(struct contents *contents, uint64_t known, const int64_t *numbers,
                          bool derived)
{
    int64_t clean[CONTENT_LANES];
    bool uniform = true;
    for (unsigned i = 0; i < contents->lanes; i++) {
        bool here = (known >> i & 1) != 0;
        clean[i] = here ? numbers[i] : 0;
        uniform = uniform && here && clean[i] == clean[0];
    }
    if (known == 0 && !derived)
        return CONTENT_UNKNOWN;
    struct content content = {
        .kind = CONTENT_NUMBERS, .derived = derived && !uniform, .known = known};
    return put(contents, content, clean);
}

uint16_t content_of_number(struct contents *contents, int64_t number)
{
    int64_t numbers[CONTENT_LANES];
    for (unsigned i = 0; i < contents->lanes; i++)
        numbers[i] = number;
    return content_of_lanes(contents, (1ull << contents->lanes) - 1, numbers, false);
}

uint16_t content_of_address(struct contents *contents, uint64_t base, int64_t offset)
{
    return put(contents, (struct content){.kind = CONTENT_ADDRESS, .base = base, .offset = offset},
               NULL);
}

// A base that is combined from others has its topmost bit set. The next three bits say how many
// went into it: the limit keeps it from growing without end in a loop.
#define COMBINED     (1ull << 63)
#define LENGTH_SHIFT 60
#define LONGEST      6

// A hash of a content that is an address or one constant for all lanes; false for others.
static bool name_of(const struct contents *contents, uint16_t content, bool with_offset,
                    uint64_t *ret_name, unsigned *length)
{
    const struct content *item = content_at(contents, content);
    int64_t number;
    if (content_constant(contents, content, &number)) {
        *ret_name = hash_mix(1, (uint64_t)number);
        return true;
    }
    *ret_name = hash_mix(hash_mix(2, item->base), with_offset ? (uint64_t)item->offset : 0);
    *length += (item->base & COMBINED) != 0 ? item->base >> LENGTH_SHIFT & 7 : 0;
    return item->kind == CONTENT_ADDRESS;
}

uint16_t content_combined(struct contents *contents, unsigned operation, uint16_t left,
                          uint16_t right)
{
    const struct content *x = content_at(contents, left), *y = content_at(contents, right);
    bool sum = operation == CONTENT_SUM && x->kind == CONTENT_ADDRESS && y->kind == CONTENT_ADDRESS;
    uint64_t a, b, offset = 0;
    unsigned length = 1;
    if (!name_of(contents, left, !sum, &a, &length) ||
        !name_of(contents, right, !sum, &b, &length) || length > LONGEST)
        return CONTENT_UNKNOWN;
    if (sum) { // a + b equals b + a, and offsets add up
        uint64_t first = a < b ? a : b;
        b = a < b ? b : a;
        a = first;
        offset = (uint64_t)x->offset + (uint64_t)y->offset;
    }
    uint64_t name = hash_mix(hash_mix(hash_mix(3, operation), a), b) >> 4;
    return content_of_address(contents, COMBINED | (uint64_t)length << LENGTH_SHIFT | name,
                              (int64_t)offset);
}

bool content_number(const struct contents *contents, uint16_t content, unsigned lane,
                    int64_t *ret_number)
{
    const struct content *item = content_at(contents, content);
    if (item->kind != CONTENT_NUMBERS || (item->known >> lane & 1) == 0)
        return false;
    *ret_number = contents->numbers.items[item->first + lane];
    return true;
}

bool content_constant(const struct contents *contents, uint16_t content, int64_t *ret_number)
{
    const struct content *item = content_at(contents, content);
    if (item->kind != CONTENT_NUMBERS || item->derived ||
        item->known != (1ull << contents->lanes) - 1)
        return false;
    *ret_number = contents->numbers.items[item->first];
    return true;
}

static int64_t calculate(enum isa_kind operation, int64_t left, int64_t right, unsigned width)
{
    uint64_t a = (uint64_t)left, b = (uint64_t)right, by = b & (width == 8 ? 63 : 31);
    uint64_t low = (uint64_t)number_unsigned(left, width);
    switch (operation) {
    case ISA_ADD:
        return (int64_t)(a + b);
    case ISA_SUBTRACT:
        return (int64_t)(a - b);
    case ISA_AND:
        return left & right;
    case ISA_OR:
        return left | right;
    case ISA_XOR:
        return left ^ right;
    case ISA_SHIFT_LEFT:
        return (int64_t)(a << by);
    case ISA_SHIFT_RIGHT:
        return (int64_t)(low >> by);
    case ISA_SHIFT_SIGNED:
        return number_signed(left, width) >> by;
    case ISA_NEGATE:
        return (int64_t)(0 - a);
    default:
        return ~left;
    }
}

// The register's number after `width` bytes of it were written.
static int64_t merged(int64_t before, int64_t result, unsigned width)
{
    if (width >= 4)
        return number_unsigned(result, width);
    int64_t mask = number_unsigned(-1, width);
    return (before & ~mask) | (result & mask);
}

uint16_t content_apply(struct contents *contents, enum isa_kind operation, uint16_t left,
                       uint16_t right, unsigned width)
{
    const struct content *a = content_at(contents, left), *b = content_at(contents, right);
    bool unary = operation == ISA_NEGATE || operation == ISA_INVERT;
    bool derived = a->derived || (!unary && b->derived);
    int64_t number;
    if (a->kind == CONTENT_ADDRESS && width == 8 && content_constant(contents, right, &number) &&
        (operation == ISA_ADD || operation == ISA_SUBTRACT))
        return content_of_address(contents, a->base,
                                  calculate(operation, a->offset, number, width));
    if (b->kind == CONTENT_ADDRESS && width == 8 && operation == ISA_ADD &&
        content_constant(contents, left, &number))
        return content_of_address(contents, b->base, calculate(ISA_ADD, b->offset, number, width));
    if (!unary && width >= 4 && (a->kind == CONTENT_ADDRESS || b->kind == CONTENT_ADDRESS) &&
        a->kind != CONTENT_NOTHING && b->kind != CONTENT_NOTHING && !derived)
        return content_combined(contents, operation | width << 8, left, right);
    // error |= f(): what was gathered before is taken for success.
    bool gathers =
        operation == ISA_OR && a->derived != b->derived && (a->derived ? b : a)->known == 0;
    uint64_t known = 0;
    int64_t numbers[CONTENT_LANES];
    for (unsigned i = 0; i < contents->lanes; i++) {
        int64_t x = 0, y = 0;
        bool is_left = content_number(contents, left, i, &x);
        bool is_right = unary || content_number(contents, right, i, &y);
        if (gathers ? !is_left && !is_right : !is_left || !is_right)
            continue;
        known |= 1ull << i;
        numbers[i] = merged(x, calculate(operation, x, y, width), width);
    }
    return content_of_lanes(contents, known, numbers, derived);
}

uint16_t content_extend(struct contents *contents, uint16_t content, unsigned width, bool with_sign,
                        unsigned to)
{
    const struct content *item = content_at(contents, content);
    if (item->kind != CONTENT_NUMBERS)
        return width >= 4 ? content : CONTENT_UNKNOWN; // code does not use parts of an address
    int64_t numbers[CONTENT_LANES];
    for (unsigned i = 0; i < contents->lanes; i++) {
        int64_t number = contents->numbers.items[item->first + i];
        number = with_sign ? number_signed(number, width) : number_unsigned(number, width);
        numbers[i] = number_unsigned(number, to < 4 ? 4 : to);
    }
    // Copied, because the array may move.
    uint64_t known = item->known;
    bool derived = item->derived;
    return content_of_lanes(contents, known, numbers, derived);
}
