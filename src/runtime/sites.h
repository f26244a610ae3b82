// SPDX-License-Identifier: GPL-3.0-or-later
// Rules for exact call sites, found by return address. Sites are kept by the 64 bytes of code they
// lie in, in the order of their addresses, so that calls made one after the other look at
// neighbouring memory: with ten thousand ruled sites, what a call costs is the cache lines it
// needs.
#ifndef ORDEAL_RUNTIME_SITES_H
#define ORDEAL_RUNTIME_SITES_H

#include "runtime/runtime.h"

// One rule for calls that return to one address: what a look at it needs.
struct site {
    struct site *next; // for the same address, ascending
    uint32_t rule, pattern;
    uint32_t code; // first instruction
    uint32_t code_count : 31;
    uint32_t counted : 1; // only some occurrences are of interest
};

#define LINE_SIZE 64

// One line of code of one module. It changes only while that module is loaded.
struct line {
    uint64_t number; // address / LINE_SIZE; 0: free
    uint64_t starts; // bit i: a ruled call returns to byte i
    struct site *sites;
    const struct module *module;
    uint32_t count, room;
};

struct line_table {
    uint32_t shift, room, count;
    struct line lines[];
};
extern struct line_table *site_lines;

bool sites_prepare(void);
// Each site of a module is first announced, so that neighbours get memory side by side, then added.
void sites_announce(uint64_t address, uint32_t query, const struct module *module);
void sites_add(uint64_t address, uint32_t query, const struct module *module);

static inline uint64_t line_home(const struct line_table *lines, uint64_t number)
{
    return number * 0x9e3779b97f4a7c15ull >> lines->shift;
}

// How many bits of `bits` below bit `end` are set.
static inline uint32_t line_rank(uint64_t bits, uint32_t end)
{
    uint64_t x = bits & ((1ull << end) - 1);
    x -= x >> 1 & 0x5555555555555555ull;
    x = (x & 0x3333333333333333ull) + (x >> 2 & 0x3333333333333333ull);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0full;
    return (uint32_t)(x * 0x0101010101010101ull >> 56);
}

// The rules for calls that return there, or NULL.
static inline const struct site *sites_find(uint64_t address)
{
    const struct line_table *lines = atomic_load(&site_lines);
    uint64_t number = address / LINE_SIZE;
    uint32_t byte = address % LINE_SIZE;
    if (lines == NULL)
        return NULL;
    for (uint64_t at = line_home(lines, number);; at = (at + 1) & (lines->room - 1)) {
        const struct line *line = &lines->lines[at];
        uint64_t seen = atomic_load(&line->number);
        if (seen == 0)
            return NULL;
        if (seen == number && line->module->alive)
            return (line->starts >> byte & 1) != 0 ? &line->sites[line_rank(line->starts, byte)]
                                                   : NULL;
    }
}

#endif
