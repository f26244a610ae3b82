// SPDX-License-Identifier: GPL-3.0-or-later
// One shot's life: which steps the sandbox is given, what is done before, during and after each,
// and what is handed over in the end.
#include "engine/shooting-internal.h"

#include "base/cleanup.h"
#include "base/timeouts.h"
#include "oracle/evidence.h"
#include "oracle/hang.h"
#include "oracle/shell-signal.h"
#include "oracle/terminal-wait.h"
#include "trial/debug.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void life_deinit(struct life *life)
{
    for (int i = 0; i < STEPS; i++)
        sandbox_result_deinit(&life->results[i]);
    ARRAY_DEINIT(&life->visible);
    error_free(life->error);
    free(life->copy);
    server_life_free(life->server);
    debug_list_free(&life->gdb);
    debug_list_free(&life->gdb_environment);
    if (life->input >= 0)
        close(life->input);
}

void life_keep_error(struct life *life, struct error *error)
{
    if (life->error == NULL)
        life->error = error;
    else
        error_free(error);
}

struct collection {
    struct outcome_run *run;
    size_t content_left;
};

static struct error *add_change(void *data, const struct sandbox_change *change)
{
    struct collection *collection = data;
    return outcome_add_change(collection->run, change, &collection->content_left);
}

// What the workload left in the file system. Of one that was killed for its time nobody asks.
static struct error *collect(struct life *life)
{
    const struct oracle *oracle = &life->shooting->definition->oracle;
    struct collection collection = {.run = life->run, .content_left = ARTIFACT_TOTAL};
    if (life->shooting->definition->service.long_lived) // after how many loads is chance
        return NULL;
    if (life->collected || life->overdue || (!oracle->compare_files && oracle->command.count == 0))
        return NULL;
    life->collected = true;
    return sandbox_each_change(life->shooting->sandbox,
                               (const char *const *)life->shooting->ignored.items, add_change,
                               &collection);
}

static void after_preparation(void *data, struct sandbox *sandbox,
                              const struct sandbox_result *result)
{
    struct life *life = data;
    life->blocked |= outcome_failed(result);
}

static bool before_pretest(void *data, struct sandbox *sandbox)
{
    return !((struct life *)data)->blocked;
}

static bool before_workload(void *data, struct sandbox *sandbox)
{
    struct life *life = data;
    const struct shooting *shooting = life->shooting;
    const struct injector *injector = shooting->injector;
    if (life->blocked || life->error != NULL)
        return false;
    clock_gettime(CLOCK_REALTIME_COARSE, &life->start); // as file systems date files
    const char *directory = sandbox_directory(sandbox), *known = shooting->definition->directory;
    if (injector->moved != NULL && strcmp(directory, known) != 0)
        life_keep_error(life, injector->moved(shooting->self, directory, known));
    if (injector->begin != NULL && life->error == NULL)
        life_keep_error(life, injector->begin(shooting->self, sandbox_root(sandbox)));
    if (life->error != NULL)
        return false;
    life->begun = true;
    return true;
}

static uint64_t workload_started(void *data, pid_t pid)
{
    struct life *life = data;
    return life->shooting->injector->outside->started(life->shooting->self, pid);
}

static uint64_t workload_tick(void *data, pid_t pid, uint64_t ns)
{
    struct life *life = data;
    return life->shooting->injector->outside->tick(life->shooting->self, pid, ns);
}

static void workload_lingering(void *data)
{
    const struct life *life = data;
    _cleanup_free_ char *names = hang_names();
    if (names != NULL)
        life->shooting->lingering(life->shooting->lingering_data, names);
}

#define LOOKS 3 // in a row, as whoever has waited might be about to go on

static bool workload_hopeless(void *data, pid_t pid)
{
    struct life *life = data;
    life->waits = asleep_for_terminal(pid) ? life->waits + 1 : 0;
    life->run->wants_terminal = life->waits >= LOOKS;
    return life->run->wants_terminal;
}

struct injected_thread life_last_injected(const struct life *life)
{
    const struct injector *injector = life->shooting->injector;
    return injector->last_injected != NULL ? injector->last_injected(life->shooting->self)
                                           : (struct injected_thread){0};
}

static void workload_overdue(void *data, pid_t pid)
{
    struct life *life = data;
    life->run->remaining = hang_names();
    if (life->run->wants_terminal)
        return; // it is known what it waits for
    const struct injected_thread injected = life_last_injected(life);
    hang_look(pid, sandbox_root(life->shooting->sandbox), &injected, &life->run->hang_stack,
              &life->run->hang_key);
}

static void after_workload(void *data, struct sandbox *sandbox, const struct sandbox_result *result)
{
    struct life *life = data;
    life->overdue = result->end == SANDBOX_TIMEOUT ||
                    (life->server != NULL && server_life_state(life->server)->late != 0);
    life_keep_error(life, collect(life));
    if (life->shooting->evidence != NULL && !life->overdue && life->error == NULL)
        life_keep_error(life, evidence_write(life->shooting->evidence, result, life->run,
                                             life->shot.spec, life->shot.seed));
}

static bool before_examination(void *data, struct sandbox *sandbox)
{
    struct life *life = data;
    return life->begun && !life->overdue && life->error == NULL;
}

static struct error *note_copy(struct life *life, const struct sandbox *sandbox)
{
    const char *directory = sandbox_directory(sandbox);
    if (strcmp(directory, life->shooting->definition->directory) == 0)
        return NULL;
    life->copy = strdup(directory);
    return life->copy == NULL ? error_no_memory() : NULL;
}

static struct error *scan_logs(struct life *life, const struct sandbox *sandbox)
{
    _cleanup_(buffer_deinit) struct buffer complaints = {0};
    TRY(complaint_scan_files(&life->shooting->logs, sandbox_root(sandbox), &life->start,
                             &complaints));
    if (complaints.size != 0)
        life->run->sanitizer = TAKE(complaints.data);
    return NULL;
}

static struct error *look(void *data, struct sandbox *sandbox)
{
    struct life *life = data;
    struct shooting *shooting = life->shooting;
    shooting->traffic = sandbox_traffic(sandbox);
    if (!life->begun || life->error != NULL)
        return NULL;
    if (life->branches != NULL)
        life->refusal = forking_refusal(shooting->injector->forks->forking(shooting->self));
    TRY(note_copy(life, sandbox));
    TRY(collect(life));
    TRY(shooting->injector->observe(shooting->self, sandbox_root(sandbox),
                                    &life->run->observation));
    return scan_logs(life, sandbox);
}

static void debug_step(const struct life *life, struct sandbox_step *step)
{
    step->command = life->gdb;
    step->environment = life->gdb_environment;
    step->passed = true;
    step->terminal = life->terminal >= 0;
    step->input = life->terminal;
    step->output = step->terminal ? life->terminal : STDOUT_FILENO;
    step->errors = step->terminal ? life->terminal : STDERR_FILENO;
}

static void add_step(struct life *life, enum step kind, uint64_t timeout_ns)
{
    struct shooting *shooting = life->shooting;
    struct sandbox_step step = {.command = shooting->commands[kind].items,
                                .environment = kind == ORACLE ? shooting->oracle_environment.items
                                                              : shooting->environment.items,
                                .input = -1,
                                .timeout_ns = timeout_ns,
                                .stop = kind != TEARDOWN ? shooting->stop : NULL,
                                .stop_above = shooting->stop_above,
                                .data = life};
    if (step.command == NULL)
        return;
    switch (kind) {
    case SETUP:
    case PRETEST:
        step.linger = kind == SETUP;
        step.before = before_pretest;
        step.after = after_preparation;
        break;
    case WORKLOAD:
        if (life->shot.use_environment != NULL)
            step.environment = life->shot.use_environment;
        step.branching = life->branches != NULL ? &life_branching : NULL;
        step.input = life->input;
        step.before = before_workload;
        step.started = shooting->injector->outside != NULL ? workload_started : NULL;
        step.tick = shooting->injector->outside != NULL ? workload_tick : NULL;
        step.overdue = workload_overdue;
        step.lingering = shooting->lingering != NULL ? workload_lingering : NULL;
        step.hopeless = shooting->lingering != NULL ? workload_hopeless : NULL;
        if (life->server != NULL) {
            server_life_fill(life->server, &step);
            step.started = life_server_started;
            step.tick = life_server_tick;
        }
        if (life->debugged)
            debug_step(life, &step);
        break;
    case POSTTEST:
    case ORACLE:
        if (life->debugged)
            return;
        step.before = before_examination;
        break;
    default:
        break;
    }
    if (kind == WORKLOAD)
        life->workload = life->count;
    life->kinds[life->count] = kind;
    life->steps[life->count++] = step;
}

// A workload without other steps around it is looked at in the end alone.
static void add_steps(struct life *life, uint64_t timeout_ns)
{
    for (int kind = 0; kind < STEPS; kind++)
        add_step(life, kind, kind == WORKLOAD ? timeout_ns : STEP_OTHER_WAIT_NS);
    for (size_t i = 0; i + 1 < life->count; i++)
        if (life->kinds[i] == WORKLOAD)
            life->steps[i].after = after_workload;
}

static struct error *collect_visible(struct life *life)
{
    const char *const *visible = life->shot.visible;
    for (size_t i = 0; visible != NULL && visible[i] != NULL; i++)
        TRY(shooting_add_word(&life->visible, (char *)visible[i]));
    for (unsigned i = 0; life->shooting->evidence != NULL && i < EVIDENCE_FILES; i++)
        TRY(shooting_add_word(&life->visible, (char *)evidence_file(life->shooting->evidence, i)));
    return shooting_add_word(&life->visible, NULL);
}

static struct error *open_input(struct life *life)
{
    const char *path = life->shooting->input;
    if (path == NULL)
        return NULL;
    life->input = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    return life->input < 0 ? error_from_errno(errno, "cannot open %s for the workload", path)
                           : NULL;
}

// Moves results to where they belong.
static void hand_over(struct life *life)
{
    struct outcome_run *run = life->run;
    struct sandbox_result *const places[STEPS] = {
        [SETUP] = &run->setup,       [PRETEST] = &run->pretest, [WORKLOAD] = &run->workload,
        [POSTTEST] = &run->posttest, [ORACLE] = &run->oracle,   [TEARDOWN] = &run->teardown};
    for (size_t i = 0; i < life->count; i++) {
        *places[life->kinds[i]] = life->results[i];
        life->results[i] = (struct sandbox_result){0};
    }
    run->setup_failed = outcome_failed(&run->setup);
}

// Complaints in log files come before those on stderr; streams come first among the artifacts.
static struct error *finish(const struct life *life)
{
    struct outcome_run *run = life->run;
    _cleanup_(buffer_deinit) struct buffer logged = {0};
    if (run->sanitizer != NULL)
        TRY(buffer_append(&logged, run->sanitizer, strlen(run->sanitizer)));
    TRY(outcome_set_sanitizer(run, &logged));
    TRY(outcome_add_streams(run));
    if (life->copy == NULL)
        return NULL;
    return outcome_move(run, life->copy, life->shooting->definition->directory);
}

// A process without the runtime leaves no record of its death; the sandbox may have seen it, if its
// parent was gone, or the parent may have told.
static struct error *add_obituary(struct outcome_run *run)
{
    const struct sandbox_result *workload = &run->workload;
    int told = obituary_find(workload->err.kept.data, workload->err.kept.size);
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

struct error *life_finish_branch(struct life *life, struct sandbox *sandbox)
{
    TRY(note_copy(life, sandbox));
    TRY(collect(life));
    TRY(scan_logs(life, sandbox));
    TRY(add_obituary(life->run));
    return finish(life);
}

struct error *life_lead(struct life *life, uint64_t timeout_ns)
{
    struct shooting *shooting = life->shooting;
    TRY(open_input(life));
    TRY(life->branches != NULL ? life_prepare_branches(life)
                               : shooting->injector->prepare(shooting->self, &life->shot));
    if (life->debugged)
        TRY(shooting->injector->debugger->words(
            shooting->self, &life->shot, shooting->input != NULL ? shooting->input : "/dev/null",
            life->terminal < 0, &life->gdb, &life->gdb_environment));
    TRY(collect_visible(life));
    TRY(life_prepare_server(life, timeout_ns));
    add_steps(life, timeout_ns);
    TRY(sandbox_live(shooting->sandbox, life->steps, life->count,
                     (const char *const *)life->visible.items, look, life, life->results));
    if (life->error != NULL)
        return TAKE(life->error);
    hand_over(life);
    if (life->server != NULL)
        TRY(server_life_conclude(life->server, life->run));
    if (life->server != NULL && shooting->definition->service.long_lived)
        TRY(life_narrow(life));
    TRY(add_obituary(life->run));
    return finish(life);
}
