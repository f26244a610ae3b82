// SPDX-License-Identifier: GPL-3.0-or-later
// The injector `library`: calls of library functions fail. What the workload calls is recorded in
// the reference runs; a candidate is one of these calls together with one of the faults. Its spec
// is a rule as of --inject.
#include "base/cleanup.h"
#include "base/duration.h"
#include "base/shell.h"
#include "injector/parameters.h"
#include "injector/reproduce.h"
#include "injectors/library/first-run.h"
#include "injectors/library/internal.h"
#include "injectors/registry.h"
#include "isa/need.h"
#include "store/spec.h"
#include "trial/debug.h"

#include <stdlib.h>
#include <string.h>

static const struct injector_parameter parameters[] = {
    {"faults", "SPEC...",
     "FUNCTION=VALUE/ERRNO, and other actions of ordeal-scenario(5); functions may be globs; auto: "
     "whatever of what is called can really fail",
     true, true},
    {"at", "occurrence|site|stack",
     "what a candidate is: every single call, every place that calls, or every distinct call stack "
     "(occurrence)",
     false, false},
    {"mode", "transient|persistent", "fail once, or from then on (transient)", false, false},
    {"plugins", "FILE...", "shared objects with triggers for conditions of faults", false, true},
    {"functions", "GLOB...", "of automatic faults: of these functions only", false, true},
    {"modules", "GLOB...", "likewise: in calls by these programs and libraries only", false, true},
    {"exclude", "GLOB...", "likewise: none of these functions, programs and libraries", false,
     true},
    {"errors", "realistic|all", "likewise: those that happen, or rare ones, too (realistic)", false,
     false},
    {"depth", "1|2", "likewise: 2 for second faults in the code that handles the first (1)", false,
     false},
    {"coverage", "none|recovery",
     "likewise: how much of the code that only runs after a failure is executed (none)", false,
     false},
    {0},
};

static void close_library(void *self)
{
    struct library *library = self;
    if (library == NULL)
        return;
    armed_free(library->armed);
    witness_free(library->witness);
    scenario_free(library->current);
    scenario_free(library->watching);
    scenario_free(library->watching_stacks);
    recording_deinit(&library->stacks);
    kinds_deinit(&library->kinds);
    choice_followed_deinit(&library->followed);
    scenario_free(library->plan.faults);
    recording_deinit(&library->plan.recording);
    free(library->plan.made);
    free(library->branches);
    gaps_deinit(&library->gaps);
    analysis_deinit(&library->analysis);
    cover_deinit(&library->cover);
    free(library->environment);
    free(library);
}

static struct error *open_library(const struct definition *definition, void **ret_self)
{
    struct library *library = calloc(1, sizeof *library);
    if (library == NULL)
        return error_no_memory();
    library->definition = definition;
    library->lines = &library->cover.gcov;
    struct error *error = library_fill(library);
    if (error != NULL) {
        close_library(library);
        return error;
    }
    *ret_self = library;
    return NULL;
}

static struct error *add_rules(const char *spec, struct scenario *scenario)
{
    size_t size;
    const char *part;
    for (size_t i = 0; (part = spec_part(spec, i, &size)) != NULL; i++) {
        _cleanup_free_ char *rule = strndup(part, size);
        if (rule == NULL)
            return error_no_memory();
        TRY(scenario_add_spec(scenario, rule));
    }
    return NULL;
}

static struct error *make_scenario(struct library *library, const char *spec)
{
    _cleanup_(freep_scenario) struct scenario *scenario = NULL;
    TRY(scenario_new(&scenario));
    TRY(library_add_plugins(library->definition, scenario));
    TRY(add_rules(spec, scenario));
    if (library->following != NULL)
        TRY(first_watch(scenario, library_is_paranoid(library->definition)));
    scenario_free(library->current);
    library->current = TAKE(scenario);
    return NULL;
}

static struct error *make_switched(struct library *library, const struct shot *shot)
{
    _cleanup_(freep_scenario) struct scenario *scenario = NULL;
    TRY(scenario_new(&scenario));
    TRY(library_add_plugins(library->definition, scenario));
    for (size_t i = 0; i < shot->switched_count; i++)
        TRY(scenario_add_spec(scenario, shot->switched[i]));
    scenario_free(library->current);
    library->current = TAKE(scenario);
    return NULL;
}

static bool wants_coverage(const struct library *library)
{
    return strcmp(parameters_value(library->definition, "coverage", "none"), "recovery") == 0;
}

static struct error *prepare(void *self, struct shot *shot)
{
    struct library *library = self;
    if (library->armed == NULL)
        TRY(armed_new(&library->armed));
    library->is_reference = shot->spec == NULL && shot->switched == NULL;
    library->following = shot->follow ? shot->spec : NULL;
    if (shot->switched != NULL)
        TRY(make_switched(library, shot));
    else if (shot->spec != NULL)
        TRY(make_scenario(library, shot->spec));
    if (wants_coverage(library) && library->is_reference && library->lines->directory == NULL)
        TRY(gcov_open(&library->cover.gcov));
    char *const *environment = shot->environment;
    TRY(gcov_environment(library->lines, shot->environment, library->is_reference,
                         &library->environment, &environment));
    const struct armed_options options = {
        .scenario = library->is_reference ? library_watching(library) : library->current,
        .seed = shot->seed,
        .command = shot->command,
        .environment = environment,
        .catch_crashes = true,
        .record_calls = library->is_reference || library->following != NULL,
        .record_stacks = library->is_reference &&
                         (library->plan.at == LIBRARY_STACK || library_tells_stacks(library)),
        .coverage = library->covered != NULL ? library->covered->file.path : NULL,
    };
    TRY(armed_prepare(library->armed, &options));
    library->visible[0] = armed_file(library->armed);
    size_t shown = 1;
    if (library->lines->directory != NULL)
        library->visible[shown++] = library->lines->directory;
    library->visible[shown] = library->covered != NULL ? library->covered->file.path : NULL;
    if (library->covered != NULL)
        cover_file_set_phase(&library->covered->file,
                             library->is_reference ? STORE_BY_REFERENCE : STORE_BY_TRIAL);
    shot->use_environment = armed_environment(library->armed);
    shot->switches = armed_file(library->armed);
    shot->first_switch = armed_rules(library->armed);
    shot->visible = library->visible;
    return NULL;
}

static struct error *moved(void *self, const char *from, const char *to)
{
    struct library *library = self;
    return armed_moved(library->armed, from, to);
}

static struct error *begin(void *self, const char *root)
{
    struct library *library = self;
    return armed_begin(library->armed, root);
}

static struct error *measure(struct library *library)
{
    TRY(cover_measure(&library->cover));
    library->covered = &library->cover;
    return NULL;
}

// Once: it takes longer than many a workload.
struct error *library_analyse(struct library *library)
{
    if (library->analysed)
        return NULL;
    TRY(isa_need()); // without it nothing would be known of any place, and nobody told
    library->analysis.modules.failing = wants_coverage(library);
    TRY(analysis_make(&library->analysis, &library->plan.recording));
    library->analysed = true;
    return NULL;
}

// For the second run: stacks, and kinds of descriptors, unless there is nothing to watch. To tell
// them apart costs each process more than all the rest of the recording.
static struct error *watch_stacks(struct library *library)
{
    _cleanup_(freep_scenario) struct scenario *scenario = NULL;
    const struct choice_options options = library_choice_options(library);
    bool any;
    TRY(scenario_new(&scenario));
    TRY(library_analyse(library));
    TRY(choice_watch(&library->plan.recording, &options, &library->analysis, scenario, &any));
    if (any)
        library->watching_stacks = TAKE(scenario);
    return NULL;
}

// The first run tells whose code is to be looked at; the others are measured. Not while the run is
// observed: looking at code may take longer than the run, and for one that does not serve, or is
// made for second faults, it would be in vain.
static struct error *learn(void *self)
{
    struct library *library = self;
    if (library->automatic && library->watching_stacks == NULL && library->plan.recording.runs == 1)
        TRY(watch_stacks(library));
    const struct cover_wanted wanted = {.modules = library_words(library, "modules"),
                                        .excluded = library_words(library, "exclude")};
    if (!wants_coverage(library) || library->cover.measuring)
        return NULL;
    TRY(library_analyse(library));
    TRY(cover_find(&library->cover, &library->analysis, &wanted, library->witness));
    return measure(library);
}

static bool takes_ports(void *self)
{
    const struct recording *recording = &((const struct library *)self)->plan.recording;
    for (size_t i = 0; i < recording->calls.count; i++)
        if (strcmp(recording->calls.items[i].function, "bind") == 0)
            return true;
    return false;
}

static struct error *keep(void *self, struct store *store, int64_t campaign)
{
    struct library *library = self;
    return library->cover.measuring ? cover_save(&library->cover, store, campaign) : NULL;
}

static void join(void *self, const void *leader)
{
    struct library *library = self;
    const struct library *first = leader;
    library->covered = first->covered;
    library->lines = first->lines;
}

static struct error *recall(void *self, struct store *store, int64_t campaign)
{
    struct library *library = self;
    if (!wants_coverage(library))
        return NULL;
    TRY(cover_load(&library->cover, store, campaign));
    return measure(library);
}

static struct error *
candidates(void *self, struct error *(*add)(void *data, struct candidate *candidate), void *data)
{
    struct library *library = self;
    if (!library->automatic)
        return library_candidates(&library->plan, add, data);
    const struct choice_options options = library_choice_options(library);
    TRY(library_analyse(library));
    TRY(choice_candidates(&library->plan, &library->stacks, &library->kinds, &library->analysis,
                          &options, add, data));
    // Job slots are forked from here.
    analysis_deinit(&library->analysis);
    library->analysed = false;
    return NULL;
}

static bool is_deep(void *self)
{
    const struct library *library = self;
    return strcmp(parameters_value(library->definition, "depth", "1"), "2") == 0;
}

static struct error *
deeper(void *self, struct error *(*add)(void *data, struct candidate *candidate), void *data)
{
    struct library *library = self;
    const struct choice_options options = library_choice_options(library);
    return choice_deeper(&library->plan, &library->stacks, &library->followed, &options, add, data);
}

static struct error *remarks(void *self, struct error *(*say)(void *data, const char *sentence),
                             void *data)
{
    struct library *library = self;
    return gaps_tell(&library->gaps, &library->plan, library->definition, say, data);
}

static struct error *next(void *self, const struct candidate *last, struct candidate *ret_next)
{
    const struct library *library = self;
    return library_next(&library->plan, last, ret_next);
}

static struct error *reproduce(void *self, const char *spec, uint64_t seed, uint64_t timeout_ns,
                               const struct definition *definition, char **ret_command)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(reproduce_put_place(&text, definition));
    TRY(buffer_printf(&text, "ordeal run"));
    if (timeout_ns != 0) {
        TRY(buffer_printf(&text, " -t "));
        TRY(duration_put_patience(&text, timeout_ns));
    }
    if (strstr(spec, "random") != NULL ||
        strstr(spec, "plugin") != NULL) // nothing else asks for it
        TRY(buffer_printf(&text, " --seed %llu", (unsigned long long)seed));
    const struct definition_parameter *plugins = parameters_find(definition, "plugins");
    for (size_t i = 0; plugins != NULL && i < plugins->values.count; i++) {
        _cleanup_(buffer_deinit) struct buffer path = {0};
        TRY(library_put_plugin(definition, plugins->values.items[i], &path));
        TRY(buffer_printf(&text, " --plugin "));
        TRY(shell_put_word(&text, path.data));
    }
    size_t size;
    const char *part;
    for (size_t i = 0; (part = spec_part(spec, i, &size)) != NULL; i++) {
        _cleanup_free_ char *rule = strndup(part, size);
        if (rule == NULL)
            return error_no_memory();
        TRY(buffer_printf(&text, " --inject "));
        TRY(shell_put_word(&text, rule));
    }
    TRY(buffer_printf(&text, " -- "));
    TRY(reproduce_put_command(&text, definition));
    *ret_command = TAKE(text.data);
    return NULL;
}

static struct error *debug(void *self, const struct shot *shot, const char *input, bool batch,
                           char ***ret_arguments, char ***ret_environment)
{
    struct library *library = self;
    const struct debug_options options = {.command = shot->command, .input = input, .batch = batch};
    return debug_words(library->armed, &options, ret_arguments, ret_environment);
}

const struct injector injector_library = {
    .name = "library",
    .summary = "makes calls of library functions fail",
    .parameters = parameters,
    .check = library_check_value,
    .open = open_library,
    .close = close_library,
    .prepare = prepare,
    .moved = moved,
    .begin = begin,
    .stricken = library_stricken,
    .observe = library_observe,
    .candidates = candidates,
    .remarks = remarks,
    .is_deep = is_deep,
    .deeper = deeper,
    .next = next,
    .reproduce = reproduce,
    .debug = debug,
    .takes_ports = takes_ports,
    .learn = learn,
    .keep = keep,
    .recall = recall,
    .join = join,
    .forks = &library_forks,
};
