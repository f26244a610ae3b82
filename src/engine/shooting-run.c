// SPDX-License-Identifier: GPL-3.0-or-later
// Runs one shot: which steps the sandbox gets, what happens before, during and after each, and what
// goes into the outcome.
#include "engine/shooting-internal.h"

#include "base/cleanup.h"
#include "base/timeouts.h"
#include "oracle/hang.h"
#include "oracle/shell-signal.h"
#include "oracle/terminal-wait.h"
#include "oracle/trial-directory.h"
#include "trial/debug.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void shot_run_deinit(struct shot_run *shot_run)
{
    for (int i = 0; i < STEPS; i++)
        sandbox_result_deinit(&shot_run->results[i]);
    ARRAY_DEINIT(&shot_run->visible);
    error_free(shot_run->error);
    free(shot_run->copy);
    server_life_free(shot_run->server);
    observed_workload_free(shot_run->observed);
    shot_files_deinit(shot_run);
    debug_list_free(&shot_run->gdb);
    debug_list_free(&shot_run->gdb_environment);
    if (shot_run->input >= 0)
        close(shot_run->input);
}

void shot_run_keep_error(struct shot_run *shot_run, struct error *error)
{
    if (shot_run->error == NULL)
        shot_run->error = error;
    else
        error_free(error);
}

struct collection {
    const struct shot_run *shot_run;
    size_t content_left;
};

static struct error *add_change(void *data, const struct sandbox_change *change)
{
    struct collection *collection = data;
    if (shot_files_made(collection->shot_run, change))
        return NULL;
    return outcome_add_change(collection->shot_run->run, change, &collection->content_left);
}

// Collects the changes of files, once. They are not needed of a workload that timed out.
static struct error *collect(struct shot_run *shot_run)
{
    const struct oracle *oracle = &shot_run->shooting->definition->oracle;
    struct collection collection = {.shot_run = shot_run, .content_left = ARTIFACT_TOTAL};
    if (shot_run->shooting->definition->service.long_lived) // how many loads came before is chance
        return NULL;
    if (shot_run->collected || shot_run->overdue ||
        (!oracle->compare_files && oracle->command.count == 0))
        return NULL;
    shot_run->collected = true;
    return sandbox_each_change(shot_run->shooting->sandbox,
                               (const char *const *)shot_run->shooting->ignored.items, add_change,
                               &collection);
}

static void after_preparation(void *data, struct sandbox *sandbox,
                              const struct sandbox_result *result)
{
    struct shot_run *shot_run = data;
    shot_run->blocked |= outcome_failed(result);
}

static bool before_pretest(void *data, struct sandbox *sandbox)
{
    return !((struct shot_run *)data)->blocked;
}

static bool before_build(void *data, struct sandbox *sandbox)
{
    struct shot_run *shot_run = data;
    if (shot_run->blocked || shot_run->error != NULL)
        return false;
    shot_run_keep_error(shot_run, shot_files_put(shot_run));
    return shot_run->error == NULL;
}

static bool before_workload(void *data, struct sandbox *sandbox)
{
    struct shot_run *shot_run = data;
    const struct shooting *shooting = shot_run->shooting;
    const struct injector *injector = shooting->injector;
    if (shot_run->blocked || shot_run->error != NULL)
        return false;
    shot_run_keep_error(shot_run, shot_files_put(shot_run));
    if (shot_run->error == NULL)
        shot_run_keep_error(shot_run, shot_files_note(shot_run));
    if (shot_run->error != NULL || shot_run->blocked)
        return false;
    clock_gettime(CLOCK_REALTIME_COARSE, &shot_run->start); // as file systems date files
    const char *directory = sandbox_directory(sandbox), *known = shooting->definition->directory;
    if (injector->moved != NULL && strcmp(directory, known) != 0)
        shot_run_keep_error(shot_run, injector->moved(shooting->self, directory, known));
    if (injector->begin != NULL && shot_run->error == NULL)
        shot_run_keep_error(shot_run, injector->begin(shooting->self, sandbox_root(sandbox)));
    if (shot_run->error != NULL)
        return false;
    shot_run->begun = true;
    return true;
}

static uint64_t workload_started(void *data, pid_t pid)
{
    struct shot_run *shot_run = data;
    return shot_run->shooting->injector->outside->started(shot_run->shooting->self, pid);
}

static uint64_t workload_tick(void *data, pid_t pid, uint64_t ns)
{
    struct shot_run *shot_run = data;
    return shot_run->shooting->injector->outside->tick(shot_run->shooting->self, pid, ns);
}

static void workload_lingering(void *data)
{
    const struct shot_run *shot_run = data;
    _cleanup_free_ char *names = hang_names();
    if (names != NULL)
        shot_run->shooting->lingering(shot_run->shooting->lingering_data, names);
}

#define LOOKS 3 // in a row: after one look it might still go on

static bool workload_hopeless(void *data, pid_t pid)
{
    struct shot_run *shot_run = data;
    shot_run->waits = waits_for_terminal(pid) ? shot_run->waits + 1 : 0;
    shot_run->run->wants_terminal = shot_run->waits >= LOOKS;
    return shot_run->run->wants_terminal;
}

struct injected_thread shot_run_last_injected(const struct shot_run *shot_run)
{
    const struct injector *injector = shot_run->shooting->injector;
    return injector->last_injected != NULL ? injector->last_injected(shot_run->shooting->self)
                                           : (struct injected_thread){0};
}

static void workload_overdue(void *data, pid_t pid)
{
    struct shot_run *shot_run = data;
    shot_run->run->remaining = hang_names();
    if (shot_run->run->wants_terminal)
        return; // what it waits for is known
    if (shot_run->shooting->definition->oracle.interface.count != 0)
        return; // its stack is that of the tool
    const struct injected_thread injected = shot_run_last_injected(shot_run);
    hang_look(pid, sandbox_root(shot_run->shooting->sandbox), &injected, shot_run->run);
}

static void after_workload(void *data, struct sandbox *sandbox, const struct sandbox_result *result)
{
    struct shot_run *shot_run = data;
    shot_run->overdue =
        result->end == SANDBOX_TIMEOUT ||
        (shot_run->server != NULL && server_life_state(shot_run->server)->late != 0);
    shot_run_keep_error(shot_run, collect(shot_run));
    if (shot_run->shooting->trial_directory != NULL && !shot_run->overdue &&
        shot_run->error == NULL)
        shot_run_keep_error(shot_run, trial_directory_write(
                                          shot_run->shooting->trial_directory, result,
                                          shot_run->run, shot_run->shot.spec, shot_run->shot.seed));
}

static bool before_examination(void *data, struct sandbox *sandbox)
{
    struct shot_run *shot_run = data;
    return shot_run->begun && !shot_run->overdue && shot_run->error == NULL;
}

static struct error *note_copy(struct shot_run *shot_run, const struct sandbox *sandbox)
{
    const char *directory = sandbox_directory(sandbox);
    if (strcmp(directory, shot_run->shooting->definition->directory) == 0)
        return NULL;
    shot_run->copy = strdup(directory);
    return shot_run->copy == NULL ? error_no_memory() : NULL;
}

static struct error *scan_logs(struct shot_run *shot_run, const struct sandbox *sandbox)
{
    _cleanup_(buffer_deinit) struct buffer reports = {0};
    TRY(sanitizer_report_scan_files(&shot_run->shooting->logs, sandbox_root(sandbox),
                                    &shot_run->start, &reports));
    if (reports.size != 0)
        shot_run->run->sanitizer = TAKE(reports.data);
    return NULL;
}

static struct error *look(void *data, struct sandbox *sandbox)
{
    struct shot_run *shot_run = data;
    struct shooting *shooting = shot_run->shooting;
    shooting->traffic = sandbox_traffic(sandbox);
    if (!shot_run->begun || shot_run->error != NULL)
        return NULL;
    if (shot_run->branches != NULL)
        shot_run->refusal = forking_refusal(shooting->injector->forks->forking(shooting->self));
    TRY(note_copy(shot_run, sandbox));
    TRY(collect(shot_run));
    TRY(shooting->injector->observe(shooting->self, sandbox_root(sandbox),
                                    &shot_run->run->observation));
    return scan_logs(shot_run, sandbox);
}

static void debug_step(const struct shot_run *shot_run, struct sandbox_step *step)
{
    step->command = shot_run->gdb;
    step->environment = shot_run->gdb_environment;
    step->passed = true;
    step->terminal = shot_run->terminal >= 0;
    step->input = shot_run->terminal;
    step->output = step->terminal ? shot_run->terminal : STDOUT_FILENO;
    step->errors = step->terminal ? shot_run->terminal : STDERR_FILENO;
}

static void add_step(struct shot_run *shot_run, enum step kind, uint64_t timeout_ns)
{
    struct shooting *shooting = shot_run->shooting;
    struct sandbox_step step = {.command = shooting->commands[kind].items,
                                .environment = kind == ORACLE ? shooting->oracle_environment.items
                                                              : shooting->environment.items,
                                .input = -1,
                                .timeout_ns = timeout_ns,
                                .stop = kind != TEARDOWN ? shooting->stop : NULL,
                                .stop_above = shooting->stop_above,
                                .data = shot_run};
    if (kind == BUILD)
        step.command = shot_run->shot.build;
    if (step.command == NULL)
        return;
    switch (kind) {
    case SETUP:
    case PRETEST:
        step.linger = kind == SETUP;
        step.before = before_pretest;
        step.after = after_preparation;
        break;
    case BUILD:
        step.before = before_build;
        step.after = after_preparation;
        break;
    case WORKLOAD:
        if (shot_run->shot.use_environment != NULL)
            step.environment = shot_run->shot.use_environment;
        if (shot_run->shot.use_command != NULL)
            step.command = shot_run->shot.use_command;
        step.fixed_addresses = shot_run->shot.fixed_addresses;
        step.branching = shot_run->branches != NULL ? &shot_run_branching : NULL;
        step.input = shot_run->input;
        step.before = before_workload;
        step.started = shooting->injector->outside != NULL ? workload_started : NULL;
        step.tick = shooting->injector->outside != NULL ? workload_tick : NULL;
        step.overdue = workload_overdue;
        step.lingering = shooting->lingering != NULL ? workload_lingering : NULL;
        step.hopeless = shooting->lingering != NULL ? workload_hopeless : NULL;
        if (shot_run->server != NULL) {
            server_life_fill(shot_run->server, &step);
            step.started = shot_run_server_started;
            step.tick = shot_run_server_tick;
        }
        if (shot_run->observed != NULL)
            observed_workload_fill(shot_run->observed, &step);
        if (shot_run->debugged)
            debug_step(shot_run, &step);
        break;
    case POSTTEST:
    case ORACLE:
        if (shot_run->debugged)
            return;
        step.before = before_examination;
        break;
    default:
        break;
    }
    if (kind == WORKLOAD)
        shot_run->workload = shot_run->count;
    shot_run->kinds[shot_run->count] = kind;
    shot_run->steps[shot_run->count++] = step;
}

// A workload without other steps after it needs no after_workload(): look() collects the changes.
static void add_steps(struct shot_run *shot_run, uint64_t timeout_ns)
{
    for (int kind = 0; kind < STEPS; kind++)
        add_step(shot_run, kind,
                 kind == WORKLOAD ? timeout_ns
                 : kind == BUILD  ? STEP_BUILD_WAIT_NS
                                  : STEP_OTHER_WAIT_NS);
    for (size_t i = 0; i + 1 < shot_run->count; i++)
        if (shot_run->kinds[i] == WORKLOAD)
            shot_run->steps[i].after = after_workload;
}

static struct error *collect_visible(struct shot_run *shot_run)
{
    const char *const *visible = shot_run->shot.visible;
    for (size_t i = 0; visible != NULL && visible[i] != NULL; i++)
        TRY(shooting_add_word(&shot_run->visible, (char *)visible[i]));
    for (unsigned i = 0; shot_run->shooting->trial_directory != NULL && i < TRIAL_DIRECTORY_FILES;
         i++)
        TRY(shooting_add_word(&shot_run->visible, (char *)trial_directory_file(
                                                      shot_run->shooting->trial_directory, i)));
    return shooting_add_word(&shot_run->visible, NULL);
}

static struct error *open_input(struct shot_run *shot_run)
{
    const char *path = shot_run->shooting->input;
    if (path == NULL)
        return NULL;
    shot_run->input = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    return shot_run->input < 0 ? error_from_errno(errno, "cannot open %s for the workload", path)
                               : NULL;
}

// The workload may run in a copy of its directory.
static const char *program_below(const char *path, const char *directory)
{
    size_t size = strlen(directory);
    bool below = path != NULL && strncmp(path, directory, size) == 0 && path[size] == '/';
    return below ? path + size + 1 : path;
}

// With branches, the command is not run from its start; a server has a driver already.
static struct error *prepare_observation(struct shot_run *shot_run)
{
    const struct shooting *shooting = shot_run->shooting;
    const struct shot *shot = &shot_run->shot;
    const struct oracle *oracle = &shooting->definition->oracle;
    if ((!oracle_has_behaviour(oracle) && oracle->interface.count == 0) || shot_run->debugged ||
        shot_run->branches != NULL || shot_run->server != NULL)
        return NULL;
    if (shot->use_command != NULL && oracle->interface.count != 0)
        return error_new("interfaces cannot be compared with the injector '%s', which traces the "
                         "command itself; leave out --interface (oracle.interface)",
                         shooting->injector->name);
    if (shot->use_command != NULL)
        return error_new("behaviour cannot be compared with the injector '%s', which traces the "
                         "command itself; leave out --behaviour (oracle.behaviour)",
                         shooting->injector->name);
    const struct observed_plan plan = {
        .command = shot->command,
        .environment = shot->use_environment != NULL ? shot->use_environment : shot->environment,
        .input = shooting->input,
        .program = program_below(oracle->invocations, shooting->definition->directory),
        .faulty = shot->spec != NULL,
        .libraries = &oracle->interface};
    return observed_workload_new(&plan, &shot_run->observed);
}

// Moves the steps' results into the run.
static void hand_over(struct shot_run *shot_run)
{
    struct outcome_run *run = shot_run->run;
    struct sandbox_result *const places[STEPS] = {
        [SETUP] = &run->setup,       [PRETEST] = &run->pretest,   [BUILD] = &run->build,
        [WORKLOAD] = &run->workload, [POSTTEST] = &run->posttest, [ORACLE] = &run->oracle,
        [TEARDOWN] = &run->teardown};
    for (size_t i = 0; i < shot_run->count; i++) {
        *places[shot_run->kinds[i]] = shot_run->results[i];
        shot_run->results[i] = (struct sandbox_result){0};
    }
    run->setup_failed = outcome_failed(&run->setup);
}

// Completes the run: adds sanitizer reports and streams, and undoes the move of the directory.
static struct error *finish(const struct shot_run *shot_run)
{
    struct outcome_run *run = shot_run->run;
    _cleanup_(buffer_deinit) struct buffer logged = {0};
    if (run->sanitizer != NULL)
        TRY(buffer_append(&logged, run->sanitizer, strlen(run->sanitizer)));
    TRY(outcome_set_sanitizer(run, &logged));
    TRY(outcome_add_streams(run));
    if (shot_run->copy == NULL)
        return NULL;
    return outcome_move(run, shot_run->copy, shot_run->shooting->definition->directory);
}

// Adds the crash of a process without the runtime, which leaves no record. The sandbox may have
// seen its death, if its parent was gone; or its parent reported it on stderr.
static struct error *add_reported_crash(struct outcome_run *run)
{
    const struct sandbox_result *workload = &run->workload;
    int told = shell_signal_find(workload->err.kept.data, workload->err.kept.size);
    if (run->observation.crash != NULL || (told == 0 && workload->orphan == 0))
        return NULL;
    struct buffer text = {0};
    if (workload->orphan != 0)
        TRY(buffer_printf(&text, "%s of a process in the background",
                          outcome_signal_name(workload->orphan)));
    else
        TRY(buffer_printf(&text, "%s as stderr reports", outcome_signal_name(told)));
    run->observation.crash_signal = workload->orphan != 0 ? workload->orphan : told;
    run->observation.crash = text.data;
    return NULL;
}

struct error *shot_run_finish_branch(struct shot_run *shot_run, struct sandbox *sandbox)
{
    TRY(note_copy(shot_run, sandbox));
    TRY(collect(shot_run));
    TRY(scan_logs(shot_run, sandbox));
    TRY(add_reported_crash(shot_run->run));
    return finish(shot_run);
}

struct error *shot_run_execute(struct shot_run *shot_run, uint64_t timeout_ns)
{
    struct shooting *shooting = shot_run->shooting;
    TRY(open_input(shot_run));
    TRY(shot_run->branches != NULL ? shot_run_prepare_branches(shot_run)
                                   : shooting->injector->prepare(shooting->self, &shot_run->shot));
    if (shot_run->debugged)
        TRY(shooting->injector->debugger->words(
            shooting->self, &shot_run->shot,
            shooting->input != NULL ? shooting->input : "/dev/null", shot_run->terminal < 0,
            &shot_run->gdb, &shot_run->gdb_environment));
    TRY(collect_visible(shot_run));
    TRY(shot_run_prepare_server(shot_run, timeout_ns));
    TRY(prepare_observation(shot_run));
    add_steps(shot_run, timeout_ns);
    shooting->busy = true;
    struct error *error = sandbox_run(shooting->sandbox, shot_run->steps, shot_run->count,
                                      (const char *const *)shot_run->visible.items, look, shot_run,
                                      shot_run->results);
    shooting->busy = false;
    if (error != NULL)
        return error;
    if (shot_run->error != NULL)
        return TAKE(shot_run->error);
    hand_over(shot_run);
    if (shot_run->observed != NULL)
        TRY(observed_workload_take(shot_run->observed, shot_run->run));
    if (shot_run->server != NULL)
        TRY(server_life_conclude(shot_run->server, shot_run->run));
    if (shot_run->server != NULL && shooting->definition->service.long_lived)
        TRY(shot_run_narrow(shot_run));
    TRY(add_reported_crash(shot_run->run));
    return finish(shot_run);
}
