// SPDX-License-Identifier: GPL-3.0-or-later
// Sorts the faults that were chosen automatically, the most promising first, and makes candidates
// of them.
#include "injectors/library/choosing.h"

#include "base/cleanup.h"
#include "callsite/identity.h"
#include "injector/realism.h"
#include "injector/spec.h"
#include "injectors/library/internal.h"
#include "store/spec.h"
#include "wire/region.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const stage_names[] = {
    [STAGE_UNCHECKED] = "unchecked", [STAGE_PARTLY] = "partly checked",
    [STAGE_UNKNOWN] = "unknown",     [STAGE_CHECKED] = CANDIDATE_CHECKED,
    [STAGE_SYSTEM] = "C library",    [STAGE_GUESSED] = "guessed",
    [STAGE_STACK] = CANDIDATE_STACK, [STAGE_SECOND] = CANDIDATE_SECOND,
};

static int order(unsigned a, unsigned b)
{
    return a < b ? -1 : a > b;
}

static int by_round(const struct chosen *a, const struct chosen *b)
{
    int result = order(a->outside_project, b->outside_project);
    result = result != 0 ? result : order(a->stage, b->stage);
    result = result != 0 ? result : order(a->class, b->class);
    result = result != 0 ? result : order(a->guessed, b->guessed);
    return result != 0 ? result : order(a->round, b->round);
}

static int by_class(const void *left, const void *right)
{
    const struct chosen *a = left, *b = right;
    int result = by_round(a, b);
    result = result != 0 ? result : order(b->danger, a->danger);
    return result != 0 ? result : order(a->call, b->call); // equal stages are of one recording
}

// Like by_class(), but functions take turns. What is wrong with one call of a function is often
// wrong with the next, and the first minute should show as much as it can.
static int by_promise(const void *left, const void *right)
{
    const struct chosen *a = left, *b = right;
    int result = by_round(a, b);
    result = result != 0 ? result : order(a->turn, b->turn);
    return result != 0 ? result : by_class(left, right);
}

// Numbers the places of each function within a round, starting with the most dangerous one.
static struct error *give_turns(struct choosing *choosing)
{
    struct chosen *items = choosing->items.items;
    size_t count = choosing->items.count;
    _cleanup_(map_deinit) struct map turns = {0}; // to an index of counts
    _cleanup_free_ uint16_t *counts = calloc(count + 1, sizeof *counts);
    if (counts == NULL)
        return error_no_memory();
    uint32_t known = 0;
    qsort(items, count, sizeof *items, by_class);
    for (size_t i = 0; i < count; i++) {
        const struct recorded_call *call = &items[i].recording->calls.items[items[i].call];
        uint64_t key = hash_text(call->function);
        key =
            hash_mix(key, (uint64_t)items[i].stage * 4096 + items[i].round * 16u + items[i].class);
        key = hash_mix(key, (uint64_t)(items[i].outside_project * 2 + items[i].guessed));
        uint32_t index = map_find(&turns, key);
        if (index == MAP_NONE)
            TRY(map_put(&turns, key, index = known++));
        items[i].turn = counts[index] < UINT16_MAX ? counts[index]++ : UINT16_MAX;
    }
    return NULL;
}

struct staging {
    const char *stage;
    const char *first; // the spec of the fault before this one, or NULL
    uint64_t content;
    enum store_basis basis;
    candidate_add *add;
    void *data;
};

// Puts the first fault before a candidate. The spec becomes "RULE then RULE", the type "read=-1/EIO
// after malloc=NULL/ENOMEM".
static struct error *put_before(const char *first, struct candidate *candidate)
{
    char *spec = NULL, *type = NULL;
    const char *when = strstr(first, " when ");
    int size = when != NULL ? (int)(when - first) : (int)strlen(first);
    if (asprintf(&spec, "%s" SPEC_THEN "%s", first, candidate->spec) < 0)
        return error_no_memory();
    free(candidate->spec);
    candidate->spec = spec;
    if (asprintf(&type, "%s after %.*s", candidate->type, size, first) < 0)
        return error_no_memory();
    free(candidate->type);
    candidate->type = type;
    return NULL;
}

static struct error *add_staged(void *data, struct candidate *candidate)
{
    const struct staging *staging = data;
    free(candidate->series);
    candidate->series = strdup(staging->stage);
    if (candidate->series == NULL)
        return error_no_memory();
    if (staging->first != NULL)
        TRY(put_before(staging->first, candidate));
    candidate->content = staging->content;
    candidate->basis = staging->basis;
    return staging->add(staging->data, candidate);
}

// A hash that identifies a candidate in another build, or 0. There is none for further stacks,
// which are known only by occurrence numbers of this build, for second faults, and for places whose
// code was not understood.
static uint64_t content_of(const struct choosing *choosing, const struct chosen *chosen,
                           const char *condition)
{
    const struct recorded_call *call = &chosen->recording->calls.items[chosen->call];
    struct analysed found = analysis_find(
        choosing->analysis, &chosen->recording->sites.items[call->site], call->function);
    if (found.site == NULL || chosen->stage == STAGE_STACK || chosen->occurrence != 0 ||
        choosing->followed != NULL)
        return 0;
    char words[256];
    int size = snprintf(words, sizeof words, "%016llx %s %s %s %d %s",
                        (unsigned long long)site_identity(found.image, found.site), call->function,
                        chosen->action, condition, chosen->lasting, call->program);
    return hash_bytes(words, (size_t)size < sizeof words ? (size_t)size : sizeof words);
}

// A pair of faults can happen only if both can: its basis is the worse one. Nothing proves a pair,
// so it is enough to know whether the first one was guessed, too.
static struct error *take_worse_basis(const char *first, enum store_basis *basis)
{
    _cleanup_(freep_scenario) struct scenario *scenario = NULL;
    TRY(scenario_new(&scenario));
    TRY(scenario_add_spec(scenario, first));
    if (realism_find(scenario_rule(scenario, 0).function) == NULL)
        *basis = STORE_BASIS_INPUT;
    return NULL;
}

// A fault that lasts is one of the stream, and not of all that are written later: the descriptor
// tells, and the last write, since a later stream may have the same one. Where streams with several
// descriptors were opened at one place, the disk is full for all.
static void put_stream_condition(const struct recorded_call *call, bool lasting,
                                 char condition[REALISM_CONDITION_SIZE])
{
    bool one = (call->kinds & WIRE_KIND_SEVERAL) == 0;
    int size = 0;
    condition[0] = '\0';
    if (one)
        size = snprintf(condition, REALISM_CONDITION_SIZE, "fd(1) == %u", call->descriptor);
    else if (lasting)
        size = snprintf(condition, REALISM_CONDITION_SIZE, "fd(1).file");
    if (lasting && call->latest != 0)
        snprintf(condition + size, REALISM_CONDITION_SIZE - (size_t)size, " and count <= %llu",
                 (unsigned long long)call->latest);
}

static struct error *emit(struct choosing *choosing, const struct chosen *chosen,
                          struct staging *staging)
{
    const struct recorded_call *call = &chosen->recording->calls.items[chosen->call];
    char condition[REALISM_CONDITION_SIZE];
    if (chosen->occurrence != 0)
        put_stream_condition(call, chosen->lasting, condition);
    else
        realism_put_condition(
            realism_find(call->function),
            &(struct realism_error){.need = chosen->need, .conditional = chosen->conditional},
            choice_descriptor(call->function), condition);
    const struct scenario_rule_view rule = {
        .function = call->function, .action = chosen->action, .condition = condition};
    staging->stage = stage_names[chosen->stage];
    staging->first =
        choosing->followed != NULL ? choosing->followed->specs.items[call->run - 1] : NULL;
    staging->content = content_of(choosing, chosen, condition);
    staging->basis = !chosen->guessed ? STORE_BASIS_SYSTEM
                     : chosen->forced ? STORE_BASIS_CALLS
                                      : STORE_BASIS_INPUT;
    if (staging->first != NULL)
        TRY(take_worse_basis(staging->first, &staging->basis));
    choosing->plan->persistent = chosen->lasting;
    struct recorded_call at = *call;
    bool by_occurrence = chosen->occurrence != 0 || chosen->stage == STAGE_STACK;
    at.first = chosen->occurrence != 0 ? chosen->occurrence : call->first;
    struct error *error =
        call_candidates_one(choosing->plan, &rule, chosen->recording, &at,
                            by_occurrence ? CALL_AT_STACK : CALL_AT_SITE, add_staged, staging);
    choosing->plan->persistent = false;
    return error;
}

struct error *choosing_emit(struct choosing *choosing, candidate_add *add, void *data)
{
    struct staging staging = {.add = add, .data = data};
    if (choosing->items.count == 0)
        return NULL;
    TRY(give_turns(choosing));
    qsort(choosing->items.items, choosing->items.count, sizeof *choosing->items.items, by_promise);
    for (size_t i = 0; i < choosing->items.count; i++)
        TRY(emit(choosing, &choosing->items.items[i], &staging));
    return NULL;
}
