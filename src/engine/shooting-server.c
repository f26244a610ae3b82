// SPDX-License-Identifier: GPL-3.0-or-later
// Shots at servers: one life of the sandbox is one of the server, with one round of its load or
// many.
#include "engine/shooting-internal.h"

#include "base/cleanup.h"
#include "base/timeouts.h"

#define REFERENCE_ROUNDS 3 // of a server that will be long-lived

static struct error *take_load(struct life *life, const struct server_load *load, uint64_t fired,
                               struct outcome_run *run, bool *ret_there)
{
    TRY(server_life_cut(load, false, &life->results[life->workload], &run->workload, ret_there));
    if (!*ret_there)
        return NULL;
    run->workload.end = SANDBOX_EXIT;
    run->workload.status = server_load_status(load);
    run->observation.activations = fired;
    return outcome_add_streams(run);
}

// A round is over: the next one, or the end.
static struct error *go_on(struct life *life)
{
    const struct server_state *state = server_life_state(life->server);
    if (life->answer < 0 || atomic_load(&state->done) < life->asked)
        return NULL;
    _cleanup_(outcome_run_deinit) struct outcome_run run = {0}, again = {0};
    const struct server_round *round = &state->rounds[life->asked - 1];
    bool there, there_again;
    TRY(take_load(life, &round->load, round->fired, &run, &there));
    TRY(take_load(life, &round->again, round->fired, &again, &there_again));
    bool lost = life->results[life->workload].out.kept.size >= SHOOTING_CAPTURE ||
                life->results[life->workload].err.kept.size >= SHOOTING_CAPTURE;
    if ((!there || !there_again) && !lost)
        return NULL; // still in the pipe
    run.workload.ns = again.workload.ns = round->ns;
    life->answer = there && there_again ? life->session->next(life->session->data, &run, &again)
                                        : SHOOTING_KEPT;
    if (life->answer < 0) {
        server_life_enough(life->server);
        return NULL;
    }
    life->rule = (uint32_t)life->answer;
    life->asked++;
    server_life_ask(life->server, life->rule);
    return NULL;
}

uint64_t life_server_started(void *data, pid_t pid)
{
    return SERVER_TICK_NS;
}

uint64_t life_server_tick(void *data, pid_t pid, uint64_t ns)
{
    struct life *life = data;
    if (life->session != NULL)
        life_keep_error(life, go_on(life));
    struct injected_thread injected = {0};
    if (server_life_is_late(life->server))
        injected = life_last_injected(life);
    uint64_t next = server_life_tick(life->server, pid, ns, sandbox_root(life->shooting->sandbox),
                                     &injected, life->run);
    return life->session != NULL ? ns + SERVER_ROUND_TICK_NS : next;
}

// The injector's environment is the server's; the load has none of it.
struct error *life_prepare_server(struct life *life, uint64_t timeout_ns)
{
    const struct shooting *shooting = life->shooting;
    if (!definition_is_server(shooting->definition))
        return NULL;
    const struct server_life_options options = {
        .definition = shooting->definition,
        .environment = shooting->environment.items,
        .server_environment = life->shot.use_environment != NULL ? life->shot.use_environment
                                                                 : shooting->environment.items,
        .input = shooting->input,
        .timeout_ns = timeout_ns,
        .rounds = life->session != NULL ? 0
                  : life->shot.spec == NULL && shooting->definition->service.long_lived
                      ? REFERENCE_ROUNDS
                      : 1,
        .injector = life->session != NULL ? shooting->injector->name : NULL,
        .switches = life->session != NULL ? life->shot.switches : NULL,
        .first_switch = life->shot.first_switch,
        .switch_count = life->shot.switched_count,
    };
    TRY(server_life_new(&options, &life->server));
    if (life->session == NULL)
        return NULL;
    life->rule = life->session->first;
    life->asked = 1;
    server_life_ask(life->server, life->rule);
    return NULL;
}

// A server that lives long is judged by one load of several: of the reference runs each gives
// another one, so that what differs from load to load is known.
struct error *life_narrow(struct life *life)
{
    struct outcome_run *run = life->run;
    const struct server_state *state = server_life_state(life->server);
    _cleanup_(sandbox_result_deinit) struct sandbox_result cut = {0};
    if (state->begun == 0 || run->trouble != NULL)
        return NULL;
    bool is_reference = life->session == NULL && life->shot.spec == NULL, there;
    uint32_t index = is_reference ? life->shooting->references++ % state->begun : state->begun - 1;
    const struct server_round *round = &state->rounds[index];
    const struct server_load *load =
        life->answer == SHOOTING_KEPT_AGAIN ? &round->again : &round->load;
    if (life->session != NULL)
        observation_keep_rule(&run->observation, life->rule, round->fired);
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
    if (run->workload.end == SANDBOX_EXIT && !run->down && !run->deserted)
        run->workload.status = server_load_status(load);
    return NULL;
}

struct error *shooting_serve(struct shooting *shooting, const struct shooting_session *session,
                             struct outcome_run *ret_run, uint32_t *ret_rounds)
{
    _cleanup_(outcome_run_deinit) struct outcome_run run = {0};
    _cleanup_(life_deinit) struct life life = {
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
    TRY(life_lead(&life, session->timeout_ns));
    *ret_rounds = server_life_state(life.server)->begun;
    *ret_run = run;
    run = (struct outcome_run){0};
    return NULL;
}
