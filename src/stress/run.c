// SPDX-License-Identifier: GPL-3.0-or-later
// The load runs beside this process, which samples it, decides, and injects. While a copy is being
// replaced nothing is injected.
#include "stress/run.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"
#include "stress/session.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

struct running {
    const struct stress_options *options;
    struct load load;
    struct stress_session session;
    uint64_t functions_before; // that had been done at the last fault of I/O
};

void stress_result_deinit(struct stress_result *result)
{
    ARRAY_DEINIT(&result->injections);
    ARRAY_DEINIT(&result->noticed);
}

// An error if the run is to end.
static struct error *pause_for(int stop, uint64_t ns)
{
    struct pollfd fd = {stop, POLLIN, 0};
    if (poll(&fd, 1, clock_poll_ms(ns)) > 0)
        return error_new("interrupted");
    return NULL;
}

// Waits until the load does something, or has ended.
static struct error *wait_for_load(struct load *load, int stop)
{
    while (!load->status->started && !load_has_ended(load))
        TRY(pause_for(stop, STRESS_TICK_NS));
    return NULL;
}

// The copies as they are now, member by member.
static struct error *list_copies(const struct load_status *status, const struct load_options *load,
                                 pid_list *processes)
{
    processes->count = 0;
    for (unsigned m = 0; m < load->members; m++)
        for (unsigned c = 0; c < load->copies; c++) {
            pid_t *process = ARRAY_ADD(processes);
            if (process == NULL)
                return error_no_memory();
            *process = status->processes[m][c];
        }
    return NULL;
}

// ---- Faults ----

static struct error *inject_into_process(struct running *running, enum stress_area area)
{
    const struct load_options *load = &running->options->load;
    struct stress_session *session = &running->session;
    struct stats_random *random = &session->random;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    unsigned member = (unsigned)stats_random_below(random, load->members);
    unsigned copy = (unsigned)stats_random_below(random, load->copies);
    struct stress_fault fault = stress_session_draw(session);
    pid_t process = running->load.status->processes[member][copy];
    bool done = false;
    if (process != 0 && area == STRESS_CPU)
        TRY(fault_register(process, &fault, random, &text, &done));
    else if (process != 0)
        TRY(fault_memory(running->load.status, member, process, &fault, random, &text, &done));
    session->result->missed += !done;
    return done ? stress_session_note(session, area, member, copy, &text) : NULL;
}

// A fault of I/O waits until a member does I/O. Of several, each gets a function of its own: else
// they would meet in one member before its copies are compared.
static struct error *inject_waiting(struct running *running)
{
    const struct load_options *load = &running->options->load;
    struct stress_session *session = &running->session;
    struct load_status *status = running->load.status;
    unsigned first = (unsigned)stats_random_below(&session->random, load->members);
    if (status->functions < running->functions_before + load->members)
        return NULL;
    for (unsigned i = 0; i < load->members; i++) {
        _cleanup_(buffer_deinit) struct buffer text = {0};
        unsigned member = (first + i) % load->members;
        unsigned copy = (unsigned)stats_random_below(&session->random, load->copies);
        struct stress_fault fault = {.null = session->null};
        pid_t process = status->processes[member][copy];
        bool done;
        if (status->areas[member] != STRESS_IO || process == 0)
            continue;
        TRY(fault_call(process, &fault, &text, &done));
        if (!done)
            continue;
        session->waiting--;
        running->functions_before = status->functions;
        return stress_session_note(session, STRESS_IO, member, copy, &text);
    }
    return NULL;
}

// ---- The run ----

static struct error *take_sample(struct running *running)
{
    const struct load_status *status = running->load.status;
    bool inject;
    enum stress_area area;
    TRY(list_copies(status, &running->options->load, &running->session.processes));
    TRY(stress_session_sample(&running->session, status->repairing != 0, &inject, &area));
    return inject ? inject_into_process(running, area) : NULL;
}

static struct error *follow(struct running *running, bool null, struct stress_result *result)
{
    struct load_status *status = running->load.status;
    struct stress_session *session = &running->session;
    TRY(wait_for_load(&running->load, running->options->stop));
    TRY(stress_session_open(running->options, null, running->options->load.copies, false, result,
                            session));
    session->began_ns = status->started_ns;
    TRY(list_copies(status, &running->options->load, &session->processes));
    TRY(measure_begin(&session->measure, &session->processes));
    while (!load_has_ended(&running->load)) {
        TRY(pause_for(running->options->stop, STRESS_TICK_NS));
        if (session->waiting != 0 && status->repairing == 0)
            TRY(inject_waiting(running));
        if (clock_ns() >= session->next_sample_ns)
            TRY(take_sample(running));
    }
    return load_trouble(&running->load);
}

static struct error *take_result(const struct running *running, struct stress_result *result)
{
    const struct load_status *status = running->load.status;
    result->failed = status->failed;
    result->elapsed_ns = status->elapsed_ns;
    result->functions = status->functions;
    result->sum = status->sum;
    for (unsigned i = 0; i < LOAD_ERRORS; i++)
        result->errors[i] = status->errors[i];
    result->repaired = status->repaired;
    memcpy(result->units, status->units, sizeof result->units);
    result->pending = running->session.waiting;
    for (unsigned i = 0; i < status->noticed_count; i++) {
        struct load_noticed *noticed = ARRAY_ADD(&result->noticed);
        if (noticed == NULL)
            return error_no_memory();
        *noticed = status->noticed[i];
    }
    return NULL;
}

struct error *stress_run(const struct stress_options *options, bool null,
                         struct stress_result *ret_result)
{
    *ret_result = (struct stress_result){0};
    struct running running = {.options = options};
    TRY(load_start(&options->load, &running.load));
    struct error *error = follow(&running, null, ret_result);
    if (error == NULL)
        error = take_result(&running, ret_result);
    stress_session_close(&running.session);
    load_end(&running.load);
    return error;
}

// ---- Calibration ----

static struct error *sample_mix(const struct load_options *options, uint64_t time_ns, int stop,
                                struct load *load, struct measure *measure, stress_samples *samples)
{
    pid_list processes = {0};
    struct error *error = NULL;
    TRY(wait_for_load(load, stop));
    TRY(measure_open(options->copies, false, measure));
    uint64_t until = clock_ns() + time_ns;
    error = list_copies(load->status, options, &processes);
    if (error == NULL)
        error = measure_begin(measure, &processes);
    while (error == NULL && clock_ns() < until && !load_has_ended(load)) {
        struct stress_sample sample;
        error = pause_for(stop, STRESS_SAMPLE_PAUSE_NS);
        if (error == NULL)
            error = list_copies(load->status, options, &processes);
        if (error == NULL)
            error = measure_take(measure, &processes, &sample);
        if (error == NULL)
            error = stress_samples_add(samples, &sample);
    }
    ARRAY_DEINIT(&processes);
    return error == NULL && load_has_ended(load) ? load_trouble(load) : error;
}

struct error *stress_calibrate(const struct load_options *load, uint64_t time_ns, int stop,
                               struct stress_range *ret_range, uint64_t ret_units[STRESS_AREAS],
                               enum measure_memory *ret_memory, size_t *ret_samples)
{
    static const double mixes[][STRESS_AREAS] = {
        {33, 33, 33}, {20, 20, 60}, {20, 60, 20}, {60, 20, 20}};
    stress_samples samples = {0};
    struct error *error = NULL;
    for (size_t i = 0; i < sizeof mixes / sizeof *mixes && error == NULL; i++) {
        struct load_options options = *load;
        struct load running;
        struct measure measure = {0};
        memcpy(options.mix, mixes[i], sizeof options.mix);
        options.functions = UINT64_MAX - 1;
        memcpy(options.units, i == 0 ? load->units : ret_units, sizeof options.units);
        options.intensity[0] = options.intensity[1] = 100;
        error = load_start(&options, &running);
        if (error != NULL)
            break;
        error = sample_mix(&options, time_ns, stop, &running, &measure, &samples);
        memcpy(ret_units, running.status->units, STRESS_AREAS * sizeof *ret_units);
        *ret_memory = measure.memory;
        measure_close(&measure);
        load_end(&running);
    }
    *ret_samples = samples.count;
    if (error == NULL)
        error = stress_range_of(&samples, ret_range);
    ARRAY_DEINIT(&samples);
    return error;
}
