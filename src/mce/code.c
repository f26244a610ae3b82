// SPDX-License-Identifier: GPL-3.0-or-later
// The formats are a table: fixed bits, and fields whose values have names. Whatever value has no
// name is no code of that format.
#include "mce/code.h"

#include "base/cleanup.h"

const char *const mce_unit_names[MCE_UNITS] = {
    [MCE_SIMPLE] = "simple", [MCE_GENERIC_CACHE] = "generic-cache",
    [MCE_TLB] = "tlb",       [MCE_MEMORY] = "memory",
    [MCE_CACHE] = "cache",   [MCE_MEMORY_CACHE] = "memory-cache",
    [MCE_BUS] = "bus",       [MCE_UNKNOWN] = "unknown",
};

struct field {
    unsigned shift, values;
    const char *const *names; // "": nothing is said
};

static const char *const transactions[] = {"instruction", "data", "generic"};       // TT
static const char *const levels[] = {"level 0", "level 1", "level 2", "any level"}; // LL
static const char *const requests[] = {"",           "read",
                                       "write",      "data load", // RRRR
                                       "data store", "instruction fetch",
                                       "prefetch",   "eviction",
                                       "snoop"};
static const char *const memory_requests[] = {"", "read", "write", "address or command", // MMM
                                              "scrubbing"};
static const char *const channels[] = {
    "channel 0",  "channel 1",  "channel 2",  "channel 3", // CCCC
    "channel 4",  "channel 5",  "channel 6",  "channel 7",  "channel 8",  "channel 9",
    "channel 10", "channel 11", "channel 12", "channel 13", "channel 14", "any channel"};
static const char *const roles[] = {"as source", "as responder", "as observer", ""}; // PP
static const char *const timeouts[] = {"", "timed out"};                             // T
static const char *const places[] = {"memory", "reserved", "I/O", "other"};          // II

#define FIELDS 5
#define FIELD(shift, names)                                                                        \
    {                                                                                              \
        shift, sizeof names / sizeof *names, names                                                 \
    }
static const struct format {
    enum mce_unit unit;
    uint16_t mask, bits; // F is in no mask
    const char *words;
    struct field fields[FIELDS]; // in the order in which they are told
} formats[] = {
    {MCE_GENERIC_CACHE, 0xeffc, 0x000c, "cache hierarchy", {FIELD(0, levels)}},
    {MCE_TLB, 0xeff0, 0x0010, "TLB", {FIELD(2, transactions), FIELD(0, levels)}},
    {MCE_MEMORY, 0xef80, 0x0080, "memory", {FIELD(4, memory_requests), FIELD(0, channels)}},
    {MCE_MEMORY_CACHE,
     0xef80,
     0x0280,
     "memory as cache",
     {FIELD(4, memory_requests), FIELD(0, channels)}},
    {MCE_CACHE,
     0xef00,
     0x0100,
     "cache",
     {FIELD(4, requests), FIELD(2, transactions), FIELD(0, levels)}},
    {MCE_BUS,
     0xe800,
     0x0800,
     "bus",
     {FIELD(4, requests), FIELD(2, places), FIELD(0, levels), FIELD(9, roles), FIELD(8, timeouts)}},
};
#define FORMATS (sizeof formats / sizeof *formats)

static const struct simple {
    uint16_t code;
    const char *words;
} simples[] = {
    {0x0001, "unclassified"},
    {0x0002, "parity of the microcode ROM"},
    {0x0003, "external error from another processor"},
    {0x0004, "functional redundancy check"},
    {0x0005, "internal parity"},
    {0x0006, "code outside the memory of system management"},
    {0x0400, "internal timer"},
    {0x0e0b, "I/O"},
};
#define SIMPLES (sizeof simples / sizeof *simples)

// These are errors inside the processor, and more is not said.
static bool is_internal(uint16_t code)
{
    return (code & 0xfc00) == 0x0400;
}

static const struct simple *find_simple(uint16_t code)
{
    for (size_t i = 0; i < SIMPLES; i++)
        if (simples[i].code == code)
            return &simples[i];
    return NULL;
}

static const char *field_name(const struct field *field, uint16_t code)
{
    unsigned bits = 0;
    while (1u << bits < field->values)
        bits++;
    unsigned value = (code >> field->shift) & ((1u << bits) - 1);
    return value < field->values ? field->names[value] : NULL;
}

static const struct format *find_format(uint16_t code)
{
    for (size_t i = 0; i < FORMATS; i++) {
        const struct format *format = &formats[i];
        bool is_meant = (code & format->mask) == format->bits;
        for (size_t j = 0; is_meant && j < FIELDS && format->fields[j].values != 0; j++)
            is_meant = field_name(&format->fields[j], code) != NULL;
        if (is_meant)
            return format;
    }
    return NULL;
}

enum mce_unit mce_code_unit(uint16_t code)
{
    if (find_simple(code) != NULL || is_internal(code))
        return MCE_SIMPLE;
    const struct format *format = find_format(code);
    return format != NULL ? format->unit : MCE_UNKNOWN;
}

struct error *mce_put_code(uint16_t code, struct buffer *text)
{
    const struct simple *simple = find_simple(code);
    const struct format *format = find_format(code);
    if (simple != NULL)
        return buffer_printf(text, "%s", simple->words);
    if (format == NULL)
        return buffer_printf(text, "%s", is_internal(code) ? "internal" : "unknown");
    TRY(buffer_printf(text, "%s", format->words));
    const char *separator = ": ";
    for (size_t i = 0; i < FIELDS && format->fields[i].values != 0; i++) {
        const char *name = field_name(&format->fields[i], code);
        if (*name == '\0')
            continue;
        TRY(buffer_printf(text, "%s%s", separator, name));
        separator = ", ";
    }
    return NULL;
}

size_t mce_all_codes(uint16_t ret_codes[MCE_MOST_CODES])
{
    size_t count = 0;
    for (unsigned code = 0; code <= 0xffff && count < MCE_MOST_CODES; code++)
        if ((code & MCE_CODE_F) == 0 &&
            (find_simple((uint16_t)code) != NULL || find_format((uint16_t)code) != NULL))
            ret_codes[count++] = (uint16_t)code;
    return count;
}
