// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses what the second reference run records in more detail, and remembers the kinds of
// descriptors that calls were seen with.
#include "injectors/library/watch.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "injector/realism.h"
#include "injectors/library/analysis.h"
#include "injectors/library/first-run.h"
#include "scenario/tables.h"
#include "wire/region.h"

#include <stdlib.h>
#include <string.h>

// Limits for the calls of one function in a run. Above the first, stacks are not recorded; above
// the second, kinds of descriptors neither.
#define STACKS_MOST 5000
#define KINDS_MOST  50000

void descriptor_kinds_deinit(struct descriptor_kinds *kinds)
{
    map_deinit(&kinds->seen);
    *kinds = (struct descriptor_kinds){0};
}

uint64_t choice_place(const struct recorded_site *site)
{
    return hash_text(site->module) + site->offset;
}

unsigned choice_descriptor(const char *function)
{
    const struct realism *row = realism_find(function);
    const struct prototype *prototype = row != NULL ? prototype_find(row->name) : NULL;
    const char *at = prototype != NULL ? strchr(prototype->arguments, PROTOTYPE_FD) : NULL;
    return at != NULL ? (unsigned)(at - prototype->arguments) + 1 : 0;
}

// Whether the kind of descriptor, or another argument, decides which errors of the call are
// possible.
static bool depends_on_kind(const struct recorded_call *call)
{
    const struct realism *row = realism_find(call->function);
    struct realism_error error;
    if (choice_is_known(call, row) && realism_condition(row) != NULL)
        return true;
    if (!choice_is_known(call, row) || choice_descriptor(call->function) == 0)
        return false;
    for (const char *list = row->errors; realism_next(&list, &error);)
        if (realism_test(error.need) != NULL)
            return true;
    return false;
}

// What was seen at a place: an enum realism_need, or that the condition of the row held.
#define CONDITION REALISM_NEEDS

static uint64_t key_of(const struct recorded_site *site, const char *function, unsigned what)
{
    return hash_mix(hash_mix(hash_text(function), choice_place(site)), what);
}

// REALISM_NOTHING marks a place whose descriptors were looked at.
struct error *descriptor_kinds_add(struct descriptor_kinds *kinds, const struct recording *stacks)
{
    static const struct {
        enum realism_need need;
        enum wire_fd_test test;
    } tests[] = {{REALISM_FILE, WIRE_FD_FILE},
                 {REALISM_SOCKET, WIRE_FD_SOCKET},
                 {REALISM_CONNECTION, WIRE_FD_CONNECTION},
                 {REALISM_PIPE, WIRE_FD_PIPE}};
    for (size_t i = 0; i < stacks->calls.count; i++) {
        const struct recorded_call *call = &stacks->calls.items[i];
        const struct recorded_site *site = &stacks->sites.items[call->site];
        if ((call->kinds & (WIRE_KIND_HELD | WIRE_KIND_NOT_HELD)) != 0)
            TRY(map_add(&kinds->seen, key_of(site, call->function, REALISM_NOTHING), NULL));
        if ((call->kinds & WIRE_KIND_HELD) != 0)
            TRY(map_add(&kinds->seen, key_of(site, call->function, CONDITION), NULL));
        if ((call->kinds & WIRE_KIND_LOOKED) == 0)
            continue;
        TRY(map_add(&kinds->seen, key_of(site, call->function, REALISM_NOTHING), NULL));
        for (size_t k = 0; k < sizeof tests / sizeof *tests; k++)
            if ((call->kinds >> tests[k].test & 1) != 0)
                TRY(map_add(&kinds->seen, key_of(site, call->function, tests[k].need), NULL));
    }
    return NULL;
}

static bool seen(const struct descriptor_kinds *kinds, const struct recorded_site *site,
                 const char *function, unsigned what)
{
    return !map_has(&kinds->seen, key_of(site, function, REALISM_NOTHING)) ||
           map_has(&kinds->seen, key_of(site, function, what));
}

bool descriptor_kinds_seen(const struct descriptor_kinds *kinds, const struct recorded_site *site,
                           const char *function, const struct realism_error *error)
{
    return (realism_test(error->need) == NULL || seen(kinds, site, function, error->need)) &&
           (!error->conditional || seen(kinds, site, function, CONDITION));
}

static bool may_fail(const struct recorded_call *call, const struct choice_options *options)
{
    const struct realism *row = realism_find(call->function);
    if (choice_is_known(call, row))
        return options->paranoid || row->errors[0] != '\0';
    return options->paranoid ||
           (!realism_is_system(call->library) && strncmp(call->function, "_Z", 2) != 0);
}

// Counts the calls of each function. counts[i] is the sum at the function's first entry, 0 at its
// others; first[i] is the index of that entry.
static struct error *count_calls(const struct recording *sites, uint64_t *counts, uint32_t *first)
{
    _cleanup_(map_deinit) struct map indexes = {0};
    for (size_t i = 0; i < sites->calls.count; i++) {
        const struct recorded_call *call = &sites->calls.items[i];
        uint64_t key = hash_text(call->function);
        first[i] = map_find(&indexes, key);
        if (first[i] == MAP_NONE)
            TRY(map_put(&indexes, key, first[i] = (uint32_t)i));
        counts[first[i]] += call->count;
    }
    return NULL;
}

// Excludes places from recording stacks: those that never pass a failure on (analysed.guards), or
// all places of the function.
static struct error *spare_places(const struct recording *sites, const struct analysis *analysis,
                                  size_t number, const uint32_t *first, bool all,
                                  struct scenario *scenario)
{
    _cleanup_(map_deinit) struct map spared = {0};
    for (size_t i = number; i < sites->calls.count; i++) {
        const struct recorded_call *call = &sites->calls.items[i];
        const struct recorded_site *site = &sites->sites.items[call->site];
        if (first[i] != number || site->module[0] == '\0' || map_has(&spared, call->site) ||
            !(all || analysis_find(analysis, site, call->function).guards))
            continue;
        TRY(map_add(&spared, call->site, NULL));
        TRY(scenario_add_stackless(scenario, site->module, site->offset));
    }
    return NULL;
}

struct error *choice_watch(const struct recording *sites, const struct choice_options *options,
                           const struct analysis *analysis, struct scenario *scenario,
                           bool *ret_any)
{
    _cleanup_free_ uint64_t *counts = calloc(sites->calls.count + 1, sizeof *counts);
    _cleanup_free_ uint32_t *first = calloc(sites->calls.count + 1, sizeof *first);
    if (counts == NULL || first == NULL)
        return error_no_memory();
    TRY(count_calls(sites, counts, first));
    *ret_any = false;
    for (size_t i = 0; i < sites->calls.count; i++) {
        const struct recorded_call *call = &sites->calls.items[i];
        bool by_kind = !options->paranoid && depends_on_kind(call),
             by_stack = counts[i] <= STACKS_MOST;
        if (counts[i] == 0 || !may_fail(call, options) ||
            !(by_stack || (by_kind && counts[i] <= KINDS_MOST)))
            continue;
        const char *condition = by_kind ? realism_condition(realism_find(call->function)) : NULL;
        TRY(first_run_watch_function(scenario, call->function, call->library, condition));
        if (by_kind && choice_descriptor(call->function) != 0)
            scenario_watch_descriptor(scenario, choice_descriptor(call->function));
        TRY(spare_places(sites, analysis, i, first, !by_stack, scenario));
        *ret_any = true;
    }
    return NULL;
}
