// SPDX-License-Identifier: GPL-3.0-or-later
// Reading .eh_frame: a cursor, and the frame descriptions in it.
#ifndef ORDEAL_RUNTIME_UNWIND_TABLE_H
#define ORDEAL_RUNTIME_UNWIND_TABLE_H

#include "runtime/module.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A cursor over the unwind tables, bounded by the module.
struct table {
    const unsigned char *at, *end;
    bool failed;
};

static inline uint64_t table_fixed(struct table *table, size_t size)
{
    uint64_t value = 0;
    if (table->failed || (size_t)(table->end - table->at) < size) {
        table->failed = true;
        return 0;
    }
    for (size_t i = size; i-- > 0;)
        value = value << 8 | table->at[i];
    table->at += size;
    return value;
}

static inline uint8_t table_byte(struct table *table)
{
    if (table->failed || table->at == table->end) {
        table->failed = true;
        return 0;
    }
    return *table->at++;
}

static inline uint64_t table_uleb(struct table *table)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = table_byte(table);
        value |= (byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            return value;
    }
    table->failed = true;
    return 0;
}

static inline int64_t table_sleb(struct table *table)
{
    uint64_t value = 0;
    unsigned shift = 0;
    for (;;) {
        uint64_t byte = table_fixed(table, 1);
        value |= (byte & 0x7f) << shift;
        shift += 7;
        if (table->failed || shift > 63)
            return (int64_t)value;
        if ((byte & 0x80) == 0) {
            if ((byte & 0x40) != 0)
                value |= ~0ull << shift;
            return (int64_t)value;
        }
    }
}

static inline void table_skip(struct table *table, uint64_t size)
{
    if (table->failed || (uint64_t)(table->end - table->at) < size)
        table->failed = true;
    else
        table->at += size;
}

// What a module says about the frames of one function.
struct description {
    struct table initial, rules; // instructions of the common part and its own
    uint64_t start, size;
    uint64_t pc; // that the row is for
    uint64_t code_align;
    int64_t data_align;
    bool signal;
};

// The description that covers an address. False: there is none.
bool description_find(const struct module *module, uint64_t pc,
                      struct description *ret_description);

#endif
