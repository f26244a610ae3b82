// SPDX-License-Identifier: GPL-3.0-or-later
#include "stress/session.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"

#include <stdio.h>
#include <string.h>

struct error *stress_session_open(const struct stress_options *options, bool null, unsigned copies,
                                  bool tree, struct stress_result *result,
                                  struct stress_session *ret_session)
{
    struct stress_session session = {.options = options,
                                     .strategy = options->strategy,
                                     .random = stats_random_start(options->seed, 2),
                                     .null = null,
                                     .began_ns = clock_ns(),
                                     .next_sample_ns = clock_ns() + STRESS_SAMPLE_PAUSE_NS,
                                     .result = result};
    TRY(measure_open(copies, tree, &session.measure));
    if (session.measure.memory != options->memory) {
        measure_close(&session.measure);
        return error_new("the calibration counted %s, and this machine counts %s: calibrate again",
                         measure_memory_names[options->memory],
                         measure_memory_names[session.measure.memory]);
    }
    session.strategy.random = stats_random_start(options->seed, 1);
    strategy_start(&session.strategy);
    *ret_session = session;
    return NULL;
}

void stress_session_close(struct stress_session *session)
{
    measure_close(&session->measure);
    ARRAY_DEINIT(&session->processes);
}

struct error *stress_session_sample(struct stress_session *session, bool held, bool *ret_inject,
                                    enum stress_area *ret_area)
{
    struct stress_sample sample;
    struct stress_result *result = session->result;
    *ret_inject = false;
    session->next_sample_ns = clock_ns() + STRESS_SAMPLE_PAUSE_NS;
    TRY(measure_take(&session->measure, &session->processes, &sample));
    stress_normalise(&session->options->range, &sample, session->stress);
    double composite = strategy_composite(&session->strategy, session->stress);
    result->composite += (composite - result->composite) / (double)++result->samples;
    result->measuring_ns = session->measure.spent_ns;
    double now_s = clock_seconds(clock_ns() - session->began_ns);
    if (held || !strategy_decide(&session->strategy, now_s, session->stress, ret_area))
        return NULL;
    result->injected[*ret_area]++;
    if (*ret_area == STRESS_IO)
        session->waiting++;
    else
        *ret_inject = true;
    return NULL;
}

struct stress_fault stress_session_draw(struct stress_session *session)
{
    enum fault_model model = session->options->model;
    if (model == FAULT_MODELS)
        model = (enum fault_model)stats_random_below(&session->random, FAULT_MODELS);
    return (struct stress_fault){.model = model, .null = session->null};
}

struct error *stress_session_note(struct stress_session *session, enum stress_area area,
                                  unsigned member, unsigned copy, const struct buffer *text)
{
    struct stress_injection *injection = ARRAY_ADD(&session->result->injections);
    if (injection == NULL)
        return error_no_memory();
    *injection = (struct stress_injection){
        .area = area,
        .at_ns = clock_ns() - session->began_ns,
        .member = member,
        .copy = copy,
        .composite = strategy_composite(&session->strategy, session->stress)};
    memcpy(injection->stress, session->stress, sizeof injection->stress);
    snprintf(injection->text, sizeof injection->text, "%s", text->data != NULL ? text->data : "");
    return NULL;
}
