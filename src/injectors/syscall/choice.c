// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses faults for the calls that reference runs made: errors that really happen (realism.h) and
// that the kernel has for the call. A candidate is a place that calls, and then every further path
// to it. The order: one error of every place before the second one of any; calls that can lose data
// first; places of different calls in turns.
#include "base/cleanup.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "injector/spec.h"
#include "injectors/syscall/internal.h"
#include "observe/linux-calls.h"
#include "scenario/tables.h"

#include <stdlib.h>
#include <string.h>

struct chosen {
    const struct recording *recording;
    const struct recorded_call *call;
    enum call_at at;
    uint8_t round; // 0: the first error of the call, 1: the second, ...
    uint8_t danger;
    uint16_t turn; // 0: the first place of the call
    bool lasting;
    char action[REALISM_ACTION];
    char condition[REALISM_CONDITION_SIZE];
};

struct choosing {
    struct system_calls *self;
    struct map places;  // that have a candidate, by call and action
    struct map in_runs; // calls that all runs made
    struct map first_paths;
    ARRAY(struct chosen) items;
};

struct error *system_calls_watch(struct scenario *scenario, bool paranoid)
{
    for (size_t i = 0; i < linux_call_count(); i++) {
        const char *name = linux_call_at(i)->name;
        const struct realism *row = kernel_call_realism(name);
        if (row == NULL || (row->errors[0] == '\0' && !paranoid))
            continue;
        const char *condition = realism_condition(row);
        _cleanup_(buffer_deinit) struct buffer spec = {0};
        TRY(buffer_printf(&spec, WIRE_SYSTEM_CALLS ":%s watch%s%s", name,
                          condition != NULL ? " when " : "", condition != NULL ? condition : ""));
        TRY(scenario_add_spec(scenario, spec.data));
    }
    return NULL;
}

static bool names(const struct words *globs, const char *name)
{
    for (size_t i = 0; globs != NULL && i < globs->count; i++)
        if (function_pattern_fits(globs->items[i], true, name))
            return true;
    return false;
}

static bool is_wanted(const struct system_calls *self, const struct recording *recording,
                      const struct recorded_call *call)
{
    const struct parameters *parameters = self->setup.parameters;
    const char *module = file_base_name(recording->sites.items[call->site].module);
    const struct words *only = parameters_words(parameters, "functions");
    const struct words *modules = parameters_words(parameters, "modules");
    const struct words *excluded = parameters_words(parameters, "exclude");
    return (only == NULL || names(only, call->function)) &&
           (modules == NULL || names(modules, module)) && !names(excluded, call->function) &&
           !names(excluded, module);
}

// Whether what the error needs was seen at the place.
static bool is_possible(const struct system_calls *self, const struct recorded_call *call,
                        const struct realism_error *error)
{
    static const int tests[REALISM_NEEDS] = {[REALISM_FILE] = WIRE_FD_FILE,
                                             [REALISM_SOCKET] = WIRE_FD_SOCKET,
                                             [REALISM_CONNECTION] = WIRE_FD_CONNECTION,
                                             [REALISM_PIPE] = WIRE_FD_PIPE};
    switch (error->need) {
    case REALISM_NOTHING:
        break;
    case REALISM_FILE:
    case REALISM_SOCKET:
    case REALISM_CONNECTION:
    case REALISM_PIPE:
        if ((call->kinds & WIRE_KIND_LOOKED) == 0 || (call->kinds >> tests[error->need] & 1) == 0)
            return false;
        break;
    case REALISM_HANDLER: // nobody has looked at the handlers
        if (!system_calls_paranoid(&self->setup))
            return false;
        break;
    default:
        return false;
    }
    return !error->conditional || (call->kinds & WIRE_KIND_HELD) != 0;
}

// Calls that change what is kept, then those that read, then the rest.
static uint8_t danger_of(const char *call)
{
    const struct linux_call *row = linux_call_find(call);
    if (row == NULL)
        return 2;
    if (row->reason == REASON_CONTENTS || row->reason == REASON_NAMES ||
        row->reason == REASON_DURABILITY || strcmp(call, "close") == 0)
        return 0;
    return row->reason == REASON_INPUT || row->reason == REASON_QUESTION ? 1 : 2;
}

// A rule that the language does not have for this call is no candidate.
static bool is_rule(const struct chosen *chosen)
{
    _cleanup_(freep_scenario) struct scenario *scenario = NULL;
    _cleanup_(buffer_deinit) struct buffer spec = {0};
    struct error *error = scenario_new(&scenario);
    if (error == NULL)
        error = buffer_printf(&spec, WIRE_SYSTEM_CALLS ":%s=%s", chosen->call->function,
                              chosen->action);
    if (error == NULL)
        error = scenario_add_spec(scenario, spec.data);
    bool sound = error == NULL;
    error_free(error);
    return sound;
}

static struct error *add_chosen(struct choosing *choosing, const struct chosen *chosen)
{
    const struct recorded_site *site = &chosen->recording->sites.items[chosen->call->site];
    uint64_t key = hash_mix(hash_text(chosen->call->function), hash_text(chosen->action));
    key = hash_mix(hash_mix(key, hash_text(site->module)), site->offset);
    bool fresh;
    TRY(map_add(&choosing->places, hash_mix(key, chosen->lasting), &fresh));
    // Other paths to a place that has a candidate get those of the second run.
    if (!fresh && chosen->at == CALL_AT_SITE)
        return NULL;
    if (chosen->at == CALL_AT_STACK) {
        TRY(map_add(&choosing->places, hash_mix(key, chosen->call->stack), &fresh));
        if (!fresh)
            return NULL;
    }
    if (!is_rule(chosen))
        return NULL;
    struct chosen *added = ARRAY_ADD(&choosing->items);
    if (added == NULL)
        return error_no_memory();
    *added = *chosen;
    return NULL;
}

static struct error *choose(struct choosing *choosing, const struct recording *recording,
                            const struct recorded_call *call, enum call_at at)
{
    struct system_calls *self = choosing->self;
    const struct realism *row = kernel_call_realism(call->function);
    bool paranoid = system_calls_paranoid(&self->setup);
    const char *lists[] = {row != NULL ? row->errors : "",
                           row != NULL && paranoid ? row->rare : ""};
    uint8_t round = 0;
    for (unsigned i = 0; i < 2; i++) {
        struct realism_error error;
        for (const char *list = lists[i]; realism_next(&list, &error);) {
            struct chosen chosen = {.recording = recording,
                                    .call = call,
                                    .at = at,
                                    .round = round,
                                    .lasting = error.lasting,
                                    .danger = danger_of(call->function)};
            if (!is_possible(self, call, &error) || !kernel_call_can(call->function, &error) ||
                !kernel_call_action(&error, chosen.action) || (error.lasting && at != CALL_AT_SITE))
                continue;
            round += round < UINT8_MAX;
            if (!realism_put_condition(row, &error, kernel_call_descriptor(call->function),
                                       chosen.condition))
                chosen.condition[0] = '\0';
            TRY(add_chosen(choosing, &chosen));
        }
    }
    return NULL;
}

static int order(const void *left, const void *right)
{
    const struct chosen *a = left, *b = right;
#define BY(field)                                                                                  \
    if (a->field != b->field)                                                                      \
    return a->field < b->field ? -1 : 1
    BY(at);
    BY(round);
    BY(turn);
    BY(danger);
    int names_order = strcmp(a->call->function, b->call->function);
    if (names_order != 0)
        return names_order;
    BY(call->first);
    BY(call->site);
    BY(call->stack);
#undef BY
    return strcmp(a->action, b->action);
}

// Numbers the places of each call, so that no call comes with all its places before another one.
static void number_turns(struct choosing *choosing)
{
    struct chosen *items = choosing->items.items;
    qsort(items, choosing->items.count, sizeof *items, order);
    for (size_t i = 1; i < choosing->items.count; i++)
        if (items[i].at == items[i - 1].at && items[i].round == items[i - 1].round &&
            strcmp(items[i].call->function, items[i - 1].call->function) == 0)
            items[i].turn = (uint16_t)(items[i - 1].turn + (items[i - 1].turn < UINT16_MAX));
    qsort(items, choosing->items.count, sizeof *items, order);
}

// A candidate on its way to the campaign: reports group by the series. What the caller does with
// the result is not looked at here.
struct staged {
    candidate_add *add;
    void *data;
    const char *series;
};

static struct error *add_staged(void *data, struct candidate *candidate)
{
    const struct staged *staged = data;
    free(candidate->series);
    candidate->series = strdup(staged->series);
    return candidate->series != NULL ? staged->add(staged->data, candidate) : error_no_memory();
}

static struct error *emit(struct choosing *choosing, candidate_add *add, void *data)
{
    struct call_plan *plan = &choosing->self->plan;
    if (choosing->items.count != 0)
        number_turns(choosing);
    for (size_t i = 0; i < choosing->items.count; i++) {
        const struct chosen *chosen = &choosing->items.items[i];
        const struct scenario_rule_view rule = {.library = chosen->call->library,
                                                .function = chosen->call->function,
                                                .action = chosen->action,
                                                .condition = chosen->condition};
        plan->persistent = chosen->lasting;
        struct staged staged = {add, data,
                                chosen->at == CALL_AT_SITE ? "unknown" : CANDIDATE_STACK};
        TRY(call_candidates_one(plan, &rule, chosen->recording, chosen->call, chosen->at,
                                add_staged, &staged));
    }
    plan->persistent = false;
    return NULL;
}

static void release(struct choosing *choosing)
{
    map_deinit(&choosing->places);
    map_deinit(&choosing->in_runs);
    map_deinit(&choosing->first_paths);
    ARRAY_DEINIT(&choosing->items);
}

struct error *system_calls_choose(struct system_calls *self, candidate_add *add, void *data)
{
    _cleanup_(release) struct choosing choosing = {.self = self};
    struct recording *places = &self->plan.recording, *stacks = &self->stacks;
    TRY(recording_settle(places, NULL));
    TRY(recording_settle(stacks, places));
    TRY(recording_index(places, &choosing.in_runs));
    for (size_t i = 0; i < places->calls.count; i++) {
        const struct recorded_call *call = &places->calls.items[i];
        bool known = places->sites.items[call->site].module[0] != '\0';
        if (!is_wanted(self, places, call))
            continue;
        if (call->in_all_runs)
            TRY(choose(&choosing, places, call, known ? CALL_AT_SITE : CALL_AT_STACK));
        else
            self->plan.uncertain++;
    }
    for (size_t i = 0; i < stacks->calls.count; i++) {
        const struct recorded_call *call = &stacks->calls.items[i];
        const struct recorded_site *site = &stacks->sites.items[call->site];
        uint64_t key = hash_mix(hash_text(call->function), hash_text(site->module));
        bool first; // of the place, which its candidate hits
        TRY(map_add(&choosing.first_paths, hash_mix(key, site->offset), &first));
        if (!first && is_wanted(self, stacks, call) &&
            recording_has_call(places, &choosing.in_runs, call, site))
            TRY(choose(&choosing, stacks, call, CALL_AT_STACK));
    }
    return emit(&choosing, add, data);
}
