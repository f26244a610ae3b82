// SPDX-License-Identifier: GPL-3.0-or-later
// The injector `library`: makes calls of library functions fail. Reference runs record the
// workload's calls. A candidate is one of these calls and one fault; its spec is a rule as in
// --inject.
#include "base/cleanup.h"
#include "injector/spec.h"
#include "injectors/library/first-run.h"
#include "injectors/library/internal.h"
#include "isa/need.h"
#include "store/spec.h"
#include "trial/debug.h"
#include "trial/program.h"

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

static const struct injector_option command_line[] = {
    {.name = "inject",
     .letter = 'i',
     .parameter = "faults",
     .argument = "SPEC",
     .help = "a fault of library functions: FUNCTION=VALUE[/ERRNO]; may be given again"},
    {.name = "at",
     .parameter = "at",
     .argument = "WHAT",
     .help = "make it happen at every occurrence (the default), site or stack of calls"},
    {.name = "persistent",
     .parameter = "mode",
     .value = "persistent",
     .help = "calls go on failing from then on"},
    {.name = "plugin",
     .parameter = "plugins",
     .argument = "FILE",
     .file = true,
     .help = "a shared object with a trigger, for --inject"},
    {.name = "functions",
     .test = true,
     .parameter = "functions",
     .argument = "GLOB",
     .help =
         "fail these functions only, or %file, %network, %memory, %process; may be given again"},
    {.name = "modules",
     .test = true,
     .parameter = "modules",
     .argument = "GLOB",
     .help = "in calls by these programs and libraries only; may be given again"},
    {.name = "exclude",
     .test = true,
     .parameter = "exclude",
     .argument = "GLOB",
     .help = "leave out such functions, programs and libraries; may be given again"},
    {.name = "depth",
     .test = true,
     .parameter = "depth",
     .argument = "N",
     .help = "2: second failures in the code that handles the first, too (1)"},
    {.name = "paranoid",
     .test = true,
     .parameter = "errors",
     .value = "all",
     .help = "errors that are possible but hardly ever happen, too"},
    {.name = "coverage",
     .test = true,
     .parameter = "coverage",
     .value = "recovery",
     .help = "measure how much of the code that only runs after failures is executed"},
    {0},
};

static const struct injector_setting test_settings[] = {{"faults", "auto"}, {0}};

static void close_library(void *self)
{
    struct library *library = self;
    if (library == NULL)
        return;
    runtime_session_free(library->session);
    journal_reader_free(library->reader);
    scenario_free(library->current);
    scenario_free(library->watching);
    scenario_free(library->watching_stacks);
    recording_deinit(&library->stacks);
    descriptor_kinds_deinit(&library->kinds);
    choice_followed_deinit(&library->followed);
    scenario_free(library->plan.faults);
    recording_deinit(&library->plan.recording);
    free(library->plan.made);
    free(library->branches);
    untested_faults_deinit(&library->untested);
    analysis_deinit(&library->analysis);
    cover_deinit(&library->cover);
    free(library->environment);
    free(library);
}

static struct error *open_library(const struct injector_setup *setup, void **ret_self)
{
    struct library *library = calloc(1, sizeof *library);
    if (library == NULL)
        return error_no_memory();
    library->setup = *setup;
    library->lines = &library->cover.gcov;
    return injector_opened(library_fill(library), library, close_library, ret_self);
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

struct error *library_make_scenario(const struct library *library, const char *spec,
                                    struct scenario **ret_scenario)
{
    _cleanup_(freep_scenario) struct scenario *scenario = NULL;
    TRY(scenario_new(&scenario));
    TRY(library_add_plugins(&library->setup, scenario));
    TRY(add_rules(spec, scenario));
    *ret_scenario = TAKE(scenario);
    return NULL;
}

static bool observes(const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario_rule_count(scenario); i++)
        if (strcmp(scenario_rule(scenario, i).action, "observe") == 0)
            return true;
    return false;
}

static struct error *make_current(struct library *library, const char *spec)
{
    _cleanup_(freep_scenario) struct scenario *scenario = NULL;
    TRY(library_make_scenario(library, spec, &scenario));
    if (library->following != NULL)
        TRY(first_run_watch(scenario, library_is_paranoid(&library->setup)));
    library->observing = observes(scenario);
    if (library->observing)
        TRY(first_run_watch_system(scenario));
    scenario_free(library->current);
    library->current = TAKE(scenario);
    return NULL;
}

static struct error *make_switched(struct library *library, const struct shot *shot)
{
    _cleanup_(freep_scenario) struct scenario *scenario = NULL;
    TRY(scenario_new(&scenario));
    TRY(library_add_plugins(&library->setup, scenario));
    for (size_t i = 0; i < shot->switched_count; i++)
        TRY(scenario_add_spec(scenario, shot->switched[i]));
    scenario_free(library->current);
    library->current = TAKE(scenario);
    return NULL;
}

static bool wants_coverage(const struct library *library)
{
    return strcmp(parameters_value(library->setup.parameters, "coverage", "none"), "recovery") == 0;
}

static struct error *prepare(void *self, struct shot *shot)
{
    struct library *library = self;
    if (library->session == NULL)
        TRY(runtime_session_new(&library->session));
    library->is_reference = shot->spec == NULL && shot->switched == NULL;
    library->following = shot->follow ? shot->spec : NULL;
    library->observing = false;
    if (shot->switched != NULL)
        TRY(make_switched(library, shot));
    else if (shot->spec != NULL)
        TRY(make_current(library, shot->spec));
    if (wants_coverage(library) && library->is_reference && library->lines->directory == NULL)
        TRY(gcov_open(&library->cover.gcov));
    char *const *environment = shot->environment;
    TRY(gcov_environment(library->lines, shot->environment, library->is_reference,
                         &library->environment, &environment));
    const struct runtime_session_options options = {
        .scenario = library->is_reference ? library_watching(library) : library->current,
        .seed = shot->seed,
        .command = shot->command,
        .environment = environment,
        .catch_crashes = true,
        .record_calls = library->is_reference || library->following != NULL || library->observing,
        .record_inside = library->observing && library->following == NULL,
        .record_stacks = library->is_reference &&
                         (library->plan.at == CALL_AT_STACK || library_tells_stacks(library)),
        .coverage = library->covered != NULL ? &library->covered->file : NULL,
    };
    TRY(runtime_session_prepare(library->session, &options));
    library->visible[0] = runtime_session_file(library->session);
    size_t shown = 1;
    if (library->lines->directory != NULL)
        library->visible[shown++] = library->lines->shown;
    library->visible[shown] = runtime_session_coverage(library->session);
    shot->use_environment = runtime_session_environment(library->session);
    shot->switches = runtime_session_file(library->session);
    shot->first_switch = runtime_session_rules(library->session);
    shot->visible = library->visible;
    return NULL;
}

static struct error *moved(void *self, const char *from, const char *to)
{
    struct library *library = self;
    return runtime_session_map_path(library->session, from, to);
}

static struct error *begin(void *self, const char *root)
{
    struct library *library = self;
    return runtime_session_begin(library->session, root);
}

static struct error *measure(struct library *library)
{
    TRY(cover_measure(&library->cover));
    library->covered = &library->cover;
    return NULL;
}

// Runs once: the analysis may take longer than the workload.
struct error *library_analyse(struct library *library)
{
    if (library->analysed)
        return NULL;
    TRY(isa_need()); // without Zydis every site would silently be unknown
    library->analysis.modules.failing = wants_coverage(library);
    TRY(analysis_make(&library->analysis, &library->plan.recording));
    library->analysed = true;
    return NULL;
}

// Prepares the second run, which records stacks and kinds of descriptors, if there are any of
// interest. This costs a process more than all other recording.
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

// Analyses code after the first run, which shows whose code to analyse; later runs are measured.
// This is not done in observe(), because the analysis may take longer than the run. It would be in
// vain for a run that does not serve or that is repeated for second faults.
static struct error *learn(void *self)
{
    struct library *library = self;
    if (library->automatic && library->watching_stacks == NULL && library->plan.recording.runs == 1)
        TRY(watch_stacks(library));
    const struct cover_wanted wanted = {
        .modules = parameters_words(library->setup.parameters, "modules"),
        .excluded = parameters_words(library->setup.parameters, "exclude")};
    if (!wants_coverage(library) || library->cover.measuring)
        return NULL;
    TRY(library_analyse(library));
    TRY(cover_find(&library->cover, &library->analysis, &wanted, library->reader));
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

static struct error *save(void *self, struct store *store, int64_t campaign)
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

static struct error *load(void *self, struct store *store, int64_t campaign)
{
    struct library *library = self;
    if (!wants_coverage(library))
        return NULL;
    TRY(cover_load(&library->cover, store, campaign));
    return measure(library);
}

static struct error *candidates(void *self, candidate_add *add, void *data)
{
    struct library *library = self;
    if (!library->automatic)
        return call_candidates(&library->plan, add, data);
    const struct choice_options options = library_choice_options(library);
    TRY(library_analyse(library));
    TRY(choice_candidates(&library->plan, &library->stacks, &library->kinds, &library->analysis,
                          &options, add, data));
    // Free the analysis before job slots are forked.
    analysis_deinit(&library->analysis);
    library->analysed = false;
    return NULL;
}

static bool wants_second_faults(void *self)
{
    const struct library *library = self;
    return strcmp(parameters_value(library->setup.parameters, "depth", "1"), "2") == 0;
}

static struct error *second_fault_candidates(void *self, candidate_add *add, void *data)
{
    struct library *library = self;
    const struct choice_options options = library_choice_options(library);
    return choice_second_faults(&library->plan, &library->stacks, &library->followed, &options, add,
                                data);
}

static struct error *remarks(void *self, remark_add *add, void *data)
{
    struct library *library = self;
    return untested_faults_remark(&library->untested, &library->plan, &library->setup, add, data);
}

static struct error *next(void *self, const struct candidate *last, struct candidate *ret_next)
{
    const struct library *library = self;
    return call_candidates_next(&library->plan, last, ret_next);
}

static struct error *debug_command(void *self, const struct shot *shot, const char *input,
                                   bool batch, char ***ret_arguments, char ***ret_environment)
{
    struct library *library = self;
    const struct debug_options options = {.command = shot->command, .input = input, .batch = batch};
    return debug_words(library->session, &options, ret_arguments, ret_environment);
}

static const struct injector_second_faults second_faults = {
    .wanted = wants_second_faults,
    .place = spec_place,
    .candidates = second_fault_candidates,
};
static const struct injector_sweep sweep = {.next = next};
static const struct injector_debugger debugger = {.words = debug_command};
static const struct injector_learning learning = {
    .learn = learn,
    .takes_ports = takes_ports,
    .save = save,
    .load = load,
    .join = join,
};

// Go programs call the kernel themselves, also where they can be intercepted.
static char *unfit(const char *command)
{
    char *why = program_obstacle(command);
    if (why == NULL && program_is_go(command))
        why = strdup("it is a Go program, which calls the kernel without any library");
    if (why != NULL && !program_can_be_traced(command))
        free(TAKE(why)); // nobody serves it, and this injector says why
    return why;
}

const struct injector injector_library = {
    .name = "library",
    .summary = "makes calls of library functions fail",
    .parameters = parameters,
    .options = command_line,
    .test_settings = test_settings,
    .unfit = unfit,
    .check = library_check_value,
    .open = open_library,
    .close = close_library,
    .prepare = prepare,
    .moved = moved,
    .begin = begin,
    .last_injected = library_last_injected,
    .observe = library_observe,
    .candidates = candidates,
    .remarks = remarks,
    .describe = library_describe,
    .reproduce = library_reproduce,
    .reproduces_inside = true,
    .servers = true,
    .switches = &library_switches,
    .forks = &library_forks,
    .second_faults = &second_faults,
    .sweep = &sweep,
    .proof = &library_proof,
    .debugger = &debugger,
    .learning = &learning,
    .stored = &library_stored,
};
