// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a trial: the order of the steps, what to undo when one fails, and warnings afterwards.
#include "trial/trial.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/secrets.h"
#include "elf/object.h"
#include "scenario/resolve.h"
#include "trial/inherited-sockets.h"
#include "trial/program.h"
#include "trial/resolver.h"
#include "trial/result-types.h"
#include "trial/sandboxed.h"
#include "trial/stacks.h"
#include "trial/system-call-rules.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct error *trial_warn(struct trial *trial, const char *format, ...)
{
    va_list arguments;
    char *text;
    va_start(arguments, format);
    int size = vasprintf(&text, format, arguments);
    va_end(arguments);
    char **warning = size >= 0 ? ARRAY_ADD(&trial->warnings) : NULL;
    if (warning == NULL) {
        if (size >= 0)
            free(text);
        return error_no_memory();
    }
    *warning = text;
    return NULL;
}

static struct error *settled(void *data)
{
    return region_reserve(data);
}

// Warns of names in conditions that no module has. Most likely they are misspelt.
static struct error *warn_missing(const struct trial_options *options,
                                  const struct resolver *resolver, struct trial *trial)
{
    const struct scenario *scenario = options->scenario;
    const size_t enough = 20;
    for (size_t i = 0; i < scenario_query_count(scenario) && trial->warnings.count < enough; i++)
        if (!resolver_found_query(resolver, i))
            TRY(trial_warn(trial, "caller() or stack(): no module of any process has '%s'",
                           scenario_query(scenario, i)->text));
    _cleanup_(elf_program_deinit) struct elf_program program = {0};
    error_free(elf_find_program(options->command[0], &program));
    for (size_t i = 0; i < scenario_variable_count(scenario) && trial->warnings.count < enough;
         i++) {
        const char *why = NULL;
        if (resolver_found_variable(resolver, i))
            continue;
        if (program.path != NULL)
            error_free(resolve_explain_variable(scenario, i, program.path, &why));
        TRY(trial_warn(trial, "var(%s) cannot be read in any module%s%s",
                       scenario_variable(scenario, i)->text, why != NULL ? ": " : "",
                       why != NULL ? why : ""));
    }
    return NULL;
}

// Starts the command and waits for its end. Whenever this returns, the command does not run.
static struct error *supervise(const struct trial_options *options,
                               const struct supervise_signals *signals, struct trial *trial)
{
    TRY(runtime_session_begin(trial->session, ""));
    inherited_sockets_note(runtime_session_region(trial->session)->map);
    uint64_t start_ns = clock_ns();
    pid_t pid;
    struct region *region = runtime_session_region(trial->session);
    struct wire_programs *programs = (void *)((char *)region->map + region->layout.programs);
    TRY(supervise_start(trial->started.items, trial->environment, signals, programs->command_limits,
                        &pid));
    region_tidy(runtime_session_region(trial->session)); // while the loader is busy
    const struct supervise_options watch = {.start_ns = start_ns,
                                            .timeout_ns = options->timeout_ns,
                                            .settled = settled,
                                            .data = runtime_session_region(trial->session)};
    return supervise_wait(pid, &watch, &trial->outcome);
}

static struct error *finish(const struct trial_options *options, struct trial *trial)
{
    region_conclude(runtime_session_region(trial->session), trial->outcome.kind,
                    trial->outcome.status, trial->outcome.ns);
    TRY(runtime_session_end(trial->session, &trial->view));
    if (trial->view.region->processes == 0 && !scenario_names_functions(options->scenario) &&
        trial->outcome.kind == WIRE_OUTCOME_EXIT && !trial->bare)
        return error_new("cannot run %s", options->command[0]);
    // The loader itself crashed, perhaps because of damage in the file that nobody has looked for.
    if (trial->view.region->processes == 0 && trial->outcome.kind == WIRE_OUTCOME_SIGNAL &&
        scenario_names_functions(options->scenario))
        TRY(program_check(options->command[0]));
    const struct resolver *resolver = runtime_session_resolver(trial->session);
    if (resolver != NULL)
        TRY(warn_missing(options, resolver, trial));
    if (trial->view.plan->uses & WIRE_USE_REMOTE && options->coordinator == NULL)
        TRY(trial_warn(trial, "a rule asks remote(), but there is no --coordinator; the calls "
                              "went through"));
    if (trial->outcome.left_over != 0)
        TRY(trial_warn(trial, "%zu or more processes of the command could not be killed",
                       trial->outcome.left_over));
    struct error *error =
        options->stacks_path != NULL ? stacks_save(options->stacks_path, &trial->view) : NULL;
    if (error == NULL)
        return NULL;
    struct error *warned = trial_warn(trial, "%s", error_message(error));
    error_free(error);
    return warned;
}

static struct error *run_plain(const struct trial_options *options, struct trial *trial)
{
    struct supervise_signals signals;
    TRY(supervise_signals_take(&signals));
    struct error *error = supervise(options, &signals, trial);
    supervise_signals_restore(&signals);
    return error;
}

static void free_sandbox(struct sandbox **sandbox)
{
    sandbox_free(*sandbox);
}

// The sandbox is made first: it remembers signals and descriptors for the command.
static struct error *make_sandbox(const struct trial_options *options, struct sandbox **ret_sandbox)
{
    const struct sandbox_options wanted = {
        .kind = options->sandbox, .attached = true, .limits.core = true};
    return options->sandbox == SANDBOX_NONE ? NULL : sandbox_new(&wanted, ret_sandbox);
}

// The command as the journal keeps it: a shell may have put the value of a variable into it.
static struct error *mask_command(char *const *command, struct words *ret_words)
{
    TRY(secrets_learn(environ, NULL, NULL));
    for (; *command != NULL; command++) {
        TRY(words_add(ret_words, *command, strlen(*command)));
        TRY(secrets_mask(&ret_words->items[ret_words->count - 1]));
    }
    return NULL;
}

// Programs that the runtime cannot be loaded into still make system calls.
static struct error *choose_reach(const struct trial_options *options, struct trial *trial,
                                  struct region_program *program)
{
    const char *command = options->command[0], *other;
    struct error *error = program_check_and_identify(command, program);
    _cleanup_free_ char *why = error != NULL ? program_obstacle(command) : NULL;
    if (why == NULL || !program_can_be_traced(command))
        return error;
    if (options->state_file != NULL && scenario_rule_count(options->scenario) == 0) {
        error_free(error);
        trial->bare = true;
        return NULL;
    }
    bool asked_for = !scenario_names_functions(options->scenario);
    struct error *failed =
        scenario_use_system_calls(options->scenario, system_call_is_named, &other);
    if (failed != NULL || other == NULL) {
        error_free(error);
        return failed != NULL || asked_for
                   ? failed
                   : trial_warn(trial, "rules apply to the system calls of %s: %s", command, why);
    }
    return error_prefix(error, "the rule '%s' is not about a system call", other);
}

// Where no rule needs the runtime it stays out: its own calls would count.
static struct error *compose_start(const struct trial_options *options, struct trial *trial)
{
    bool calls = scenario_names_system_calls(options->scenario);
    trial->environment = trial->bare || (calls && !scenario_names_functions(options->scenario))
                             ? environ
                             : runtime_session_environment(trial->session);
    if (calls && options->state_file != NULL)
        return error_new("a fault in a register or in memory and a rule about system calls need "
                         "the same tracer; give one of them");
    if (calls)
        TRY(system_call_rules_check(region_plan(runtime_session_region(trial->session))));
    if (calls || options->state_file != NULL) {
        _cleanup_free_ char *tracer = NULL;
        const char *file = calls ? runtime_session_file(trial->session) : options->state_file;
        TRY(program_tracer(&tracer));
        TRY(words_add(&trial->started, tracer, strlen(tracer)));
        TRY(words_add(&trial->started, file, strlen(file)));
    }
    for (char *const *word = options->command; *word != NULL; word++)
        TRY(words_add(&trial->started, *word, strlen(*word)));
    return NULL;
}

static struct error *run(const struct trial_options *options, struct trial *trial)
{
    _cleanup_(free_sandbox) struct sandbox *sandbox = NULL;
    _cleanup_(region_program_deinit) struct region_program program = {0};
    _cleanup_(words_deinit) struct words command = {0};
    TRY(mask_command(options->command, &command));
    TRY(choose_reach(options, trial, &program));
    TRY(result_types_check(options->scenario, options->command[0]));
    TRY(make_sandbox(options, &sandbox));
    const struct runtime_session_options session = {.scenario = options->scenario,
                                                    .program = &program,
                                                    .seed = options->seed,
                                                    .command = command.items,
                                                    .environment = environ,
                                                    .journal_records = options->journal_records,
                                                    .catch_crashes = true,
                                                    .journal_path = options->journal_path,
                                                    .coordinator = options->coordinator,
                                                    .node = options->node,
                                                    .hurried = sandbox == NULL};
    TRY(runtime_session_new(&trial->session));
    TRY(runtime_session_prepare(trial->session, &session));
    TRY(compose_start(options, trial));
    if (options->stacks_path != NULL)
        TRY(stacks_load(options->stacks_path, runtime_session_region(trial->session)));
    struct error *error =
        sandbox != NULL ? sandboxed_run(options, sandbox, trial) : run_plain(options, trial);
    region_each_text(runtime_session_region(trial->session), secrets_blank);
    region_remove(runtime_session_region(trial->session));
    return error != NULL ? error : finish(options, trial);
}

struct error *trial_run(const struct trial_options *options, struct trial *ret_trial)
{
    struct trial trial = {.sandbox = SANDBOX_NONE};
    struct error *error = run(options, &trial);
    if (error != NULL)
        trial_deinit(&trial);
    else
        *ret_trial = trial;
    return error;
}

void trial_deinit(struct trial *trial)
{
    runtime_session_free(trial->session);
    words_deinit(&trial->started);
    for (size_t i = 0; i < trial->warnings.count; i++)
        free(trial->warnings.items[i]);
    ARRAY_DEINIT(&trial->warnings);
    for (size_t i = 0; i < trial->changes.count; i++)
        free((char *)trial->changes.items[i].path);
    ARRAY_DEINIT(&trial->changes);
}
