// SPDX-License-Identifier: GPL-3.0-or-later
// The injector `library`: calls of library functions fail. What the workload calls is recorded in
// the reference runs; a candidate is one of these calls together with one of the faults. Its spec
// is a rule as of --inject.
#include "base/cleanup.h"
#include "base/file.h"
#include "base/shell.h"
#include "campaign/cover.h"
#include "campaign/definition-parameter.h"
#include "campaign/duration.h"
#include "campaign/injectors.h"
#include "campaign/library-candidates.h"
#include "campaign/library-choice.h"
#include "campaign/library-first.h"
#include "campaign/library-gaps.h"
#include "campaign/library-spec.h"
#include "campaign/library-watch.h"
#include "campaign/reproduce.h"
#include "campaign/witness.h"
#include "scenario/rule.h"
#include "store/spec.h"
#include "trial/armed.h"
#include "trial/debug.h"
#include "trial/forking.h"
#include "trial/program.h"
#include "trial/resolver.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

#define AUTOMATIC "auto" // as the only fault: choose

struct library {
    const struct definition *definition;
    bool automatic;
    struct library_plan plan;
    struct gaps gaps;
    struct scenario *watching; // the faults' functions, without faults
    // Of automatic faults, after the first reference run: functions whose stacks are of interest,
    // and what the other runs recorded of them.
    struct scenario *watching_stacks;
    struct recording stacks;
    struct kinds kinds;
    struct choice_followed followed; // what shots called in consequence of their faults
    struct scenario *current;        // of this shot, if it is not a reference run
    struct armed *armed;             // made for the first shot
    struct witness *witness;
    bool is_reference;
    const char *following; // the spec of a shot that is followed, or NULL
    // Of many shots in one run:
    struct library_fork {
        size_t shot; // the rule's
        uint64_t plan_hash;
    } * branches;
    size_t branch_count;
    const char *visible[4];
    struct cover cover;          // of recovery code, in the controller
    const struct cover *covered; // the one whose file all job slots share, or NULL
    const struct gcov *lines;    // likewise where lines are counted
    const char **environment;    // of the shot, changed for that
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
    cover_deinit(&library->cover);
    free(library->environment);
    free(library);
}

static struct error *put_plugin(const struct definition *definition, const char *file,
                                struct buffer *path)
{
    if (file[0] != '/')
        TRY(buffer_printf(path, "%s/", definition->directory));
    return buffer_printf(path, "%s", file);
}

static struct error *add_plugins(const struct definition *definition, struct scenario *scenario)
{
    const struct definition_parameter *plugins = parameters_find(definition, "plugins");
    for (size_t i = 0; plugins != NULL && i < plugins->values.count; i++) {
        _cleanup_(buffer_deinit) struct buffer path = {0};
        TRY(put_plugin(definition, plugins->values.items[i], &path));
        TRY(scenario_add_plugin(scenario, path.data));
    }
    return NULL;
}

// The same function, and nothing happens.
static struct error *add_watch(struct library *library, const struct scenario_rule_view *rule)
{
    _cleanup_(buffer_deinit) struct buffer name = {0}, spec = {0};
    if (rule->library != NULL)
        TRY(buffer_printf(&name, "%s:", rule->library));
    TRY(buffer_printf(&name, "%s", rule->function));
    TRY(spec_put_word(&spec, name.data, SPEC_PATTERN));
    TRY(buffer_printf(&spec, " watch"));
    return scenario_add_spec(library->watching, spec.data);
}

static struct error *add_faults(struct library *library)
{
    const struct definition_parameter *faults = parameters_find(library->definition, "faults");
    if (faults == NULL)
        return error_new("there is nothing to inject: 'faults' is empty");
    for (size_t i = 0; i < faults->values.count; i++) {
        struct error *error = scenario_add_spec(library->plan.faults, faults->values.items[i]);
        if (error != NULL)
            return error == error_no_memory() || faults->line == 0
                       ? error
                       : error_prefix(error, "fault %zu", i + 1);
    }
    for (size_t i = 0; i < scenario_rule_count(library->plan.faults); i++) {
        struct scenario_rule_view rule = scenario_rule(library->plan.faults, i);
        if (strcmp(rule.action, "watch") == 0)
            return error_new("'%s' injects nothing", rule.text);
        TRY(add_watch(library, &rule));
    }
    if (scenario_names_witnesses(library->plan.faults))
        scenario_include_witnesses(library->watching);
    // What only shows when all is put together, such as plug-ins that are missing.
    _cleanup_(buffer_deinit) struct buffer plan = {0};
    return scenario_compile(library->plan.faults, 0, &plan);
}

static bool is_automatic(const struct definition *definition)
{
    const struct definition_parameter *faults = parameters_find(definition, "faults");
    return faults != NULL && faults->values.count == 1 &&
           strcmp(faults->values.items[0], AUTOMATIC) == 0;
}

static bool is_paranoid(const struct definition *definition)
{
    return strcmp(parameters_value(definition, "errors", "realistic"), "all") == 0;
}

// Parameters that go with faults that were named, or with those that were not.
static struct error *check_together(const struct library *library)
{
    static const char *const choosing[] = {"functions", "modules",  "exclude", "errors",
                                           "depth",     "coverage", NULL};
    static const char *const given[] = {"at", "mode", "plugins", NULL};
    const char *const *wrong = library->automatic ? given : choosing;
    for (; *wrong != NULL; wrong++)
        if (parameters_find(library->definition, *wrong) != NULL)
            return error_new(library->automatic ? "'%s' does not go with automatic faults"
                                                : "'%s' goes with 'faults: auto' only",
                             *wrong);
    if (parameters_find(library->definition, "coverage") != NULL &&
        library->definition->oracle.references < 2)
        return error_new("coverage needs two fault-free runs at least: the first shows whose code "
                         "is to be measured");
    if (library->automatic && library->definition->selection.kind == SELECT_SWEEP)
        return error_new("automatic faults cannot be swept");
    const char *depth = parameters_value(library->definition, "depth", "1");
    if (strcmp(depth, "1") != 0 && strcmp(depth, "2") != 0)
        return error_new("depth: one fault or two in a trial, not '%s'", depth);
    return NULL;
}

static void freep_scenario(struct scenario **scenario)
{
    scenario_free(*scenario);
}

static struct error *check_value(const char *parameter, const struct source *source)
{
    _cleanup_(freep_scenario) struct scenario *scenario = NULL;
    if (strcmp(parameter, "faults") != 0 ||
        (source->size == strlen(AUTOMATIC) && memcmp(source->text, AUTOMATIC, source->size) == 0))
        return NULL;
    TRY(scenario_new(&scenario));
    return spec_add(scenario, source, NULL);
}

// A setup may make the program; before it, nothing can be said.
static struct error *check_program(const struct definition *definition)
{
    if (definition->setup.count != 0 || definition->command.count == 0)
        return NULL;
    const char *name = definition->command.items[0];
    _cleanup_(buffer_deinit) struct buffer path = {0};
    if (strchr(name, '/') != NULL && name[0] != '/')
        TRY(buffer_printf(&path, "%s/", definition->directory));
    TRY(buffer_printf(&path, "%s", name));
    return program_check(path.data);
}

static struct error *fill(struct library *library)
{
    const struct definition *definition = library->definition;
    const char *at = parameters_value(definition, "at", "occurrence");
    library->plan.at = strcmp(at, "site") == 0    ? LIBRARY_SITE
                       : strcmp(at, "stack") == 0 ? LIBRARY_STACK
                                                  : LIBRARY_OCCURRENCE;
    library->plan.persistent =
        strcmp(parameters_value(definition, "mode", "transient"), "persistent") == 0;
    library->plan.sweep = definition->selection.kind == SELECT_SWEEP;
    if (library->plan.sweep && library->plan.at != LIBRARY_OCCURRENCE)
        return error_new("a sweep goes from occurrence to occurrence; 'at: %s' cannot be swept",
                         at);
    TRY(scenario_new(&library->plan.faults));
    TRY(scenario_new(&library->watching));
    library->automatic = is_automatic(definition);
    TRY(check_together(library));
    TRY(add_plugins(definition, library->plan.faults));
    TRY(library->automatic ? first_watch(library->watching, is_paranoid(definition))
                           : add_faults(library));
    TRY(check_program(definition));
    return witness_new(&library->witness);
}

static struct error *open_library(const struct definition *definition, void **ret_self)
{
    struct library *library = calloc(1, sizeof *library);
    if (library == NULL)
        return error_no_memory();
    library->definition = definition;
    library->lines = &library->cover.gcov;
    struct error *error = fill(library);
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
    TRY(add_plugins(library->definition, scenario));
    TRY(add_rules(spec, scenario));
    if (library->following != NULL)
        TRY(first_watch(scenario, is_paranoid(library->definition)));
    scenario_free(library->current);
    library->current = TAKE(scenario);
    return NULL;
}

static struct error *make_switched(struct library *library, const struct shot *shot)
{
    _cleanup_(freep_scenario) struct scenario *scenario = NULL;
    TRY(scenario_new(&scenario));
    TRY(add_plugins(library->definition, scenario));
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
    const struct scenario *watching =
        library->watching_stacks != NULL ? library->watching_stacks : library->watching;
    if (wants_coverage(library) && library->is_reference && library->lines->directory == NULL)
        TRY(gcov_open(&library->cover.gcov));
    char *const *environment = shot->environment;
    TRY(gcov_environment(library->lines, shot->environment, library->is_reference,
                         &library->environment, &environment));
    const struct armed_options options = {
        .scenario = library->is_reference ? watching : library->current,
        .seed = shot->seed,
        .command = shot->command,
        .environment = environment,
        .catch_crashes = true,
        .record_calls = library->is_reference || library->following != NULL,
        .record_stacks = library->is_reference &&
                         (library->plan.at == LIBRARY_STACK || library->watching_stacks != NULL),
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

// A condition that nothing answers to never holds: misspelt, most likely.
static struct error *note_unknown_place(const struct library *library,
                                        struct observation *observation)
{
    const struct resolver *resolver = armed_resolver(library->armed);
    if (resolver == NULL || observation->note != NULL)
        return NULL;
    for (size_t i = 0; i < scenario_query_count(library->current); i++)
        if (!resolver_found_query(resolver, i))
            return asprintf(&observation->note,
                            "caller() or stack(): no module of any process has '%s'",
                            scenario_query(library->current, i)->text) < 0
                       ? error_no_memory()
                       : NULL;
    return NULL;
}

// Of two faults one alone is not what was to be tried.
static struct error *note_unhit(const struct library *library, const struct wire_view *view,
                                struct observation *observation)
{
    uint32_t hit = 0, rules = (uint32_t)scenario_rule_count(library->current);
    for (uint32_t i = 0; i < rules && i < view->rule_count; i++)
        hit += view->rule_states[i].fired != 0;
    if (hit == 0 || hit == rules)
        return NULL;
    observation->activations = 0;
    free(observation->note);
    observation->note = strdup("only one of the two faults was hit");
    return observation->note != NULL ? NULL : error_no_memory();
}

// A candidate that is not known is one that nobody misses in the report.
static struct error *note_lost(const struct recording *recording, uint64_t lost_before,
                               struct observation *observation)
{
    if (recording->lost == lost_before || observation->note != NULL)
        return NULL;
    observation->note = strdup("a reference run makes more different calls than can be recorded: "
                               "not all that could fail are candidates");
    return observation->note != NULL ? NULL : error_no_memory();
}

static const definition_words *words_of(const struct library *library, const char *parameter)
{
    const struct definition_parameter *found = parameters_find(library->definition, parameter);
    return found != NULL ? &found->values : NULL;
}

static struct choice_options choice_options(const struct library *library)
{
    return (struct choice_options){
        .functions = words_of(library, "functions"),
        .modules = words_of(library, "modules"),
        .excluded = words_of(library, "exclude"),
        .paranoid = is_paranoid(library->definition),
        .directory = library->definition->directory,
    };
}

// From the first run on, stacks; unless nothing is left to watch.
static struct error *watch_stacks(struct library *library)
{
    _cleanup_(freep_scenario) struct scenario *scenario = NULL;
    const struct choice_options options = choice_options(library);
    bool any;
    TRY(scenario_new(&scenario));
    TRY(choice_watch(&library->plan.recording, &options, &library->kinds, scenario, &any));
    if (any)
        library->watching_stacks = TAKE(scenario);
    return NULL;
}

static struct error *measure(struct library *library)
{
    TRY(cover_measure(&library->cover));
    library->covered = &library->cover;
    return NULL;
}

// The first run tells whose code is to be looked at; the others are measured.
static struct error *learn(void *self)
{
    struct library *library = self;
    const struct cover_wanted wanted = {.modules = words_of(library, "modules"),
                                        .excluded = words_of(library, "exclude")};
    if (!wants_coverage(library) || library->cover.measuring)
        return NULL;
    TRY(cover_find(&library->cover, &library->plan.recording, &wanted, library->witness));
    return measure(library);
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

static struct error *record(struct library *library, const struct wire_view *view,
                            struct observation *observation)
{
    bool others = library->watching_stacks != NULL; // than the first
    struct recording *recording = others ? &library->stacks : &library->plan.recording;
    uint64_t lost = recording->lost;
    observation->activations = 0; // watching is not injecting
    TRY(recording_add(recording, view, library->witness));
    if (others)
        TRY(kinds_look(&library->kinds, view));
    if (library->automatic && !others)
        TRY(watch_stacks(library));
    else if (!library->automatic && recording->runs == 1)
        TRY(gaps_look(&library->gaps, &library->plan, view));
    return note_lost(recording, lost, observation);
}

static struct error *observe(void *self, const char *root, struct observation *ret_observation)
{
    struct library *library = self;
    struct wire_view view;
    TRY(armed_end(library->armed, &view));
    TRY(witness_begin(library->witness, root));
    struct observation observation = {.plan_hash = armed_plan_hash(library->armed)};
    struct error *error =
        witness_observe(library->witness, &view,
                        !library->is_reference             ? library->current
                        : library->watching_stacks != NULL ? library->watching_stacks
                                                           : library->watching,
                        &observation);
    if (error == NULL && library->is_reference)
        error = record(library, &view, &observation);
    else if (error == NULL && library->following != NULL)
        error = choice_follow(&library->followed, library->following, &view, library->witness);
    else if (error == NULL)
        error = note_unhit(library, &view, &observation);
    if (error == NULL && !library->is_reference)
        error = note_unknown_place(library, &observation);
    if (error != NULL)
        observation_deinit(&observation);
    else
        *ret_observation = observation;
    return error;
}

static struct error *
candidates(void *self, struct error *(*add)(void *data, struct candidate *candidate), void *data)
{
    struct library *library = self;
    if (!library->automatic)
        return library_candidates(&library->plan, add, data);
    const struct choice_options options = choice_options(library);
    return choice_candidates(&library->plan, &library->stacks, &library->kinds, &options, add,
                             data);
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
    const struct choice_options options = choice_options(library);
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
        TRY(put_plugin(definition, plugins->values.items[i], &path));
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

// The plan that the shot would have by itself. One rule only: two would have to fire in the same
// child.
static struct error *plan_alone(const struct fork_shot *shot, bool *ret_suits, uint64_t *ret_hash)
{
    _cleanup_(freep_scenario) struct scenario *scenario = NULL;
    _cleanup_(buffer_deinit) struct buffer plan = {0};
    *ret_suits = false;
    if (strstr(shot->spec, SPEC_THEN) != NULL || strstr(shot->spec, "plugin") != NULL)
        return NULL;
    TRY(scenario_new(&scenario));
    TRY(scenario_add_spec(scenario, shot->spec));
    TRY(scenario_compile(scenario, shot->seed, &plan));
    *ret_hash = wire_fingerprint(plan.data, plan.size);
    *ret_suits = scenario_rule_count(scenario) == 1 &&
                 forking_suits((const struct wire_plan *)(const void *)plan.data, 0);
    return NULL;
}

static struct error *add_branches(struct library *library, const struct fork_shot *shots,
                                  size_t count, bool *suits)
{
    _cleanup_(freep_scenario) struct scenario *scenario = NULL;
    TRY(scenario_new(&scenario));
    struct library_fork *branches = realloc(library->branches, (count + 1) * sizeof *branches);
    if (branches == NULL)
        return error_no_memory();
    library->branches = branches;
    library->branch_count = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t hash = 0;
        TRY(plan_alone(&shots[i], &suits[i], &hash));
        if (!suits[i])
            continue;
        TRY(scenario_add_spec(scenario, shots[i].spec));
        branches[library->branch_count++] = (struct library_fork){i, hash};
    }
    scenario_free(library->current);
    library->current = TAKE(scenario);
    return NULL;
}

static struct error *prepare_branches(void *self, struct shot *shot, const struct fork_shot *shots,
                                      size_t count, bool *suits)
{
    struct library *library = self;
    if (library->armed == NULL)
        TRY(armed_new(&library->armed));
    library->is_reference = false;
    library->following = NULL;
    TRY(add_branches(library, shots, count, suits));
    const struct armed_options options = {
        .scenario = library->current,
        .command = shot->command,
        .environment = shot->environment,
        .catch_crashes = true,
        .forks = true,
    };
    TRY(armed_prepare(library->armed, &options));
    library->visible[0] = armed_file(library->armed);
    library->visible[1] = NULL;
    shot->use_environment = armed_environment(library->armed);
    shot->visible = library->visible;
    return NULL;
}

static struct forking *forking_of(void *self)
{
    struct library *library = self;
    return armed_forking(library->armed);
}

static size_t which(void *self, uint32_t rule)
{
    struct library *library = self;
    return rule < library->branch_count ? library->branches[rule].shot : 0;
}

// As if the rule were the only one.
static struct error *observe_branch(void *self, const char *root, size_t index,
                                    struct observation *ret_observation)
{
    struct library *library = self;
    struct wire_view view;
    struct observation observation = {0};
    TRY(armed_end_branch(library->armed, &view));
    TRY(witness_begin(library->witness, root));
    for (size_t i = 0; i < library->branch_count; i++)
        if (library->branches[i].shot == index)
            observation.plan_hash = library->branches[i].plan_hash;
    struct error *error = witness_observe(library->witness, &view, library->current, &observation);
    if (error != NULL) {
        observation_deinit(&observation);
        return error;
    }
    for (size_t i = 0; i < observation.injections.count; i++)
        observation.injections.items[i].rule = 0;
    *ret_observation = observation;
    return NULL;
}

static const struct injector_forks library_forks = {
    .prepare = prepare_branches,
    .forking = forking_of,
    .which = which,
    .observe = observe_branch,
};

const struct injector injector_library = {
    .name = "library",
    .summary = "makes calls of library functions fail",
    .parameters = parameters,
    .check = check_value,
    .open = open_library,
    .close = close_library,
    .prepare = prepare,
    .moved = moved,
    .begin = begin,
    .observe = observe,
    .candidates = candidates,
    .remarks = remarks,
    .is_deep = is_deep,
    .deeper = deeper,
    .next = next,
    .reproduce = reproduce,
    .debug = debug,
    .learn = learn,
    .keep = keep,
    .recall = recall,
    .join = join,
    .forks = &library_forks,
};
