// SPDX-License-Identifier: GPL-3.0-or-later
// The controller's answers in force in this process: address ranges of the plan's queries and
// places of its variables. Lists only grow; what belongs to an unloaded module
// is passed over, and serves again if the module comes back to the same place.
#include "runtime/runtime.h"

struct range {
    struct range *next;
    uint64_t low, high;
    const struct module *module;
};

struct place {
    struct place *next;
    const struct wire_location *location;
    const struct wire_step *steps;
    const struct module *module;
};

static struct range **ranges; // by query
static struct place **places; // by variable

// Exact sites: return address → query, chained. Rebuilt larger when it fills.
struct site {
    uint64_t address;
    uint32_t query;
};
static struct site *sites;
static uint32_t site_room, site_count;
static uint32_t *first_rule_of_query, *next_rule_of_query; // rule + 1

uint64_t runtime_site_filter[8192];

static bool prepare(void)
{
    const struct wire_plan *plan = runtime.plan;
    if (ranges != NULL)
        return true;
    uint32_t rules = plan->rules.count;
    ranges = arena_new((plan->query_count + 1) * sizeof *ranges);
    places = arena_new((plan->variable_count + 1) * sizeof *places);
    first_rule_of_query = arena_new((plan->query_count + 1) * sizeof *first_rule_of_query);
    next_rule_of_query = arena_new((rules + 1) * sizeof *next_rule_of_query);
    if (ranges == NULL || places == NULL || first_rule_of_query == NULL ||
        next_rule_of_query == NULL)
        return false;
    for (uint32_t i = rules; i-- > 0;) { // backwards, so that chains ascend
        uint32_t query = runtime.rules[i].site;
        if (query == WIRE_NONE || !runtime.rules[i].site_exact)
            continue;
        next_rule_of_query[i] = first_rule_of_query[query];
        first_rule_of_query[query] = i + 1;
    }
    return true;
}

// False: it is there already, from an earlier load of the module.
static bool site_put(struct site *table, uint32_t room, struct site site)
{
    uint32_t at = (uint32_t)random_mix(site.address) & (room - 1);
    for (; table[at].address != 0; at = (at + 1) & (room - 1))
        if (table[at].address == site.address && table[at].query == site.query)
            return false;
    table[at].query = site.query;
    atomic_store(&table[at].address, site.address);
    return true;
}

static void site_add(uint64_t address, uint32_t query)
{
    if (first_rule_of_query[query] == 0)
        return;
    if (2 * (site_count + 1) > site_room) {
        uint32_t room = site_room != 0 ? 2 * site_room : 256;
        struct site *table = arena_new(room * sizeof *table);
        if (table == NULL) {
            journal_note(WIRE_NOTE_MEMORY, "call sites");
            return;
        }
        for (uint32_t i = 0; i < site_room; i++)
            if (sites[i].address != 0)
                site_put(table, room, sites[i]);
        atomic_store(&sites, table);
        atomic_store(&site_room, room);
    }
    site_count += site_put(sites, site_room, (struct site){address, query});
    uint32_t bit = runtime_site_bit(address);
    runtime_site_filter[bit / 64] |= 1ull << bit % 64;
}

void query_take(const struct module *module, const struct wire_resolution *answer)
{
    const struct wire_range *range = (const struct wire_range *)(answer + 1);
    const struct wire_location *location =
        (const struct wire_location *)(range + answer->range_count);
    const struct wire_step *steps = (const struct wire_step *)(location + answer->location_count);
    if (!prepare()) {
        journal_note(WIRE_NOTE_MEMORY, module->path);
        return;
    }
    for (uint32_t i = 0; i < answer->range_count; i++, range++) {
        struct range *entry = arena_new(sizeof *entry);
        if (entry == NULL || range->query >= runtime.plan->query_count)
            continue;
        *entry = (struct range){ranges[range->query], module->bias + range->lo,
                                module->bias + range->hi, module};
        atomic_store(&ranges[range->query], entry);
        if (range->hi - range->lo == 1)
            site_add(entry->low, range->query);
    }
    for (uint32_t i = 0; i < answer->location_count; i++, location++) {
        struct place *entry = arena_new(sizeof *entry);
        if (entry == NULL || location->variable >= runtime.plan->variable_count)
            continue;
        *entry = (struct place){places[location->variable], location, steps, module};
        atomic_store(&places[location->variable], entry);
    }
}

bool query_matches(uint32_t query, uint64_t return_address)
{
    if (ranges == NULL)
        return false;
    for (const struct range *range = ranges[query]; range != NULL; range = range->next)
        if (return_address - range->low < range->high - range->low && range->module->alive)
            return true;
    return false;
}

bool query_single_range(uint32_t query, uint64_t *ret_low, uint64_t *ret_length)
{
    const struct range *found = NULL;
    if (ranges == NULL)
        return false;
    for (const struct range *range = ranges[query]; range != NULL; range = range->next) {
        if (!range->module->alive)
            continue;
        if (found != NULL)
            return false;
        found = range;
    }
    *ret_low = found != NULL ? found->low : 0;
    *ret_length = found != NULL ? found->high - found->low : 0;
    return true;
}

uint32_t query_site_rules(uint64_t return_address, uint32_t *found, uint32_t room)
{
    uint32_t count = 0;
    if (site_room == 0)
        return 0;
    uint32_t at = (uint32_t)random_mix(return_address) & (site_room - 1);
    for (; sites[at].address != 0; at = (at + 1) & (site_room - 1)) {
        if (sites[at].address != return_address)
            continue;
        uint32_t rule = first_rule_of_query[sites[at].query];
        for (; rule != 0; rule = next_rule_of_query[rule - 1]) {
            if (count == room)
                return room + 1;
            uint32_t i = count++;
            for (; i > 0 && found[i - 1] > rule - 1; i--)
                found[i] = found[i - 1];
            found[i] = rule - 1;
        }
    }
    return count;
}

// Variables.

static bool base_address(const struct wire_location *location, struct walk *walk,
                         const struct module *module, uint64_t *ret_address)
{
    static const signed char saved[16] = {-1, -1, -1, 0, -1, -1, 1, -1, -1, -1, -1, -1, 2, 3, 4, 5};
    uint64_t base;
    if (location->base == WIRE_BASE_STATIC) {
        base = module->bias;
    } else if (location->base == WIRE_BASE_CFA) {
        if (!walk_cfa(walk, &base))
            return false;
    } else if (location->reg == 7) {
        base = walk->sp;
    } else {
        if (location->reg >= 16 || saved[location->reg] < 0)
            return false;
        base = walk->registers[(int)saved[location->reg]];
    }
    *ret_address = base + (uint64_t)location->offset;
    return true;
}

static int64_t narrow(const struct wire_location *location, uint64_t value)
{
    uint32_t bits = location->bit_width != 0 ? location->bit_width : location->width * 8;
    if (location->bit_width != 0)
        value >>= location->bit_offset;
    if (bits == 0 || bits >= 64)
        return (int64_t)value;
    value <<= 64 - bits;
    return location->is_signed ? (int64_t)value >> (64 - bits) : (int64_t)(value >> (64 - bits));
}

// A variable in a module's own data is there as long as the module, one on the stack as long as its
// frame; other pointers may be bad.
static bool load(const struct module *module, const struct walk *walk, uint64_t address,
                 uint32_t width, uint64_t *value)
{
    bool in_module = module->low <= address && address + width <= module->high;
    bool on_stack = walk->stack_low <= address && address + width <= walk->stack_high;
    if (!in_module && !on_stack)
        return system_peek((const void *)address, value, width);
    memcpy(value, (const void *)address, width);
    return true;
}

static bool place_read(const struct place *place, struct walk *walk, int64_t *ret_value)
{
    const struct wire_location *location = place->location;
    uint64_t address, value = 0;
    if (!base_address(location, walk, place->module, &address))
        return false;
    bool in_register = location->base == WIRE_BASE_REGISTER_VALUE;
    for (uint32_t i = 0; i < location->step_count; i++) {
        const struct wire_step *step = &place->steps[location->first_step + i];
        if (step->load && !in_register && !load(place->module, walk, address, 8, &address))
            return false;
        if (step->load)
            in_register = false; // the register was the pointer
        address += (uint64_t)step->offset;
    }
    if (location->width == 0 || in_register)
        value = address;
    else if (!load(place->module, walk, address, location->width, &value))
        return false;
    *ret_value = narrow(location, value);
    return true;
}

// The place of a local that is alive in this frame, or NULL.
static const struct place *local_place(uint32_t variable, const struct walk *walk)
{
    uint64_t pc = walk->exact ? walk->pc : walk->pc - 1;
    for (const struct place *place = places[variable]; place != NULL; place = place->next)
        if (place->module->alive && place->location->base != WIRE_BASE_STATIC &&
            pc - place->module->bias - place->location->lo <
                place->location->hi - place->location->lo)
            return place;
    return NULL;
}

bool variable_read(uint32_t variable, const struct call_frame *frame, int64_t *ret_value)
{
    struct walk walk;
    bool has_locals = false;
    const struct place *global = NULL;
    if (places == NULL)
        return false;
    for (const struct place *place = places[variable]; place != NULL; place = place->next) {
        if (!place->module->alive)
            continue;
        // The program's own copy of a library's variable is the one in use.
        if (place->location->base != WIRE_BASE_STATIC)
            has_locals = true;
        else if (global == NULL || place->module->map->l_prev == NULL)
            global = place;
    }
    walk_start(&walk, frame);
    for (int depth = 0; has_locals && depth < WIRE_FRAMES; depth++) {
        const struct place *place = local_place(variable, &walk);
        if (place != NULL)
            return place_read(place, &walk, ret_value);
        if (!walk_next(&walk))
            break;
    }
    return global != NULL && place_read(global, &walk, ret_value);
}
