// SPDX-License-Identifier: GPL-3.0-or-later
// Fills the table of rules for exact call sites, when the controller's answer about a module comes.
#include "runtime/sites.h"

#include "runtime/assembly/assembly.h"
#include "runtime/assembly/stubs.h"
#include "runtime/clauses.h"
#include "runtime/journal.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "runtime/system.h"

struct line_table *site_lines;

static uint32_t *rule_patterns;                            // by rule
static uint32_t *first_rule_of_query, *next_rule_of_query; // rule + 1

uint64_t runtime_site_filter[SITE_FILTER_WORDS];

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

// The line, or the free row where it belongs.
static struct line *line_at(struct line_table *lines, uint64_t number, const struct module *module)
{
    uint64_t at = line_home(lines, number);
    while (lines->lines[at].number != 0 &&
           (lines->lines[at].number != number || lines->lines[at].module != module))
        at = line_next(lines, at);
    return &lines->lines[at];
}

static bool table_grow(void)
{
    uint32_t room = site_lines != NULL ? 2 * site_lines->room : 4 * LINE_BLOCK;
    struct line_table *grown = arena_new(sizeof *grown + room * sizeof(struct line));
    if (grown == NULL)
        return false;
    grown->shift = site_lines != NULL ? site_lines->shift - 1 : 64 - 2;
    grown->room = room;
    grown->count = site_lines != NULL ? site_lines->count : 0;
    for (uint32_t i = 0; site_lines != NULL && i < site_lines->room; i++)
        if (site_lines->lines[i].number != 0)
            *line_at(grown, site_lines->lines[i].number, site_lines->lines[i].module) =
                site_lines->lines[i];
    atomic_store(&site_lines, grown);
    return true;
}

static struct line *line_of(uint64_t address, const struct module *module)
{
    if ((site_lines == NULL || 2 * (site_lines->count + 1) > site_lines->room) && !table_grow())
        return NULL;
    struct line *line = line_at(site_lines, address / SITE_LINE_SIZE, module);
    if (line->number == 0) {
        line->module = module;
        atomic_store(&line->number, address / SITE_LINE_SIZE);
        site_lines->count++;
    }
    return line;
}

// Memory for some sites, behind what was given out last.
static struct site *sites_new(uint32_t count)
{
    static struct site *free_sites;
    static uint32_t left, step = SITE_LINE_SIZE;
    if (left < count) {
        if (step < 2048)
            step *= 2;
        left = step; // more than one line can need
        char *memory = arena_new((left + 1) * sizeof *free_sites);
        // Aligned, so that no site lies in two cache lines.
        free_sites = (struct site *)((uint64_t)(memory + sizeof *free_sites - 1) &
                                     ~(sizeof *free_sites - 1));
        if (memory == NULL)
            left = 0;
    }
    if (left < count)
        return NULL;
    struct site *given = free_sites;
    free_sites += count;
    left -= count;
    return given;
}

// Makes room for one more site of a line, at its place in the order.
static struct site *line_insert(struct line *line, uint32_t byte)
{
    if (line->sites == NULL || line->count == line->room) {
        uint32_t room = line->count == line->room ? 2 * line->room + 1 : line->room;
        struct site *sites = sites_new(room);
        if (sites == NULL)
            return NULL;
        if (line->count != 0)
            memcpy(sites, line->sites, line->count * sizeof *sites);
        line->sites = sites;
        line->room = (uint8_t)room;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < byte; i++)
        at += line->places[i] != 0;
    for (uint32_t i = byte; i < SITE_LINE_SIZE; i++)
        line->places[i] += line->places[i] != 0;
    line->places[byte] = (uint8_t)(at + 1);
    for (uint32_t i = line->count++; i > at; i--)
        line->sites[i] = line->sites[i - 1];
    return &line->sites[at];
}

// The clauses of a rule's condition. False: no memory.
static bool condition_of(const struct wire_rule *rule, struct clause *ret_condition)
{
    struct clause scratch[16];
    uint32_t room = rule->code.count != 0 ? rule->code.count : 1;
    bool is_long = room > sizeof scratch / sizeof *scratch;
    struct clause *made = is_long ? arena_new(room * sizeof *made) : scratch;
    if (made == NULL)
        return false;
    uint32_t count = clauses_of(rule, made);
    *ret_condition = made[0];
    if (count == 1)
        return true;
    struct clause *list = is_long ? made : arena_new(count * sizeof *list);
    if (list != NULL && !is_long)
        memcpy(list, made, count * sizeof *list);
    *ret_condition = (struct clause){.op = CLAUSE_LIST, .list = list};
    return list != NULL;
}

static bool site_of(uint32_t rule, struct site *ret_site)
{
    const struct wire_rule *r = &runtime.rules[rule];
    bool counted = r->count_first > 1 || r->count_last != UINT64_MAX || r->count_step > 1;
    *ret_site = (struct site){
        .rule = rule, .pattern = rule_patterns[rule] & 0x7fffffff, .counted = counted};
    return condition_of(r, &ret_site->condition);
}

// Adds a rule to the list of a site, ascending, unless it is there already.
static bool site_join(struct site *first, struct site added)
{
    struct site *before = NULL, *at = first;
    for (; at != NULL && at->rule <= added.rule; before = at, at = at->next)
        if (at->rule == added.rule)
            return true;
    struct site *entry = sites_new(1);
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

static bool site_put(uint64_t address, const struct module *module, struct site site)
{
    struct line *line = line_of(address, module);
    uint32_t byte = address % SITE_LINE_SIZE;
    if (line == NULL)
        return false;
    if (line->places[byte] != 0)
        return site_join(&line->sites[line->places[byte] - 1], site);
    struct site *entry = line_insert(line, byte);
    if (entry != NULL)
        *entry = site;
    return entry != NULL;
}

void sites_announce(uint64_t address, uint32_t query, const struct module *module)
{
    struct line *line = first_rule_of_query[query] != 0 ? line_of(address, module) : NULL;
    if (line != NULL && line->sites == NULL && line->room < SITE_LINE_SIZE)
        line->room++;
}

void sites_add(uint64_t address, uint32_t query, const struct module *module)
{
    for (uint32_t rule = first_rule_of_query[query]; rule != 0;
         rule = next_rule_of_query[rule - 1]) {
        struct site site;
        if (!site_of(rule - 1, &site) || !site_put(address, module, site)) {
            journal_note(WIRE_NOTE_MEMORY, "call sites");
            return;
        }
    }
    if (first_rule_of_query[query] != 0)
        *runtime_site_word(address) |= 1ull << address % SITE_LINE_SIZE;
}
