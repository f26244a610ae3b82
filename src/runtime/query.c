// SPDX-License-Identifier: GPL-3.0-or-later
// The controller's answers that this process uses: address ranges of the plan's queries. Lists only
// grow. Ranges of an unloaded module are passed over, and used again if the module comes back to
// the same place.
#include "runtime/evaluate.h"

#include "runtime/journal.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "runtime/sites.h"
#include "runtime/system.h"
#include "runtime/unwind.h"

struct range {
    struct range *next;
    uint64_t low, high;
    const struct module *module;
};

static struct range **ranges; // by query

static bool prepare(void)
{
    const struct wire_plan *plan = runtime.plan;
    if (ranges != NULL)
        return true;
    struct range **lists = arena_new((plan->query_count + 1) * sizeof *ranges);
    if (lists == NULL || !sites_prepare() || !variables_prepare())
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
    for (uint32_t i = 0; i < answer->location_count; i++, location++)
        if (location->variable < runtime.plan->variable_count &&
            !variable_add(module, location, steps))
            journal_note(WIRE_NOTE_MEMORY, module->path);
    unwind_renew();
}

__attribute__((hot)) bool query_matches(uint32_t query, uint64_t return_address)
{
    if (ranges == NULL)
        return false;
    for (const struct range *range = ranges[query]; range != NULL; range = range->next)
        if (return_address - range->low < range->high - range->low && range->module->alive)
            return true;
    return false;
}

uint32_t query_find(uint32_t query, const uint64_t *pcs, uint32_t stride, uint32_t from,
                    uint32_t count)
{
    const struct range *only = ranges != NULL ? ranges[query] : NULL;
    if (only == NULL)
        return count;
    if (only->next == NULL && only->module->alive) {
        uint64_t low = only->low, length = only->high - low;
        while (from < count && pcs[(size_t)from * stride] - low >= length)
            from++;
        return from;
    }
    while (from < count && !query_matches(query, pcs[(size_t)from * stride]))
        from++;
    return from;
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
