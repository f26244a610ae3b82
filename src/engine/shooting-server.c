// SPDX-License-Identifier: GPL-3.0-or-later
// Shots at servers: one sandbox run is one life of the server, with one round of its load or many.
#include "engine/shooting-internal.h"

#include "base/cleanup.h"
#include "base/timeouts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define REFERENCE_ROUNDS 3 // of the load, in reference runs of a long-lived server

static struct error *take_load(struct shot_run *shot_run, const struct server_round *round,
                               const struct server_load *load, struct outcome_run *run,
                               bool *ret_there)
{
    TRY(server_life_cut(load, false, &shot_run->results[shot_run->workload], &run->workload,
                        ret_there));
    if (!*ret_there)
        return NULL;
    run->serves = true;
    run->workload.end = SANDBOX_EXIT;
    run->workload.status = server_load_status(load);
    run->observation.activations = round->fired;
    run->observation.damage = round->damaged ? WIRE_DAMAGE_FELL : WIRE_DAMAGE_NONE;
    return outcome_add_streams(run);
}

// If a round is over, asks for the next one or for the end.
static struct error *go_on(struct shot_run *shot_run)
{
    const struct server_state *state = server_life_state(shot_run->server);
    if (shot_run->answer < 0 || atomic_load(&state->done) < shot_run->asked)
        return NULL;
    _cleanup_(outcome_run_deinit) struct outcome_run run = {0}, again = {0};
    const struct server_round *round = &state->rounds[shot_run->asked - 1];
    bool there, there_again;
    TRY(take_load(shot_run, round, &round->load, &run, &there));
    TRY(take_load(shot_run, round, &round->again, &again, &there_again));
    bool lost = shot_run->results[shot_run->workload].out.kept.size >= SHOOTING_CAPTURE ||
                shot_run->results[shot_run->workload].err.kept.size >= SHOOTING_CAPTURE;
    if ((!there || !there_again) && !lost)
        return NULL; // its output is still in the pipe
    run.workload.ns = again.workload.ns = round->ns;
    shot_run->answer = there && there_again
                           ? shot_run->session->next(shot_run->session->data, &run, &again)
                           : SHOOTING_KEPT;
    if (shot_run->answer < 0) {
        server_life_enough(shot_run->server);
        return NULL;
    }
    shot_run->rule = (uint32_t)shot_run->answer;
    shot_run->asked++;
    server_life_ask(shot_run->server, shot_run->rule);
    return NULL;
}

uint64_t shot_run_server_started(void *data, pid_t pid)
{
    return SERVER_TICK_NS;
}

static struct error *add_absent(void *data, const struct sandbox_change *change)
{
    struct shot_run *shot_run = data;
    if (change->kind != SANDBOX_DELETED || strchr(change->path, '\n') != NULL)
        return NULL;
    const char *inside = sandbox_directory(shot_run->shooting->sandbox);
    size_t size = strlen(inside);
    bool below = strncmp(change->path, inside, size) == 0 && change->path[size] == '/';
    return buffer_printf(&shot_run->run->absent, "%s%s\n",
                         below ? shot_run->shooting->definition->directory : "",
                         change->path + (below ? size : 0));
}

// Some servers delete their statistics or caches when they start, and write them when they stop.
// Only reference runs are asked, once, while the load runs.
static struct error *find_absent(struct shot_run *shot_run)
{
    const struct shooting *shooting = shot_run->shooting;
    if (shot_run->looked || shot_run->shot.spec != NULL ||
        shooting->definition->service.long_lived ||
        server_life_state(shot_run->server)->phase != SERVER_LOAD)
        return NULL;
    shot_run->looked = true;
    return sandbox_each_change(shooting->sandbox, (const char *const *)shooting->ignored.items,
                               add_absent, shot_run);
}

uint64_t shot_run_server_tick(void *data, pid_t pid, uint64_t ns)
{
    struct shot_run *shot_run = data;
    shot_run_keep_error(shot_run, find_absent(shot_run));
    if (shot_run->session != NULL)
        shot_run_keep_error(shot_run, go_on(shot_run));
    struct injected_thread injected = {0};
    if (server_life_is_late(shot_run->server))
        injected = shot_run_last_injected(shot_run);
    uint64_t next =
        server_life_tick(shot_run->server, pid, ns, sandbox_root(shot_run->shooting->sandbox),
                         &injected, shot_run->run);
    return shot_run->session != NULL ? ns + SERVER_ROUND_TICK_NS : next;
}

// The server gets the injector's environment; the load does not.
struct error *shot_run_prepare_server(struct shot_run *shot_run, uint64_t timeout_ns)
{
    const struct shooting *shooting = shot_run->shooting;
    if (!definition_is_server(shooting->definition))
        return NULL;
    const struct server_life_options options = {
        .definition = shooting->definition,
        .environment = shooting->environment.items,
        .server_command = shot_run->shot.use_command,
        .server_environment = shot_run->shot.use_environment != NULL
                                  ? shot_run->shot.use_environment
                                  : shooting->environment.items,
        .input = shooting->input,
        .timeout_ns = timeout_ns,
        .rounds = shot_run->session != NULL ? 0
                  : shot_run->shot.spec == NULL && shooting->definition->service.long_lived
                      ? REFERENCE_ROUNDS
                      : 1,
        .injector = shot_run->session != NULL ? shooting->injector->name : NULL,
        .switches = shot_run->session != NULL ? shot_run->shot.switches : NULL,
        .first_switch = shot_run->shot.first_switch,
        .switch_count = shot_run->shot.switched_count,
    };
    TRY(server_life_new(&options, &shot_run->server));
    if (shot_run->session == NULL)
        return NULL;
    shot_run->rule = shot_run->session->first;
    shot_run->asked = 1;
    server_life_ask(shot_run->server, shot_run->rule);
    return NULL;
}

// A long-lived server is judged by one load of several. Each reference run gives another one, so
// that it is known what differs from load to load.
struct error *shot_run_narrow(struct shot_run *shot_run)
{
    struct outcome_run *run = shot_run->run;
    const struct server_state *state = server_life_state(shot_run->server);
    _cleanup_(sandbox_result_deinit) struct sandbox_result cut = {0};
    if (state->begun == 0 || run->trouble != NULL)
        return NULL;
    bool is_reference = shot_run->session == NULL && shot_run->shot.spec == NULL, there;
    uint32_t index =
        is_reference ? shot_run->shooting->references++ % state->begun : state->begun - 1;
    const struct server_round *round = &state->rounds[index];
    const struct server_load *load =
        shot_run->answer == SHOOTING_KEPT_AGAIN ? &round->again : &round->load;
    if (shot_run->session != NULL)
        observation_keep_rule(&run->observation, shot_run->rule, round->fired);
    if (round->damaged)
        run->observation.damage = WIRE_DAMAGE_FELL;
    TRY(server_life_cut(load, true, &run->workload, &cut, &there));
    if (!there)
        return NULL;
    struct sandbox_stream out = run->workload.out, err = run->workload.err;
    run->workload.out = cut.out;
    cut.out = out;
    if (!is_reference) {
        run->workload.err = cut.err;
        cut.err = err;
    }
    run->workload.ns = is_reference ? run->workload.ns : round->ns;
    if (run->workload.end == SANDBOX_EXIT && !run->down && !run->exited_early)
        run->workload.status = server_load_status(load);
    return NULL;
}

struct error *shooting_serve(struct shooting *shooting, const struct shooting_session *session,
                             struct outcome_run *ret_run, uint32_t *ret_rounds)
{
    _cleanup_(outcome_run_deinit) struct outcome_run run = {0};
    _cleanup_(shot_run_deinit) struct shot_run shot_run = {
        .shooting = shooting,
        .run = &run,
        .input = -1,
        .session = session,
        .shot = {.seed = session->seed,
                 .switched = session->specs,
                 .switched_count = session->count,
                 .command = shooting->commands[WORKLOAD].items,
                 .environment = shooting->environment.items},
    };
    TRY(shot_run_execute(&shot_run, session->timeout_ns));
    *ret_rounds = server_life_state(shot_run.server)->begun;
    *ret_run = run;
    run = (struct outcome_run){0};
    return NULL;
}

struct error *shooting_try_load(struct shooting *shooting, bool *ret_fails)
{
    const struct definition *definition = shooting->definition;
    _cleanup_close_ int input =
        shooting->input != NULL ? open(shooting->input, O_RDONLY | O_CLOEXEC | O_NOCTTY) : -1;
    if (shooting->input != NULL && input < 0)
        return error_from_errno(errno, "cannot open %s for the load", shooting->input);
    const struct sandbox_step steps[] = {
        {.command = shooting->commands[SETUP].items,
         .environment = shooting->environment.items,
         .input = -1,
         .timeout_ns = STEP_OTHER_WAIT_NS,
         .linger = true},
        {.command = definition->service.load.items,
         .environment = shooting->environment.items,
         .input = input,
         .timeout_ns = LOAD_ALONE_WAIT_NS,
         .stop = shooting->stop,
         .stop_above = shooting->stop_above},
        {.command = shooting->commands[TEARDOWN].items,
         .environment = shooting->environment.items,
         .input = -1,
         .timeout_ns = STEP_OTHER_WAIT_NS},
    };
    struct sandbox_result results[3] = {0};
    size_t first = steps[0].command != NULL ? 0 : 1, end = steps[2].command != NULL ? 3 : 2;
    struct error *error = sandbox_run(shooting->sandbox, steps + first, end - first, NULL, NULL,
                                      NULL, results + first);
    *ret_fails =
        results[1].end != SANDBOX_EXIT || results[1].status != (int)definition->oracle.status;
    for (size_t i = 0; i < 3; i++)
        sandbox_result_deinit(&results[i]);
    return error;
}
