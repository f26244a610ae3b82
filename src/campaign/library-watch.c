// SPDX-License-Identifier: GPL-3.0-or-later
// See library-watch.h.
#include "campaign/library-watch.h"

#include "base/cleanup.h"
#include "base/hash.h"
#include "campaign/library-analysis.h"
#include "campaign/library-first.h"
#include "campaign/library-spec.h"
#include "campaign/realism.h"
#include "scenario/tables.h"

#include <stdlib.h>
#include <string.h>

#define STACKS_MOST 5000 // calls of a function in one run
#define KINDS_MOST  2000 // rules that ask for them

void kinds_deinit(struct kinds *kinds)
{
    ARRAY_DEINIT(&kinds->asked);
    map_deinit(&kinds->seen);
    *kinds = (struct kinds){0};
}

uint64_t choice_place(const struct recorded_site *site)
{
    return hash_bytes(site->module, strlen(site->module)) + site->offset;
}

unsigned choice_descriptor(const char *function)
{
    const struct realism *row = realism_find(function);
    const struct prototype *prototype = row != NULL ? prototype_find(row->name) : NULL;
    const char *at = prototype != NULL ? strchr(prototype->arguments, PROTOTYPE_FD) : NULL;
    return at != NULL ? (unsigned)(at - prototype->arguments) + 1 : 0;
}

static uint64_t key_of(const struct recorded_site *site, const char *function,
                       enum realism_need need)
{
    uint64_t key = hash_bytes(function, strlen(function)) * 0x9e3779b97f4a7c15ull;
    return (key ^ (choice_place(site) + need)) * 0x9e3779b97f4a7c15ull;
}

struct error *kinds_look(struct kinds *kinds, const struct wire_view *view)
{
    for (size_t i = 0; i < kinds->asked.count && i < view->rule_count; i++)
        if (view->rule_states[i].fired != 0 &&
            map_find(&kinds->seen, kinds->asked.items[i]) == MAP_NONE)
            TRY(map_put(&kinds->seen, kinds->asked.items[i], 0));
    kinds->known = true;
    return NULL;
}

static bool is_asked(const struct kinds *kinds, uint64_t key)
{
    for (size_t i = 0; i < kinds->asked.count; i++)
        if (kinds->asked.items[i] == key)
            return true;
    return false;
}

bool kinds_seen(const struct kinds *kinds, const struct recorded_site *site, const char *function,
                enum realism_need need)
{
    uint64_t key = key_of(site, function, need);
    return realism_test(need) == NULL || choice_descriptor(function) == 0 || !kinds->known ||
           map_find(&kinds->seen, key) != MAP_NONE || !is_asked(kinds, key);
}

static struct error *ask(struct kinds *kinds, const struct recorded_site *site,
                         const char *function, enum realism_need need, struct scenario *scenario)
{
    uint64_t key = key_of(site, function, need);
    if (kinds->asked.count == KINDS_MOST || is_asked(kinds, key))
        return NULL;
    _cleanup_(buffer_deinit) struct buffer spec = {0};
    TRY(spec_put_word(&spec, function, SPEC_NAME));
    // A rule that does nothing would not be known to have fired.
    TRY(buffer_printf(&spec, "=delay 1ns when fd(%u).%s and ", choice_descriptor(function),
                      realism_test(need)));
    TRY(spec_put_site(&spec, site->module, site->offset));
    TRY(buffer_printf(&spec, " and once"));
    TRY(scenario_add_spec(scenario, spec.data));
    uint64_t *slot = ARRAY_ADD(&kinds->asked);
    if (slot == NULL)
        return error_no_memory();
    *slot = key;
    return NULL;
}

static struct error *ask_all(struct kinds *kinds, const struct recording *sites,
                             const struct choice_options *options, struct scenario *scenario)
{
    for (size_t i = 0; i < sites->calls.count; i++) {
        const struct recorded_call *call = &sites->calls.items[i];
        const struct recorded_site *site = &sites->sites.items[call->site];
        const struct realism *row = realism_find(call->function);
        if (call->count > STACKS_MOST || !choice_is_known(call, row) ||
            choice_descriptor(call->function) == 0 || !choice_is_wanted(options, call, site))
            continue;
        struct realism_error error;
        for (const char *list = row->errors; realism_next(&list, &error);)
            if (realism_test(error.need) != NULL)
                TRY(ask(kinds, site, call->function, error.need, scenario));
    }
    return NULL;
}

static bool may_fail(const struct recorded_call *call, const struct choice_options *options)
{
    const struct realism *row = realism_find(call->function);
    if (choice_is_known(call, row))
        return options->paranoid || row->errors[0] != '\0';
    return options->paranoid ||
           (!realism_is_system(call->library) && strncmp(call->function, "_Z", 2) != 0);
}

// The calls of a function, at the first of them; of the other ones all is 0.
struct called {
    uint64_t count;
    bool guarded; // at some places it does not matter who called the caller, see analysed.guards
};

static struct error *count_calls(const struct recording *sites, const struct analysis *analysis,
                                 struct called *called, uint32_t *first)
{
    _cleanup_(map_deinit) struct map indexes = {0};
    for (size_t i = 0; i < sites->calls.count; i++) {
        const struct recorded_call *call = &sites->calls.items[i];
        uint64_t key = hash_bytes(call->function, strlen(call->function));
        first[i] = map_find(&indexes, key);
        if (first[i] == MAP_NONE)
            TRY(map_put(&indexes, key, first[i] = (uint32_t)i));
        called[first[i]].count += call->count;
        called[first[i]].guarded |=
            analysis_find(analysis, &sites->sites.items[call->site], call->function).guards;
    }
    return NULL;
}

// Of a function with guarded places, the other ones.
static struct error *watch_places(const struct recording *sites, const struct analysis *analysis,
                                  size_t number, const uint32_t *first, struct scenario *scenario,
                                  bool *ret_any)
{
    _cleanup_(map_deinit) struct map watched = {0};
    for (size_t i = number; i < sites->calls.count; i++) {
        const struct recorded_call *call = &sites->calls.items[i];
        const struct recorded_site *site = &sites->sites.items[call->site];
        if (first[i] != number || site->module[0] == '\0' ||
            map_find(&watched, call->site) != MAP_NONE ||
            analysis_find(analysis, site, call->function).guards)
            continue;
        TRY(map_put(&watched, call->site, 0));
        TRY(first_watch_function(scenario, call->function, call->library, site));
        *ret_any = true;
    }
    return NULL;
}

struct error *choice_watch(const struct recording *sites, const struct choice_options *options,
                           const struct analysis *analysis, struct kinds *kinds,
                           struct scenario *scenario, bool *ret_any)
{
    _cleanup_free_ struct called *called = calloc(sites->calls.count + 1, sizeof *called);
    _cleanup_free_ uint32_t *first = calloc(sites->calls.count + 1, sizeof *first);
    if (called == NULL || first == NULL)
        return error_no_memory();
    TRY(count_calls(sites, analysis, called, first));
    if (!options->paranoid)
        TRY(ask_all(kinds, sites, options, scenario));
    *ret_any = kinds->asked.count != 0;
    for (size_t i = 0; i < sites->calls.count; i++) {
        const struct recorded_call *call = &sites->calls.items[i];
        if (called[i].count == 0 || called[i].count > STACKS_MOST || !may_fail(call, options))
            continue;
        if (called[i].guarded) {
            TRY(watch_places(sites, analysis, i, first, scenario, ret_any));
            continue;
        }
        TRY(first_watch_function(scenario, call->function, call->library, NULL));
        *ret_any = true;
    }
    return NULL;
}
