// SPDX-License-Identifier: GPL-3.0-or-later
// Rules for exact call sites, found by return address. Sites are kept by the 64 bytes of code they
// lie in, in the order of their addresses, so that calls made one after the other look at
// neighbouring memory: with ten thousand ruled sites, what a call costs is the cache lines it needs.
#include "runtime/runtime.h"

#define LINE_SIZE 64

// One line of code. It changes only while the module is loaded whose code it is.
struct line {
    uint64_t number; // address / LINE_SIZE; 0: free
    uint64_t starts; // bit i: a ruled call returns to byte i
    struct site *sites;
    uint32_t count, room;
};

struct line_table {
    uint32_t shift, room, count;
    struct line lines[];
};
static struct line_table *table;

static uint32_t *rule_patterns;                            // by rule
static uint32_t *first_rule_of_query, *next_rule_of_query; // rule + 1

uint64_t runtime_site_filter[8192];

bool sites_prepare(void)
{
    const struct wire_plan *plan = runtime.plan;
    const struct wire_pattern *patterns = plan_array(plan->patterns);
    const uint32_t *refs = plan_array(plan->rule_refs);
    uint32_t rules = plan->rules.count;
    rule_patterns = arena_new((rules + 1) * sizeof *rule_patterns);
    first_rule_of_query = arena_new((plan->query_count + 1) * sizeof *first_rule_of_query);
    next_rule_of_query = arena_new((rules + 1) * sizeof *next_rule_of_query);
    if (rule_patterns == NULL || first_rule_of_query == NULL || next_rule_of_query == NULL)
        return false;
    for (uint32_t p = 0; p < plan->patterns.count; p++)
        for (uint32_t i = 0; i < patterns[p].rule_refs.count; i++)
            rule_patterns[refs[patterns[p].rule_refs.offset + i]] = p;
    for (uint32_t i = 0; i < rules; i++) {
        uint32_t query = runtime.rules[i].site;
        if (query == WIRE_NONE || !runtime.rules[i].site_exact)
            continue;
        next_rule_of_query[i] = first_rule_of_query[query];
        first_rule_of_query[query] = i + 1;
    }
    return true;
}

static struct line *line_at(struct line_table *lines, uint64_t number)
{
    uint64_t at = number * 0x9e3779b97f4a7c15ull >> lines->shift;
    while (lines->lines[at].number != 0 && lines->lines[at].number != number)
        at = (at + 1) & (lines->room - 1);
    return &lines->lines[at];
}

static bool table_grow(void)
{
    uint32_t bits = table != NULL ? 64 - table->shift + 1 : 6;
    struct line_table *grown = arena_new(sizeof *grown + (sizeof(struct line) << bits));
    if (grown == NULL)
        return false;
    grown->shift = 64 - bits;
    grown->room = 1u << bits;
    grown->count = table != NULL ? table->count : 0;
    for (uint32_t i = 0; table != NULL && i < table->room; i++)
        if (table->lines[i].number != 0)
            *line_at(grown, table->lines[i].number) = table->lines[i];
    atomic_store(&table, grown);
    return true;
}

// How many bits of `bits` below bit `end` are set.
static uint32_t rank(uint64_t bits, uint32_t end)
{
    uint64_t x = bits & ((1ull << end) - 1);
    x -= x >> 1 & 0x5555555555555555ull;
    x = (x & 0x3333333333333333ull) + (x >> 2 & 0x3333333333333333ull);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0full;
    return (uint32_t)(x * 0x0101010101010101ull >> 56);
}

// Room for one more site of a line, at its place in the order.
static struct site *line_insert(struct line *line, uint32_t byte)
{
    if (line->count == line->room) {
        uint32_t room = line->room != 0 ? 2 * line->room : 2;
        struct site *sites = arena_new(room * sizeof *sites);
        if (sites == NULL)
            return NULL;
        if (line->count != 0)
            memcpy(sites, line->sites, line->count * sizeof *sites);
        line->sites = sites;
        line->room = room;
    }
    uint32_t at = rank(line->starts, byte);
    for (uint32_t i = line->count++; i > at; i--)
        line->sites[i] = line->sites[i - 1];
    line->starts |= 1ull << byte;
    return &line->sites[at];
}

static struct site site_of(uint32_t rule, const struct module *module)
{
    const struct wire_rule *r = &runtime.rules[rule];
    bool counted = r->count_first > 1 || r->count_last != UINT64_MAX || r->count_step > 1;
    return (struct site){NULL, module, rule, rule_patterns[rule], r->code.offset,
                         (uint16_t)r->code.count, counted};
}

// Puts a further rule into the list of a site, ascending; one that is there stays alone.
static bool site_join(struct site *first, struct site added)
{
    struct site *before = NULL, *at = first;
    for (; at != NULL && at->rule <= added.rule; before = at, at = at->next)
        if (at->rule == added.rule && at->module == added.module)
            return true;
    struct site *entry = arena_new(sizeof *entry);
    if (entry == NULL)
        return false;
    *entry = before != NULL ? added : *first;
    if (before != NULL) {
        entry->next = at;
        before->next = entry;
    } else {
        added.next = entry;
        *first = added;
    }
    return true;
}

static bool site_put(uint64_t address, struct site site)
{
    if ((table == NULL || 2 * (table->count + 1) > table->room) && !table_grow())
        return false;
    struct line *line = line_at(table, address / LINE_SIZE);
    uint32_t byte = address % LINE_SIZE;
    if ((line->starts >> byte & 1) != 0)
        return site_join(&line->sites[rank(line->starts, byte)], site);
    struct site *entry = line_insert(line, byte);
    if (entry == NULL)
        return false;
    *entry = site;
    table->count += line->number == 0;
    atomic_store(&line->number, address / LINE_SIZE);
    return true;
}

void sites_add(uint64_t address, uint32_t query, const struct module *module)
{
    uint32_t bit = runtime_site_bit(address);
    for (uint32_t rule = first_rule_of_query[query]; rule != 0; rule = next_rule_of_query[rule - 1])
        if (!site_put(address, site_of(rule - 1, module))) {
            journal_note(WIRE_NOTE_MEMORY, "call sites");
            return;
        }
    if (first_rule_of_query[query] != 0)
        runtime_site_filter[bit / 64] |= 1ull << bit % 64;
}

const struct site *sites_find(uint64_t address)
{
    struct line_table *lines = atomic_load(&table);
    if (lines == NULL)
        return NULL;
    const struct line *line = line_at(lines, address / LINE_SIZE);
    uint32_t byte = address % LINE_SIZE;
    return (line->starts >> byte & 1) != 0 ? &line->sites[rank(line->starts, byte)] : NULL;
}
