// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses faults automatically: goes through all recorded calls, looks up or guesses how each can
// fail, and drops what was chosen already. order.c sorts the result.
#include "injectors/library/choosing.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "callsite/descriptors.h"
#include "injector/realism.h"
#include "scenario/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODES_MOST          3 // results per function, where they are guessed from its code
#define CODES_MOST_PARANOID 8

static enum stage stage_of(enum site_class class)
{
    switch (class) {
    case SITE_UNCHECKED:
        return STAGE_UNCHECKED;
    case SITE_PARTLY:
        return STAGE_PARTLY;
    case SITE_UNKNOWN:
        return STAGE_UNKNOWN;
    case SITE_CHECKED:
        break;
    }
    return STAGE_CHECKED;
}

static bool matches(const struct words *globs, const char *text)
{
    for (size_t i = 0; globs != NULL && i < globs->count; i++)
        if (function_pattern_fits(globs->items[i], false, text))
            return true;
    return false;
}

static bool matches_module(const struct words *globs, const char *path)
{
    return matches(globs, path) || matches(globs, file_base_name(path));
}

bool choice_is_wanted_function(const struct choice_options *options, const char *function)
{
    return (options->functions == NULL || matches(options->functions, function)) &&
           !matches(options->excluded, function);
}

bool choice_is_wanted_module(const struct choice_options *options, const char *path)
{
    return (options->modules == NULL || matches_module(options->modules, path)) &&
           !matches_module(options->excluded, path);
}

bool choice_is_wanted(const struct choice_options *options, const struct recorded_call *call,
                      const struct recorded_site *site)
{
    if (site->module[0] == '\0') // an address without a module means nothing to another run
        return false;
    if (!choice_is_wanted_function(options, call->function))
        return false;
    return choice_is_wanted_module(options, site->module);
}

// A program or library below the working directory belongs to the project under test. Make, the
// shell and the compiler, which run its tests, do not.
static bool is_in_project(const struct choice_options *options, const struct recording *recording,
                          const struct recorded_call *call)
{
    const char *module = recording->sites.items[call->site].module;
    size_t size = options->directory != NULL ? strlen(options->directory) : 0;
    return size > 1 && strncmp(module, options->directory, size) == 0 && module[size] == '/';
}

static struct error *look_for_project(struct choosing *choosing, const struct recording *recording)
{
    for (size_t i = 0; i < recording->calls.count; i++) {
        const struct recorded_call *call = &recording->calls.items[i];
        if (!is_in_project(choosing->options, recording, call))
            continue;
        choosing->has_project = true;
        TRY(map_add(&choosing->project, hash_text(call->program), NULL));
    }
    return NULL;
}

bool choosing_is_outside(const struct choosing *choosing, const struct recorded_call *call)
{
    if (!choosing->has_project)
        return false;
    return call->stream != 0 && strcmp(call->function, REALISM_STREAM_WRITE) == 0
               ? !map_has(&choosing->project, hash_text(call->program))
               : !is_in_project(choosing->options, choosing->recording, call);
}

// Notes which programs have signal handlers and sockets. Some errors are possible only there.
static struct error *look_at_programs(struct choosing *choosing)
{
    static const char *const opening[] = {"socket", "socketpair", "accept", "accept4"};
    const struct recording *recording = &choosing->plan->recording;
    for (size_t i = 0; i < recording->calls.count; i++) {
        const struct recorded_call *call = &recording->calls.items[i];
        if (strcmp(call->function, "sigaction") == 0 &&
            !realism_is_system(recording->sites.items[call->site].module))
            TRY(map_add(&choosing->handlers, hash_text(call->program), NULL));
        for (size_t j = 0; j < sizeof opening / sizeof *opening; j++)
            if (strcmp(call->function, opening[j]) == 0)
                TRY(map_add(&choosing->sockets, hash_text(call->program), NULL));
    }
    return NULL;
}

// Whoever has just closed a descriptor has one left; a pair needs two.
static bool has_descriptor(const struct recorded_call *call, const struct analysed *analysed,
                           const struct realism_error *error)
{
    static const char *const pairs[] = {"pipe", "pipe2", "socketpair", "popen"};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(call->function, pairs[i]) == 0)
            return false;
    return error->size == strlen("EMFILE") && memcmp(error->name, "EMFILE", error->size) == 0 &&
           analysed->site != NULL && analysed->image != NULL &&
           site_follows_close(analysed->image, analysed->site);
}

static bool is_possible(const struct choosing *choosing, const struct recorded_call *call,
                        const struct analysed *analysed, const struct realism_error *error)
{
    const struct recorded_site *site = &choosing->recording->sites.items[call->site];
    if (choosing->options->paranoid)
        return true;
    if (has_descriptor(call, analysed, error))
        return false;
    if (error->need == REALISM_BELOW) // else the fault is that of the write
        return choosing_calls_fail(choosing);
    if (error->need == REALISM_HANDLER && !map_has(&choosing->handlers, hash_text(call->program)))
        return false;
    if (choosing->followed == NULL &&
        !descriptor_kinds_seen(choosing->kinds, site, call->function, error))
        return false;
    bool socket = error->need == REALISM_SOCKET || error->need == REALISM_CONNECTION;
    return !socket || map_has(&choosing->sockets, hash_text(call->program));
}

static struct error *note_seen(struct choosing *choosing, uint64_t place, const char *function,
                               const struct chosen *chosen, bool *ret_new)
{
    uint64_t key = hash_mix(hash_text(function), hash_text(chosen->action));
    key = hash_mix(hash_mix(key, place), (uint64_t)(chosen->need * 2 + chosen->lasting));
    return map_add(&choosing->seen, key, ret_new);
}

static struct error *keep(struct choosing *choosing, const struct recorded_call *call,
                          const struct analysed *analysed, struct chosen *chosen)
{
    chosen->recording = choosing->recording;
    chosen->call = (uint32_t)(call - choosing->recording->calls.items);
    chosen->danger = (uint8_t)analysed->danger;
    chosen->outside_project = choosing_is_outside(choosing, call);
    if (chosen->guessed && chosen->stage > STAGE_UNCHECKED && chosen->stage <= STAGE_CHECKED)
        chosen->stage = STAGE_GUESSED;
    struct chosen *added = ARRAY_ADD(&choosing->items);
    if (added == NULL)
        return error_no_memory();
    *added = *chosen;
    return NULL;
}

// How a second fault is handled hardly depends on the first one, so each is chosen once.
static struct error *put_second(struct choosing *choosing, const struct recorded_call *call,
                                const struct analysed *analysed, struct chosen *chosen)
{
    const struct recorded_site *site = &choosing->recording->sites.items[call->site];
    uint64_t place = choice_place(site);
    bool fresh;
    if (map_has(&choosing->reference_places, place))
        return NULL;
    TRY(note_seen(choosing, place, call->function, chosen, &fresh));
    if (!fresh)
        return NULL;
    chosen->stage = STAGE_SECOND;
    chosen->class =
        (uint8_t)(realism_is_system(site->module) ? STAGE_SYSTEM : stage_of(analysed->class));
    return keep(choosing, call, analysed, chosen);
}

// Chooses a fault once for a site, and again for each further stack whose call all runs made. Not
// for functions that never pass a failure on: they do the same whoever called them.
static struct error *put(struct choosing *choosing, const struct recorded_call *call,
                         const struct analysed *analysed, struct chosen *chosen)
{
    const struct recorded_site *site = &choosing->recording->sites.items[call->site];
    uint64_t place = choice_place(site);
    if (choosing->followed != NULL)
        return put_second(choosing, call, analysed, chosen);
    bool new_site, first_stack, new_stack;
    TRY(note_seen(choosing, place, call->function, chosen, &new_site));
    if (call->stack == 0 && !new_site)
        return NULL;
    if (call->stack != 0) {
        // The site's own candidate fires at the site's first stack.
        TRY(note_seen(choosing, ~place, call->function, chosen, &first_stack));
        TRY(note_seen(choosing, call->stack, call->function, chosen, &new_stack));
        if (!new_site &&
            (first_stack || !new_stack || analysed->guards ||
             !recording_has_call(&choosing->plan->recording, &choosing->in_all_runs, call, site) ||
             (chosen->round != 0 && !choosing->options->paranoid)))
            return NULL;
    }
    chosen->stage = (uint8_t)(!new_site                         ? STAGE_STACK
                              : realism_is_system(site->module) ? STAGE_SYSTEM
                                                                : stage_of(analysed->class));
    chosen->class = (uint8_t)stage_of(analysed->class);
    return keep(choosing, call, analysed, chosen);
}

static struct error *put_words(struct choosing *choosing, const struct recorded_call *call,
                               const struct analysed *analysed, const struct realism *row,
                               const char *list, uint8_t *round)
{
    struct realism_error error;
    while (realism_next(&list, &error)) {
        struct chosen chosen = {
            .round = *round, .need = (uint8_t)error.need, .conditional = error.conditional};
        if (error.need == REALISM_STREAM) // real writes of the stream come first
            chosen.round += STREAM_ROUNDS;
        bool possible = is_possible(choosing, call, analysed, &error);
        if (error.need == REALISM_STREAM && !choosing_calls_fail(choosing))
            TRY(choosing_is_first_of_stream(choosing, call, &possible));
        if (!possible)
            continue;
        chosen.lasting = error.lasting;
        realism_action(row, &error, chosen.action);
        TRY(put(choosing, call, analysed, &chosen));
        ++*round;
    }
    return NULL;
}

static bool is_unchecked(const struct analysed *analysed, int64_t code)
{
    for (size_t i = 0; analysed->callee != NULL && i < analysed->callee->count; i++)
        if (analysed->callee->codes[i] == code)
            return (analysed->site->unchecked >> i & 1) != 0;
    return false;
}

static struct error *put_code(struct choosing *choosing, const struct recorded_call *call,
                              const struct analysed *analysed, size_t code, uint8_t *round)
{
    const struct callsite_import *import = analysed->import;
    int64_t number = import->codes.items[code];
    const char *error = constant_name(CONSTANT_ERRNO, import->errors.items[code]);
    struct chosen chosen = {
        .round = *round, .guessed = true, .forced = import->facts.items[code].forced};
    char result[24] = "NULL";
    if (number != 0 || import->success != SITE_SUCCESS_POINTER)
        snprintf(result, sizeof result, "%lld", (long long)number);
    int size = snprintf(chosen.action, sizeof chosen.action, "%s%s%s", result,
                        error != NULL ? "/" : "", error != NULL ? error : "");
    // A failure leaves its outputs as the function would.
    const struct callsite_code *facts = &import->facts.items[code];
    if (facts->out_argument != 0)
        snprintf(chosen.action + size, sizeof chosen.action - (size_t)size, ", out(%u:%u)=%lld",
                 facts->out_argument, facts->out_width, (long long)facts->out_value);
    ++*round;
    return put(choosing, call, analysed, &chosen);
}

// Guesses failures from the code of the function. Results that the caller does not check come
// first.
static struct error *put_codes(struct choosing *choosing, const struct recorded_call *call,
                               const struct analysed *analysed)
{
    const struct callsite_import *import = analysed->import;
    size_t most = choosing->options->paranoid ? CODES_MOST_PARANOID : CODES_MOST;
    uint8_t round = 0;
    for (int unchecked = 1; import != NULL && unchecked >= 0; unchecked--)
        for (size_t i = 0; i < import->codes.count && round < most; i++)
            if (is_unchecked(analysed, import->codes.items[i]) == (unchecked == 1) &&
                !import->facts.items[i].answer)
                TRY(put_code(choosing, call, analysed, i, &round));
    return NULL;
}

// An allocator fails in the same way whichever library provides it.
bool choice_is_known(const struct recorded_call *call, const struct realism *row)
{
    return row != NULL && (call->library[0] == '\0' || realism_is_system(call->library) ||
                           strcmp(row->errors, "ENOMEM") == 0);
}

// C++ functions throw, and what compilers call for the language (__dynamic_cast) answers.
static bool is_of_cxx(const char *function)
{
    return strncmp(function, "_Z", 2) == 0 || strncmp(function, "__cxa_", 6) == 0 ||
           strcmp(function, "__dynamic_cast") == 0;
}

static struct error *consider(struct choosing *choosing, const struct recorded_call *call)
{
    const struct recorded_site *site = &choosing->recording->sites.items[call->site];
    const struct realism *row = realism_find(call->function);
    bool paranoid = choosing->options->paranoid;
    uint8_t round = 0;
    if (strcmp(call->function, REALISM_STREAM_WRITE) == 0)
        return choosing_put_stream_write(choosing, call);
    if (!choice_is_wanted(choosing->options, call, site))
        return NULL;
    struct analysed analysed = analysis_find(choosing->analysis, site, call->function);
    if (analysed.counts)
        return NULL;
    if (choice_is_known(call, row)) {
        TRY(put_words(choosing, call, &analysed, row, row->errors, &round));
        return paranoid ? put_words(choosing, call, &analysed, row, row->rare, &round) : NULL;
    }
    // Functions of the C library that the table does not have return answers, not failures.
    bool silent = realism_is_system(call->library) || is_of_cxx(call->function);
    return silent && !paranoid ? NULL : put_codes(choosing, call, &analysed);
}

static void choosing_deinit(struct choosing *choosing)
{
    map_deinit(&choosing->seen);
    map_deinit(&choosing->handlers);
    map_deinit(&choosing->sockets);
    map_deinit(&choosing->reference_places);
    map_deinit(&choosing->in_all_runs);
    map_deinit(&choosing->project);
    map_deinit(&choosing->streams);
    map_deinit(&choosing->short_streams);
    ARRAY_DEINIT(&choosing->items);
}

static struct error *consider_all(struct choosing *choosing, struct recording *recording,
                                  const struct recording *complete)
{
    TRY(recording_settle(recording, complete));
    choosing->recording = recording;
    for (size_t i = 0; i < recording->calls.count; i++)
        TRY(consider(choosing, &recording->calls.items[i]));
    return NULL;
}

struct error *choice_candidates(struct call_plan *plan, struct recording *stacks,
                                const struct descriptor_kinds *kinds,
                                const struct analysis *analysis,
                                const struct choice_options *options, candidate_add *add,
                                void *data)
{
    _cleanup_(choosing_deinit) struct choosing choosing = {
        .plan = plan, .options = options, .kinds = kinds, .analysis = analysis};
    TRY(look_at_programs(&choosing));
    TRY(look_for_project(&choosing, &plan->recording));
    TRY(consider_all(&choosing, &plan->recording, NULL));
    TRY(recording_index(&plan->recording, &choosing.in_all_runs));
    TRY(consider_all(&choosing, stacks, &plan->recording));
    return choosing_emit(&choosing, add, data);
}

void choice_followed_deinit(struct choice_followed *followed)
{
    recording_deinit(&followed->recording);
    for (size_t i = 0; i < followed->specs.count; i++)
        free(followed->specs.items[i]);
    ARRAY_DEINIT(&followed->specs);
    *followed = (struct choice_followed){0};
}

struct error *choice_follow(struct choice_followed *followed, const char *spec,
                            const struct wire_view *view, struct journal_reader *reader)
{
    char *copy = strdup(spec), **slot = copy != NULL ? ARRAY_ADD(&followed->specs) : NULL;
    if (slot == NULL) {
        free(copy);
        return error_no_memory();
    }
    *slot = copy;
    return recording_add(&followed->recording, view, reader);
}

static struct error *note_reference_places(struct choosing *choosing,
                                           const struct recording *recording)
{
    for (size_t i = 0; i < recording->sites.count; i++)
        TRY(map_add(&choosing->reference_places, choice_place(&recording->sites.items[i]), NULL));
    return NULL;
}

struct error *choice_second_faults(struct call_plan *plan, const struct recording *stacks,
                                   const struct choice_followed *followed,
                                   const struct choice_options *options, candidate_add *add,
                                   void *data)
{
    _cleanup_(analysis_deinit) struct analysis analysis = {0};
    _cleanup_(choosing_deinit) struct choosing choosing = {.plan = plan,
                                                           .options = options,
                                                           .analysis = &analysis,
                                                           .followed = followed,
                                                           .recording = &followed->recording};
    TRY(analysis_make(&analysis, &followed->recording));
    TRY(look_at_programs(&choosing));
    TRY(look_for_project(&choosing, &plan->recording));
    TRY(note_reference_places(&choosing, &plan->recording));
    TRY(note_reference_places(&choosing, stacks));
    for (size_t i = 0; i < followed->recording.calls.count; i++)
        TRY(consider(&choosing, &followed->recording.calls.items[i]));
    return choosing_emit(&choosing, add, data);
}
