// SPDX-License-Identifier: GPL-3.0-or-later
// Rules for exact call sites, found by return address. Sites are kept by line of code, 64 bytes, in
// the order of their addresses, so that calls made one after the other look at neighbouring memory:
// with ten thousand sites, the cost of a call is the cache lines it needs.
#ifndef ORDEAL_RUNTIME_SITES_H
#define ORDEAL_RUNTIME_SITES_H

#include "runtime/assembly/assembly.h"
#include "runtime/clauses.h"
#include "runtime/module.h"

// One rule for calls that return to one address, with what a check needs.
struct site {
    struct site *next; // for the same address, ascending
    uint32_t rule;
    uint32_t pattern : 31;
    uint32_t counted : 1;    // the rule is about some occurrences only
    struct clause condition; // or a CLAUSE_LIST that leads to it
};
_Static_assert(sizeof(struct site) == 32, "two to a cache line");

static inline const struct clause *site_clauses(const struct site *site)
{
    return __builtin_expect(site->condition.op == CLAUSE_LIST, 0) ? site->condition.list
                                                                  : &site->condition;
}

// One line of code of one module. It changes only while that module is loaded.
struct line {
    uint64_t number;    // address / SITE_LINE_SIZE; 0: free
    struct site *sites; // by address
    const struct module *module;
    uint8_t count, room;
    uint8_t places[SITE_LINE_SIZE]; // by byte: 1 + index of the site for calls that return there;
                                    // 0: none
};

struct line_table {
    uint32_t shift, room, count; // 64 - bits of a block's number; number of rows; rows in use
    struct line lines[];
};
extern struct line_table *site_lines;

bool sites_prepare(void);
// All sites of a module are announced first, so that neighbours get memory side by side, then
// added.
void sites_announce(uint64_t address, uint32_t query, const struct module *module);
void sites_add(uint64_t address, uint32_t query, const struct module *module);

// Lines that are neighbours in the code are neighbours in the table, in blocks of 16. A line that
// finds its row taken goes on, by steps that lead through all rows.
#define LINE_BLOCK 16
#define LINE_STEP  (LINE_BLOCK + 1)
static inline uint64_t line_home(const struct line_table *lines, uint64_t number)
{
    uint64_t block = number / LINE_BLOCK * 0x9e3779b97f4a7c15ull >> lines->shift;
    return block * LINE_BLOCK + number % LINE_BLOCK;
}

static inline uint64_t line_next(const struct line_table *lines, uint64_t at)
{
    return (at + LINE_STEP) & (lines->room - 1);
}

// The rules for calls that return there, or NULL.
static inline const struct site *sites_find(uint64_t address)
{
    const struct line_table *lines = atomic_load(&site_lines);
    uint64_t number = address / SITE_LINE_SIZE;
    uint32_t byte = address % SITE_LINE_SIZE;
    if (lines == NULL || number == 0) // 0 marks a free row
        return NULL;
    for (uint64_t at = line_home(lines, number);; at = line_next(lines, at)) {
        const struct line *line = &lines->lines[at];
        uint64_t seen = atomic_load(&line->number);
        if (seen == number && line->module->alive)
            return line->places[byte] != 0 ? &line->sites[line->places[byte] - 1] : NULL;
        if (seen == 0)
            return NULL;
    }
}

#endif
