// SPDX-License-Identifier: GPL-3.0-or-later
// The controller's answers in force in this process: address ranges of the plan's queries and
// places of its variables. Lists only grow; what belongs to an unloaded module
// is passed over, and serves again if the module comes back to the same place.
#include "runtime/sites.h"

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

static bool prepare(void)
{
    const struct wire_plan *plan = runtime.plan;
    if (ranges != NULL)
        return true;
    struct range **lists = arena_new((plan->query_count + 1) * sizeof *ranges);
    places = arena_new((plan->variable_count + 1) * sizeof *places);
    if (lists == NULL || places == NULL || !sites_prepare())
        return false;
    ranges = lists;
    return true;
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
    for (uint32_t i = 0; i < answer->range_count; i++)
        if (range[i].query < runtime.plan->query_count && range[i].hi - range[i].lo == 1)
            sites_announce(module->bias + range[i].lo, range[i].query, module);
    for (uint32_t i = 0; i < answer->range_count; i++, range++) {
        struct range *entry = arena_new(sizeof *entry);
        if (entry == NULL || range->query >= runtime.plan->query_count)
            continue;
        *entry = (struct range){ranges[range->query], module->bias + range->lo,
                                module->bias + range->hi, module};
        atomic_store(&ranges[range->query], entry);
        if (range->hi - range->lo == 1)
            sites_add(entry->low, range->query, module);
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
