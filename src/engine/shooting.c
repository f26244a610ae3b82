// SPDX-License-Identifier: GPL-3.0-or-later
// Sets up what shots need (commands, environments, sandbox, injector), and starts the kinds of
// shots: single, forked, followed, debugged.
#include "engine/shooting-internal.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "oracle/trial-directory.h"

#include <string.h>

void shooting_free(struct shooting *shooting)
{
    if (shooting == NULL)
        return;
    if (shooting->self != NULL)
        shooting->injector->close(shooting->self);
    decoder_free(shooting->decoder);
    sandbox_free(shooting->sandbox);
    for (int i = 0; i < STEPS; i++)
        ARRAY_DEINIT(&shooting->commands[i]);
    ARRAY_DEINIT(&shooting->environment);
    ARRAY_DEINIT(&shooting->oracle_environment);
    ARRAY_DEINIT(&shooting->ignored);
    sanitizer_report_paths_deinit(&shooting->logs);
    trial_directory_free(shooting->trial_directory);
    free(shooting->oracle_variable);
    free(shooting->input);
    words_deinit(&shooting->input_command);
    free(shooting);
}

static void shooting_freep(struct shooting **shooting)
{
    shooting_free(*shooting);
}

struct sandbox *shooting_sandbox(struct shooting *shooting)
{
    return shooting->sandbox;
}

// Whether runs get a private network. Servers need one: those of parallel trials must not meet.
static bool is_private(const struct definition *definition)
{
    return definition->network == NETWORK_AUTO ? definition_is_server(definition)
                                               : definition->network == NETWORK_PRIVATE;
}

bool shooting_is_apart(const struct shooting *shooting)
{
    return shooting->apart && sandbox_kind(shooting->sandbox) == SANDBOX_OVERLAY;
}

void shooting_set_apart(struct shooting *shooting, bool apart)
{
    shooting->apart = apart;
    sandbox_set_network(shooting->sandbox, apart);
}

struct sandbox_traffic shooting_traffic(const struct shooting *shooting)
{
    return shooting->traffic;
}

struct error *shooting_restart(struct shooting *shooting)
{
    shooting->injector->close(TAKE(shooting->self));
    const struct injector_setup setup = definition_setup(shooting->definition);
    return shooting->injector->open(&setup, &shooting->self);
}

void *shooting_injector(struct shooting *shooting)
{
    return shooting->self;
}

struct error *shooting_add_word(borrowed *list, char *word)
{
    char **slot = ARRAY_ADD(list);
    if (slot == NULL)
        return error_no_memory();
    *slot = word;
    return NULL;
}

// Copies a list, adds the word `more` unless it is NULL, and ends the list with NULL.
static struct error *copy_words(const struct words *from, char *more, borrowed *to)
{
    for (size_t i = 0; i < from->count; i++)
        TRY(shooting_add_word(to, from->items[i]));
    if (more != NULL)
        TRY(shooting_add_word(to, more));
    return shooting_add_word(to, NULL);
}

// Copies the oracle command and adds the trial directory. In `sh -c COMMAND` the next word is $0,
// so one is put before the directory, which is then $1 there, too.
static struct error *copy_oracle(const struct words *from, char *directory, borrowed *to)
{
    bool shell = from->count == 3 && strcmp(file_base_name(from->items[0]), "sh") == 0 &&
                 strcmp(from->items[1], "-c") == 0;
    TRY(copy_words(from, shell ? from->items[0] : directory, to));
    if (!shell)
        return NULL;
    to->items[to->count - 1] = directory;
    return shooting_add_word(to, NULL);
}

static struct error *take_commands(struct shooting *shooting)
{
    const struct definition *definition = shooting->definition;
    const struct words *const commands[STEPS] = {
        [SETUP] = &definition->setup,           [PRETEST] = &definition->pretest,
        [WORKLOAD] = &definition->command,      [POSTTEST] = &definition->posttest,
        [ORACLE] = &definition->oracle.command, [TEARDOWN] = &definition->teardown,
    };
    if (definition->oracle.command.count != 0) {
        TRY(trial_directory_new(&shooting->trial_directory));
        if (asprintf(&shooting->oracle_variable, "ORDEAL_TRIAL=%s",
                     trial_directory_path(shooting->trial_directory)) < 0) {
            shooting->oracle_variable = NULL;
            return error_no_memory();
        }
    }
    for (int i = 0; i < STEPS; i++)
        if (commands[i] != NULL && commands[i]->count != 0 && i != ORACLE)
            TRY(copy_words(commands[i], NULL, &shooting->commands[i]));
    if (shooting->trial_directory != NULL)
        TRY(copy_oracle(commands[ORACLE], shooting->oracle_variable + strlen("ORDEAL_TRIAL="),
                        &shooting->commands[ORACLE]));
    TRY(copy_words(&definition->environment, shooting->oracle_variable,
                   &shooting->oracle_environment));
    return copy_words(&definition->environment, NULL, &shooting->environment);
}

static struct error *take_input(struct shooting *shooting, const char *input)
{
    free(TAKE(shooting->input));
    if (input == NULL)
        return NULL;
    if (asprintf(&shooting->input, "%s%s%s", input[0] == '/' ? "" : shooting->definition->directory,
                 input[0] == '/' ? "" : "/", input) < 0) {
        shooting->input = NULL;
        return error_no_memory();
    }
    return NULL;
}

struct error *shooting_set_input(struct shooting *shooting, uint32_t input)
{
    const struct definition *definition = shooting->definition;
    const char *file = definition->input;
    if (inputs_count(&definition->inputs) == 0)
        return NULL;
    TRY(inputs_get(&definition->inputs, &definition->command, input, &shooting->input_command,
                   &file));
    shooting->commands[WORKLOAD].count = 0;
    TRY(copy_words(&shooting->input_command, NULL, &shooting->commands[WORKLOAD]));
    shooting->number_of_input = input;
    return take_input(shooting, file);
}

// A shot is repeated with the same seed, and so with the same input.
struct error *shooting_input_of(const struct shooting *shooting, const char *spec, uint64_t seed,
                                uint32_t *ret_input)
{
    uint32_t count = inputs_count(&shooting->definition->inputs);
    *ret_input = shooting->number_of_input;
    if (count == 0 || spec == NULL || shooting->injector->input == NULL)
        return NULL;
    uint32_t input = shooting->injector->input(spec);
    if (input > count)
        return error_new("there is no input %u, there are %u", input, count);
    uint64_t drawn = seed * 0x9e3779b97f4a7c15ull >> 32;
    *ret_input = input != 0 ? input - 1 : (uint32_t)(drawn % count);
    return NULL;
}

static struct error *choose_input(struct shooting *shooting, const char *spec, uint64_t seed)
{
    uint32_t input;
    TRY(shooting_input_of(shooting, spec, seed, &input));
    return spec != NULL ? shooting_set_input(shooting, input) : NULL;
}

struct error *shooting_new(const struct definition *definition, const struct injector *injector,
                           struct shooting **ret_shooting)
{
    _cleanup_(shooting_freep) struct shooting *shooting = calloc(1, sizeof *shooting);
    if (shooting == NULL)
        return error_no_memory();
    shooting->definition = definition;
    shooting->injector = injector;
    shooting->apart = is_private(definition);
    TRY(take_commands(shooting));
    TRY(take_input(shooting, definition->input));
    TRY(copy_words(&definition->oracle.ignored, NULL, &shooting->ignored));
    TRY(sanitizer_report_find_paths(shooting->commands[WORKLOAD].items, shooting->environment.items,
                                    definition->directory, &shooting->logs));
    const struct sandbox_options options = {.kind = definition->sandbox,
                                            .directory = definition->directory,
                                            .network = shooting->apart,
                                            .limits = definition->limits,
                                            .capture_limit = SHOOTING_CAPTURE};
    TRY(sandbox_new(&options, &shooting->sandbox));
    TRY(decoder_new(&shooting->decoder));
    const struct injector_setup setup = definition_setup(definition);
    TRY(injector->open(&setup, &shooting->self));
    *ret_shooting = TAKE(shooting);
    return NULL;
}

static struct error *run_shot(struct shooting *shooting, const struct shot *shot,
                              uint64_t timeout_ns, struct outcome_run *ret_run)
{
    _cleanup_(outcome_run_deinit) struct outcome_run run = {0};
    _cleanup_(shot_run_deinit) struct shot_run shot_run = {
        .shooting = shooting, .run = &run, .input = -1, .shot = *shot};
    TRY(choose_input(shooting, shot->spec, shot->seed));
    run.input = shot_run.shot.input = shooting->number_of_input;
    shot_run.shot.command = shooting->commands[WORKLOAD].items;
    shot_run.shot.environment = shooting->environment.items;
    TRY(shot_run_execute(&shot_run, timeout_ns));
    *ret_run = run;
    run = (struct outcome_run){0};
    return NULL;
}

struct error *shooting_branch(struct shooting *shooting, const struct shooting_branches *branches,
                              uint64_t timeout_ns, struct outcome_run *ret_run,
                              enum wire_fork_refusal *ret_refusal)
{
    _cleanup_(outcome_run_deinit) struct outcome_run run = {0};
    _cleanup_(shot_run_deinit) struct shot_run shot_run = {
        .shooting = shooting, .run = &run, .input = -1, .branches = branches};
    if (branches->count != 0)
        TRY(choose_input(shooting, branches->shots[0].spec, branches->shots[0].seed));
    run.input = shot_run.shot.input = shooting->number_of_input;
    shot_run.shot.command = shooting->commands[WORKLOAD].items;
    shot_run.shot.environment = shooting->environment.items;
    TRY(shot_run_execute(&shot_run, timeout_ns));
    *ret_run = run;
    run = (struct outcome_run){0};
    *ret_refusal = shot_run.refusal;
    return NULL;
}

struct error *shooting_decode(struct shooting *shooting, struct outcome_run *run,
                              const struct reference *reference)
{
    return shooting->busy
               ? NULL
               : decoder_run(shooting->decoder, run,
                             reference != NULL ? reference_of(reference, run->input) : NULL);
}

struct error *shooting_run(struct shooting *shooting, const char *spec, uint64_t seed,
                           uint64_t timeout_ns, struct outcome_run *ret_run)
{
    const struct shot shot = {.spec = spec, .seed = seed};
    return run_shot(shooting, &shot, timeout_ns, ret_run);
}

struct error *shooting_follow(struct shooting *shooting, const char *spec, uint64_t seed,
                              uint64_t timeout_ns, struct outcome_run *ret_run)
{
    const struct shot shot = {.spec = spec, .seed = seed, .follow = true};
    return run_shot(shooting, &shot, timeout_ns, ret_run);
}

void shooting_watch(struct shooting *shooting, const volatile int *stop, int above,
                    void (*lingering)(void *data, const char *names), void *data)
{
    shooting->stop = stop;
    shooting->stop_above = above;
    shooting->lingering = lingering;
    shooting->lingering_data = data;
}

struct error *shooting_debug(struct shooting *shooting, const char *spec, uint64_t seed,
                             int terminal, int *ret_status)
{
    _cleanup_(outcome_run_deinit) struct outcome_run run = {0};
    _cleanup_(shot_run_deinit) struct shot_run shot_run = {
        .shooting = shooting,
        .run = &run,
        .input = -1,
        .debugged = true,
        .terminal = terminal,
        .shot = {.spec = spec,
                 .seed = seed,
                 .command = shooting->commands[WORKLOAD].items,
                 .environment = shooting->environment.items},
    };
    TRY(choose_input(shooting, spec, seed));
    shot_run.shot.input = shooting->number_of_input;
    shot_run.shot.command = shooting->commands[WORKLOAD].items;
    if (definition_is_server(shooting->definition))
        return error_new("a server cannot be stopped in gdb here: it would not be driven");
    if (shooting->injector->debugger == NULL)
        return error_new("the injector '%s' cannot stop in gdb", shooting->injector->name);
    TRY(shot_run_execute(&shot_run, 0));
    if (run.workload.end == SANDBOX_SKIPPED)
        return error_new("setup or pretest failed: gdb was not started");
    *ret_status =
        run.workload.end == SANDBOX_EXIT ? run.workload.status : 128 + run.workload.status;
    return NULL;
}
