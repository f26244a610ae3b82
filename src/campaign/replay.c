// SPDX-License-Identifier: GPL-3.0-or-later
// Runs one trial of a stored campaign again, with the same definition, spec and seed, and judges it
// against the same reference. Needs nothing but the store, and variables that the store does not
// have.
#include "campaign/campaign.h"

#include "base/cleanup.h"
#include "base/secrets.h"
#include "campaign/finding.h"
#include "campaign/subject.h"
#include "campaign/terminal-relay.h"
#include "engine/shooting.h"
#include "injector/injector.h"
#include "oracle/judge.h"
#include "oracle/reference.h"
#include "store/cause.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct replay {
    struct store_trial trial;
    struct store_candidate candidate;
    struct store_campaign campaign;
    struct definition definition;
    const struct injector *injector;
    char *cause; // of its finding, or NULL
};

static void replay_deinit(struct replay *replay)
{
    store_trial_deinit(&replay->trial);
    store_candidate_deinit(&replay->candidate);
    store_campaign_deinit(&replay->campaign);
    definition_deinit(&replay->definition);
    free(replay->cause);
}

static struct error *note_cause(void *data, const struct store_finding *row)
{
    struct replay *replay = data;
    if (row->id != replay->trial.finding || replay->cause != NULL)
        return NULL;
    replay->cause = strdup(row->cause);
    return replay->cause == NULL ? error_no_memory() : NULL;
}

static struct error *replay_load(struct replay *replay, struct store *store, int64_t trial)
{
    TRY(store_find_trial(store, trial, &replay->trial, &replay->candidate));
    TRY(store_find_campaign(store, replay->trial.campaign, &replay->campaign));
    TRY(subject_definition(replay->campaign.definition, store_path(store), &replay->definition));
    TRY(secrets_restore((char **)&replay->trial.spec));
    if (replay->trial.finding != 0)
        TRY(store_each_finding(store, replay->trial.campaign, note_cause, replay));
    replay->injector = injector_find(replay->definition.injector);
    if (replay->injector == NULL)
        return error_new("there is no injector '%s' in this version", replay->definition.injector);
    return NULL;
}

static struct error *add_warning(struct replay_end *end, const char *sentence)
{
    struct buffer text = {0};
    TRY(buffer_printf(&text, "%s%s%s", end->warning != NULL ? end->warning : "",
                      end->warning != NULL ? "; " : "", sentence));
    free(end->warning);
    end->warning = text.data;
    return NULL;
}

// A module that a spec names by an address in it: MODULE+0xOFFSET. `*at` is where to look, and
// after it then. False: there is none.
static bool next_module(const char **at, char *ret_path, size_t size)
{
    for (const char *plus; (plus = strstr(*at, "+0x")) != NULL;) {
        const char *start = plus;
        while (start > *at && strchr("(, ", start[-1]) == NULL)
            start--;
        *at = plus + 1;
        if (*start != '/' || (size_t)(plus - start) >= size)
            continue;
        memcpy(ret_path, start, (size_t)(plus - start));
        ret_path[plus - start] = '\0';
        return true;
    }
    return false;
}

// The store has no build IDs of modules. One that came after the campaign began is another one, or
// may be. Installers set the time of change of what they install, but not that of the inode.
static struct error *compare_modules(const struct replay *replay, const char *program,
                                     struct replay_end *end)
{
    char path[PATH_MAX];
    for (const char *at = replay->trial.spec; next_module(&at, path, sizeof path);) {
        struct stat facts = {0};
        end->by_address = true;
        if (program != NULL && strcmp(path, program) == 0)
            continue;
        bool there = stat(path, &facts) == 0;
        time_t changed = facts.st_mtim.tv_sec > facts.st_ctim.tv_sec ? facts.st_mtim.tv_sec
                                                                     : facts.st_ctim.tv_sec;
        if (there && changed <= replay->campaign.created_s)
            continue;
        _cleanup_(buffer_deinit) struct buffer text = {0};
        TRY(buffer_printf(&text,
                          there ? "%s was written anew since the campaign began, and may be "
                                  "another build"
                                : "%s can no longer be found",
                          path));
        TRY(add_warning(end, text.data));
        if (end->build == BUILD_SAME)
            end->build = BUILD_UNKNOWN;
    }
    return NULL;
}

// The path in what subject_program() returns.
static const char *path_of(const char *program)
{
    const char *path = program != NULL ? strchr(program, '/') : NULL;
    return path;
}

static struct error *compare_builds(const struct replay *replay, struct replay_end *end)
{
    _cleanup_free_ char *program = NULL;
    _cleanup_(subject_change_deinit) struct subject_change change = {0};
    TRY(subject_program(&replay->definition, &program));
    TRY(subject_program_compare(replay->campaign.program, program, &change));
    end->build = change.build;
    end->build_id_before = TAKE(change.build_id_before);
    end->build_id_now = TAKE(change.build_id_now);
    if (change.sentence != NULL)
        TRY(add_warning(end, change.sentence));
    return compare_modules(replay, path_of(replay->campaign.program), end);
}

// Warns of differences that are known before anything runs.
static struct error *compare_circumstances(const struct replay *replay, struct replay_end *end)
{
    char sentence[128];
    if (strcmp(replay->campaign.version, ORDEAL_VERSION) != 0) {
        snprintf(sentence, sizeof sentence, "this is version %s of Ordeal, the trial was run by %s",
                 ORDEAL_VERSION, replay->campaign.version);
        TRY(add_warning(end, sentence));
    }
    return compare_builds(replay, end);
}

static struct error *compare_plan(const struct replay *replay, uint64_t hash,
                                  struct replay_end *end)
{
    if (hash == replay->trial.plan_hash || hash == 0 || replay->trial.plan_hash == 0)
        return NULL;
    return add_warning(end, "the fault is compiled to another plan than then, so it may not be "
                            "injected at the same place");
}

static int interrupts(const struct campaign_control *control)
{
    return control->interrupts != NULL ? *control->interrupts : 0;
}

// The first interrupt lets the run finish, the second ends it.
static void watch(struct shooting *shooting, const struct campaign_control *control)
{
    shooting_watch(shooting, control->interrupts, 1, NULL, NULL);
}

// A trial that was carried over ran in an earlier build, where the same code may be in other lines.
static struct error *is_repeated(const struct replay *replay, const struct judgement *judgement,
                                 bool *ret_repeated)
{
    *ret_repeated = judgement->verdict == replay->trial.verdict &&
                    (replay->cause == NULL || judgement->verdict == VERDICT_HANG ||
                     finding_shows(judgement, replay->cause));
    if (*ret_repeated || !replay->trial.carried || judgement->verdict != replay->trial.verdict)
        return NULL;
    TRY(cause_is_same(replay->cause, finding_cause(judgement, CALL_UNCHECKED), ret_repeated));
    return *ret_repeated
               ? NULL
               : cause_is_same(replay->cause, finding_cause(judgement, CALL_CHECKED), ret_repeated);
}

// A run that the user ended says nothing about the program, and is not counted.
static struct error *run_once(const struct replay *replay, struct shooting *shooting,
                              const struct reference *reference,
                              const struct campaign_control *control, struct replay_end *end)
{
    _cleanup_(outcome_run_deinit) struct outcome_run run = {0};
    _cleanup_(judgement_deinit) struct judgement judgement = {0};
    TRY(shooting_run(shooting, replay->trial.spec, replay->trial.seed,
                     reference_timeout_ns(reference), &run));
    if (interrupts(control) > 1)
        return NULL;
    TRY(shooting_decode(shooting, &run, reference));
    TRY(judge(reference, &run, &judgement));
    if (end->times == 0)
        TRY(compare_plan(replay, run.observation.plan_hash, end));
    end->times++;
    end->verdicts[judgement.verdict]++;
    bool repeated;
    TRY(is_repeated(replay, &judgement, &repeated));
    end->repeated += repeated;
    free(end->reason);
    end->reason = TAKE(judgement.reason);
    return NULL;
}

static void tell(const struct campaign_control *control, const struct replay_end *end,
                 uint64_t times)
{
    struct campaign_progress progress = {
        .phase = "runs", .done = end->times, .planned = times, .left_s = -1};
    memcpy(progress.verdicts, end->verdicts, sizeof progress.verdicts);
    if (control->progress != NULL)
        control->progress(control->data, &progress);
}

static void freep_shooting(struct shooting **shooting)
{
    shooting_free(*shooting);
}
static void freep_reference(struct reference **reference)
{
    reference_free(*reference);
}

static struct error *replay_run(const struct replay *replay, struct store *store, uint64_t times,
                                const struct campaign_control *control, struct replay_end *end)
{
    _cleanup_(freep_reference) struct reference *reference = NULL;
    _cleanup_(freep_shooting) struct shooting *shooting = NULL;
    TRY(compare_circumstances(replay, end));
    TRY(reference_load(&replay->definition.oracle, inputs_count(&replay->definition.inputs), store,
                       replay->campaign.id, &reference));
    TRY(shooting_new(&replay->definition, replay->injector, &shooting));
    watch(shooting, control);
    tell(control, end, times);
    while (end->times < times && interrupts(control) == 0) {
        TRY(run_once(replay, shooting, reference, control, end));
        tell(control, end, times);
    }
    return NULL;
}

struct error *campaign_replay(struct store *store, int64_t trial, uint64_t times,
                              const struct campaign_control *control, struct replay_end *ret_end)
{
    _cleanup_(replay_deinit) struct replay replay = {0};
    _cleanup_(replay_end_deinit) struct replay_end end = {0};
    TRY(replay_load(&replay, store, trial));
    TRY(environment_compare(store, &replay.campaign, &replay.definition, &end.environment));
    end.before = replay.trial.verdict;
    TRY(replay_run(&replay, store, times, control, &end));
    *ret_end = end;
    end = (struct replay_end){0};
    return NULL;
}

void replay_end_deinit(struct replay_end *end)
{
    free(end->reason);
    free(end->warning);
    free(end->build_id_before);
    free(end->build_id_now);
    environment_comparison_deinit(&end->environment);
    *end = (struct replay_end){0};
}

// A hang is ended after a trial's timeout.
static struct error *find_timeout(const struct replay *replay, struct store *store,
                                  uint64_t *ret_timeout_ns)
{
    _cleanup_(freep_reference) struct reference *reference = NULL;
    *ret_timeout_ns = 0;
    if (replay->trial.outcome != STORE_OUTCOME_TIMEOUT)
        return NULL;
    TRY(reference_load(&replay->definition.oracle, inputs_count(&replay->definition.inputs), store,
                       replay->campaign.id, &reference));
    *ret_timeout_ns = reference_timeout_ns(reference);
    return NULL;
}

struct error *campaign_run_command(struct store *store, int64_t trial, char **ret_command)
{
    _cleanup_(replay_deinit) struct replay replay = {0};
    uint64_t timeout_ns;
    void *self = NULL;
    TRY(replay_load(&replay, store, trial));
    const struct injector *injector = replay.injector;
    *ret_command = NULL;
    if (!injector->reproduces_inside || replay.definition.sandbox == SANDBOX_NONE ||
        replay.trial.spec == NULL || !finding_needs_command_alone(&replay.definition))
        return NULL;
    TRY(find_timeout(&replay, store, &timeout_ns));
    const struct injector_setup setup = definition_setup(&replay.definition);
    TRY(injector->open(&setup, &self));
    struct error *error =
        injector->reproduce(self, replay.trial.spec, replay.trial.seed, timeout_ns, ret_command);
    injector->close(self);
    return error;
}

static void freep_relay(struct relay **relay)
{
    relay_close(*relay);
}

static struct error *warn_of_environment(const struct replay *replay, struct store *store,
                                         const struct campaign_control *control)
{
    _cleanup_(environment_comparison_deinit) struct environment_comparison comparison = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(environment_compare(store, &replay->campaign, &replay->definition, &comparison));
    if (environment_is_same(&comparison) || control->warn == NULL)
        return NULL;
    TRY(buffer_printf(&text, "the environment, compared with then: "));
    TRY(environment_put(&text, &comparison));
    control->warn(control->data, text.data);
    return NULL;
}

// Without a terminal nobody can talk to gdb. It then shows the stack and continues.
struct error *campaign_debug(struct store *store, int64_t trial,
                             const struct campaign_control *control, int *ret_status)
{
    _cleanup_(replay_deinit) struct replay replay = {0};
    _cleanup_(freep_shooting) struct shooting *shooting = NULL;
    _cleanup_(freep_relay) struct relay *relay = NULL;
    TRY(replay_load(&replay, store, trial));
    _cleanup_(replay_end_deinit) struct replay_end end = {0};
    TRY(compare_builds(&replay, &end));
    if (end.warning != NULL && control->warn != NULL)
        control->warn(control->data, end.warning);
    TRY(shooting_new(&replay.definition, replay.injector, &shooting));
    TRY(warn_of_environment(&replay, store, control));
    enum sandbox_kind kind = sandbox_kind(shooting_sandbox(shooting));
    if (kind == SANDBOX_NONE && control->warn != NULL)
        control->warn(control->data, "there is no sandbox: the program works on the real files");
    if (kind == SANDBOX_COPY && control->warn != NULL)
        control->warn(control->data, "the program works on a copy of its directory; all other "
                                     "files are the real ones");
    if (replay.injector->debugger != NULL && isatty(STDIN_FILENO))
        TRY(relay_open(&relay));
    if (relay == NULL) // with one, Ctrl-C is gdb's
        watch(shooting, control);
    return shooting_debug(shooting, replay.trial.spec, replay.trial.seed,
                          relay != NULL ? relay_terminal(relay) : -1, ret_status);
}
