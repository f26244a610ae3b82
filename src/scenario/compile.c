// SPDX-License-Identifier: GPL-3.0-or-later
// Compiles a scenario to a plan. Everything has its number already, so this only lays out arrays
// and hash tables.
#include "scenario/model.h"

#include "base/cleanup.h"
#include "isa/need.h"
#include "wire/check.h"
#include "wire/traits.h"

#include <stdlib.h>
#include <string.h>

// Appends an array to the plan and notes where.
static struct error *put(struct buffer *plan, const void *items, size_t count, size_t item_size,
                         struct wire_span *ret_span)
{
    TRY(buffer_align(plan, 8));
    if (plan->size + count * item_size > UINT32_MAX)
        return error_new("the scenario is too large for a plan");
    *ret_span = (struct wire_span){(uint32_t)plan->size, (uint32_t)count};
    return buffer_append(plan, items, count * item_size);
}

#define PUT(plan, array, span)                                                                     \
    put(plan, (array)->items, (array)->count, sizeof *(array)->items, span)

static uint32_t pattern_arguments(const struct pattern *pattern)
{
    size_t known = pattern->prototype != NULL ? strlen(pattern->prototype->arguments) : 0;
    if (known < pattern->arguments)
        known = pattern->arguments;
    return known < WIRE_ARGUMENTS ? (uint32_t)known : WIRE_ARGUMENTS;
}

static uint32_t pattern_strings(const struct pattern *pattern)
{
    uint32_t bits = pattern->string_arguments;
    for (unsigned i = 0; i < WIRE_ARGUMENTS; i++) {
        char kind = prototype_argument(pattern->prototype, i + 1);
        if (kind == PROTOTYPE_PATH || kind == PROTOTYPE_STRING)
            bits |= 1u << i;
    }
    return bits;
}

static struct error *put_patterns(const struct scenario *scenario, struct buffer *plan,
                                  struct wire_plan *header)
{
    size_t count = scenario->patterns.count;
    _cleanup_free_ struct wire_pattern *patterns = calloc(count + 1, sizeof *patterns);
    _cleanup_free_ uint32_t *refs = calloc(scenario->rules.count + 1, sizeof *refs);
    if (patterns == NULL || refs == NULL)
        return error_no_memory();
    uint32_t at = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pattern *pattern = &scenario->patterns.items[i];
        patterns[i] = (struct wire_pattern){
            .name = pattern->name.offset,
            .library = pattern->library.offset,
            .flags = pattern->flags | (pattern->is_glob ? WIRE_GLOB : 0),
            .rule_refs = {.offset = at},
            .arguments = pattern_arguments(pattern),
            .string_arguments = pattern_strings(pattern),
        };
        at += pattern->rule_count;
    }
    for (size_t i = 0; i < scenario->rules.count; i++) {
        struct wire_span *span = &patterns[scenario->rules.items[i].pattern].rule_refs;
        refs[span->offset + span->count++] = (uint32_t)i;
    }
    TRY(put(plan, patterns, count, sizeof *patterns, &header->patterns));
    return put(plan, refs, scenario->rules.count, sizeof *refs, &header->rule_refs);
}

struct home {
    uint32_t slot, pattern;
};

static int compare_homes(const void *a, const void *b)
{
    const struct home *left = a, *right = b;
    if (left->slot != right->slot)
        return left->slot < right->slot ? -1 : 1;
    return left->pattern < right->pattern ? -1 : left->pattern > right->pattern;
}

// Fills a hash table with linear probing. Entries come in the order of their home slots, so this is
// fast even if thousands of patterns share a name. Those that run past the end go to the first free
// slots.
static void fill_hash(uint32_t *table, size_t room, const struct home *homes, size_t count)
{
    size_t next = 0, wrapped = 0;
    for (size_t i = 0; i < count; i++) {
        size_t slot = homes[i].slot > next ? homes[i].slot : next;
        if (slot >= room) {
            while (table[wrapped] != 0)
                wrapped++;
            slot = wrapped;
        } else {
            next = slot + 1;
        }
        table[slot] = homes[i].pattern + 1;
    }
}

static struct error *put_hash(const struct scenario *scenario, struct buffer *plan,
                              struct wire_plan *header)
{
    size_t count = scenario->patterns.count, room = 8, exact = 0, globs = 0;
    while (room < count * 2)
        room *= 2;
    _cleanup_free_ struct home *homes = calloc(count + 1, sizeof *homes);
    _cleanup_free_ uint32_t *table = calloc(room, sizeof *table);
    _cleanup_free_ uint32_t *list = calloc(count + 1, sizeof *list);
    if (homes == NULL || table == NULL || list == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++) {
        const struct pattern *pattern = &scenario->patterns.items[i];
        if (pattern->is_glob)
            list[globs++] = (uint32_t)i;
        else
            homes[exact++] =
                (struct home){wire_hash(pattern->name.chars) & (uint32_t)(room - 1), (uint32_t)i};
    }
    qsort(homes, exact, sizeof *homes, compare_homes);
    fill_hash(table, room, homes, exact);
    TRY(put(plan, table, room, sizeof *table, &header->exact_hash));
    return put(plan, list, globs, sizeof *list, &header->globs);
}

static struct error *put_rules(const struct scenario *scenario, struct buffer *plan,
                               struct wire_plan *header)
{
    TRY(put(plan, NULL, 0, sizeof(struct wire_rule), &header->rules));
    if (plan->size + scenario->rules.count * sizeof(struct wire_rule) > UINT32_MAX)
        return error_new("the scenario is too large for a plan");
    for (size_t i = 0; i < scenario->rules.count; i++)
        TRY(buffer_append(plan, &scenario->rules.items[i].wire, sizeof(struct wire_rule)));
    header->rules.count = (uint32_t)scenario->rules.count;
    return NULL;
}

static struct error *put_plugins(const struct scenario *scenario, struct buffer *plan,
                                 struct wire_plan *header)
{
    size_t count = scenario->plugins.count;
    _cleanup_free_ struct wire_plugin *plugins = calloc(count + 1, sizeof *plugins);
    if (plugins == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++) {
        const struct plugin *plugin = &scenario->plugins.items[i];
        if (plugin->file == WIRE_NONE)
            return error_new("%s", plugin->missing);
        plugins[i] = (struct wire_plugin){plugin->name.offset,
                                          scenario->plugin_files.items[plugin->file].offset,
                                          plugin->parameters};
    }
    TRY(put(plan, plugins, count, sizeof *plugins, &header->plugins));
    return PUT(plan, &scenario->parameters, &header->parameters);
}

static struct error *put_strings(const struct scenario *scenario, struct buffer *plan,
                                 struct wire_plan *header)
{
    TRY(put(plan, "", 1, 1, &header->strings));
    for (size_t i = 0; i < scenario->strings.list.count; i++) {
        const struct text *text = &scenario->strings.list.items[i];
        TRY(buffer_append(plan, text->chars, (size_t)text->size + 1));
    }
    if (plan->size > UINT32_MAX)
        return error_new("the scenario is too large for a plan");
    header->strings.count = (uint32_t)(plan->size - header->strings.offset);
    return NULL;
}

// Appends the hash table of stackless call sites, at least half of which is free.
static struct error *put_stackless(const struct scenario *scenario, struct buffer *plan,
                                   struct wire_plan *header)
{
    size_t count = scenario->stackless.count, room = count != 0 ? 2 : 0;
    while (room < 2 * count)
        room *= 2;
    _cleanup_free_ uint64_t *table = calloc(room + 1, sizeof *table);
    if (table == NULL)
        return error_no_memory();
    for (size_t i = 0; i < count; i++) {
        uint64_t place = scenario->stackless.items[i], at = place >> 32;
        while (table[at & (room - 1)] != 0 && table[at & (room - 1)] != place)
            at++;
        table[at & (room - 1)] = place;
    }
    return put(plan, table, room, sizeof *table, &header->stackless);
}

static struct error *put_all(const struct scenario *scenario, struct buffer *plan,
                             struct wire_plan *header)
{
    TRY(put_patterns(scenario, plan, header));
    TRY(put_hash(scenario, plan, header));
    TRY(put_rules(scenario, plan, header));
    TRY(PUT(plan, &scenario->code, &header->code));
    TRY(PUT(plan, &scenario->stacks, &header->stacks));
    TRY(PUT(plan, &scenario->stack_items, &header->stack_items));
    TRY(PUT(plan, &scenario->outs, &header->outs));
    TRY(put_plugins(scenario, plan, header));
    TRY(PUT(plan, &scenario->afters, &header->afters));
    TRY(put_stackless(scenario, plan, header));
    return put_strings(scenario, plan, header);
}

static bool names_sanitizer(const char *text)
{
    for (size_t i = 0; i < WIRE_SANITIZERS; i++)
        if (strstr(text, wire_sanitizers[i]) != NULL)
            return true;
    return strstr(text, WIRE_LAUNCHER) != NULL;
}

bool scenario_names_sanitizers(const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->rules.count; i++)
        if (names_sanitizer(scenario->rules.items[i].condition.chars))
            return true;
    for (size_t i = 0; i < scenario->queries.count; i++)
        if (names_sanitizer(scenario->queries.items[i].text))
            return true;
    return false;
}

void scenario_include_sanitizers(struct scenario *scenario)
{
    scenario->uses |= WIRE_USE_SANITIZERS;
}

static bool names_streams(const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->patterns.count; i++)
        if (wire_traits_stream(wire_traits_find(scenario->patterns.items[i].name.chars)) != 0)
            return true;
    return false;
}

// Loads the instruction decoder if resolving will need it, for call sites and some variables. If it
// is missing, the user learns it now and not in the middle of a trial.
static struct error *need_decoder(const struct scenario *scenario)
{
    bool needed = scenario->variables.count != 0;
    for (size_t i = 0; i < scenario->queries.count && !needed; i++)
        needed = scenario->queries.items[i].kind == SCENARIO_QUERY_SITE;
    return needed ? isa_need() : NULL;
}

struct error *scenario_compile(const struct scenario *scenario, uint64_t seed,
                               struct buffer *ret_plan)
{
    TRY(need_decoder(scenario));
    _cleanup_(buffer_deinit) struct buffer plan = {0};
    struct wire_plan header = {.magic = WIRE_PLAN_MAGIC, .version = WIRE_VERSION, .seed = seed};
    header.query_count = (uint32_t)scenario->queries.count;
    header.variable_count = (uint32_t)scenario->variables.count;
    header.uses = scenario->uses;
    if (scenario_names_sanitizers(scenario))
        header.uses |= WIRE_USE_SANITIZERS;
    if (names_streams(scenario))
        header.uses |= WIRE_USE_STREAMS;
    TRY(buffer_append(&plan, &header, sizeof header));
    TRY(put_all(scenario, &plan, &header));
    TRY(buffer_align(&plan, 8));
    header.size = plan.size;
    memcpy(plan.data, &header, sizeof header);
    int problem = wire_plan_check(plan.data, plan.size);
    if (problem != 0)
        return error_new("the compiled plan is broken (check %d); please report this", problem);
    *ret_plan = plan;
    plan = (struct buffer){0};
    return NULL;
}
