// SPDX-License-Identifier: GPL-3.0-or-later
// See library-watch.h.
#include "campaign/library-watch.h"

#include "base/cleanup.h"
#include "base/hash.h"
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

static struct error *count_calls(const struct recording *sites, struct map *indexes,
                                 uint64_t *counts)
{
    for (size_t i = 0; i < sites->calls.count; i++) {
        const struct recorded_call *call = &sites->calls.items[i];
        uint64_t key = hash_bytes(call->function, strlen(call->function));
        uint32_t index = map_find(indexes, key);
        if (index == MAP_NONE)
            TRY(map_put(indexes, key, index = (uint32_t)i));
        counts[index] += call->count;
    }
    return NULL;
}

struct error *choice_watch(const struct recording *sites, const struct choice_options *options,
                           struct kinds *kinds, struct scenario *scenario, bool *ret_any)
{
    _cleanup_(map_deinit) struct map indexes = {0};
    _cleanup_free_ uint64_t *counts = calloc(sites->calls.count + 1, sizeof *counts);
    if (counts == NULL)
        return error_no_memory();
    TRY(count_calls(sites, &indexes, counts));
    bool asks = !options->paranoid && !kinds->known;
    if (asks)
        TRY(ask_all(kinds, sites, options, scenario));
    *ret_any = asks && kinds->asked.count != 0;
    for (size_t i = 0; i < sites->calls.count; i++) {
        const struct recorded_call *call = &sites->calls.items[i];
        if (counts[i] == 0 || counts[i] > STACKS_MOST || !may_fail(call, options))
            continue;
        TRY(first_watch_function(scenario, call->function, call->library));
        *ret_any = true;
    }
    return NULL;
}
