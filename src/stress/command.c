// SPDX-License-Identifier: GPL-3.0-or-later
// The command runs in a sandbox, whose ticks sample its processes and inject into them.
#include "stress/command.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"
#include "sandbox/digest.h"
#include "stress/session.h"
#include "stress/target.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

const char *const command_end_names[COMMAND_ENDS] = {"as before", "reported", "killed", "hung",
                                                     "wrong"};

struct following {
    const struct stress_options *options;
    struct stress_session session;
    stress_samples *samples; // of a calibration; NULL: faults are injected
    struct command_run *run;
    uint64_t started_ns, next_io_ns;
    volatile int ended; // early: interrupted, or an error
    struct error *error;
};

static void changes_deinit(command_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        free(changes->items[i].path);
    ARRAY_DEINIT(changes);
}

void command_run_deinit(struct command_run *run)
{
    changes_deinit(&run->changes);
}

// ---- Faults ----

// A process that runs now. Of those that did I/O since the last sample, if there are any.
static pid_t draw_process(struct stress_session *session, bool with_io)
{
    const struct measure *measure = &session->measure;
    pid_t drawn = 0;
    uint64_t seen = 0;
    for (size_t i = 0; i < measure->processes.count; i++)
        if ((!with_io || measure->processes.items[i].did_io) &&
            stats_random_below(&session->random, ++seen) == 0)
            drawn = measure->processes.items[i].process;
    return drawn == 0 && with_io ? draw_process(session, false) : drawn;
}

// Its name, as long as it has one.
static struct error *begin_text(pid_t process, struct buffer *text)
{
    char name[16];
    target_name(process, name);
    return buffer_printf(text, "%s: ", name);
}

static struct error *inject(struct stress_session *session, enum stress_area area)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    struct stress_fault fault = stress_session_draw(session);
    pid_t process = draw_process(session, false);
    bool done = false;
    uint64_t address;
    TRY(begin_text(process, &text));
    if (area == STRESS_CPU) {
        pid_t thread = process != 0 ? target_draw_thread(process, &session->random) : 0;
        if (thread != 0)
            TRY(fault_register(thread, &fault, &session->random, &text, &done));
    } else if (process != 0 && target_draw_byte(process, &session->random, &address)) {
        TRY(fault_byte(process, address, &fault, &session->random, &text, &done));
    }
    session->result->missed += !done;
    return done ? stress_session_note(session, area, 0, 0, &text) : NULL;
}

// Not several in a row: else a process meets them all before it can do anything about the first.
static struct error *inject_waiting(struct following *following)
{
    struct stress_session *session = &following->session;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    struct stress_fault fault = {.null = session->null};
    pid_t process = draw_process(session, true);
    pid_t thread = process != 0 ? target_draw_thread(process, &session->random) : 0;
    bool done = false;
    TRY(begin_text(process, &text));
    if (thread != 0)
        TRY(fault_call(thread, &fault, &text, &done));
    if (!done)
        return NULL;
    session->waiting--;
    following->next_io_ns = clock_ns() + STRESS_SAMPLE_PAUSE_NS;
    return stress_session_note(session, STRESS_IO, 0, 0, &text);
}

// ---- Beside the command ----

static struct error *list_processes(struct stress_session *session, pid_t command)
{
    session->processes.count = 0;
    return processes_below(command, &session->processes);
}

static struct error *look(struct following *following, pid_t command)
{
    struct stress_session *session = &following->session;
    struct pollfd stop = {following->options->stop, POLLIN, 0};
    struct stress_sample sample;
    enum stress_area area;
    bool due;
    if (poll(&stop, 1, 0) > 0)
        return error_new("interrupted");
    if (session->waiting != 0 && clock_ns() >= following->next_io_ns)
        TRY(inject_waiting(following));
    if (clock_ns() < session->next_sample_ns)
        return NULL;
    TRY(list_processes(session, command));
    if (following->samples != NULL) {
        session->next_sample_ns = clock_ns() + STRESS_SAMPLE_PAUSE_NS;
        TRY(measure_take(&session->measure, &session->processes, &sample));
        return stress_samples_add(following->samples, &sample);
    }
    TRY(stress_session_sample(session, false, &due, &area));
    return due ? inject(session, area) : NULL;
}

static uint64_t started(void *data, pid_t command)
{
    struct following *following = data;
    (void)command;
    following->started_ns = clock_ns();
    following->session.began_ns = following->started_ns;
    following->session.next_sample_ns = following->started_ns + STRESS_SAMPLE_PAUSE_NS;
    following->session.measure.last_ns = following->started_ns;
    return STRESS_TICK_NS;
}

static uint64_t tick(void *data, pid_t command, uint64_t ns)
{
    struct following *following = data;
    (void)ns;
    if (following->error == NULL)
        following->error = look(following, command);
    following->ended = following->error != NULL;
    return clock_ns() - following->started_ns + STRESS_TICK_NS;
}

// ---- What it did ----

static struct error *add_change(void *data, const struct sandbox_change *change)
{
    struct command_run *run = data;
    const uint64_t facts[] = {change->kind, change->size, change->hash, change->mode};
    struct command_change *added = ARRAY_ADD(&run->changes);
    if (added == NULL)
        return error_no_memory();
    *added = (struct command_change){.digest = digest_bytes(facts, sizeof facts),
                                     .path = strdup(change->path)};
    return added->path == NULL ? error_no_memory() : NULL;
}

static struct error *list_changes(void *data, struct sandbox *sandbox)
{
    struct following *following = data;
    return sandbox_each_change(sandbox, NULL, add_change, following->run);
}

static struct error *follow(const struct stress_command *command, struct following *following)
{
    _cleanup_(sandbox_result_deinit) struct sandbox_result result = {0};
    const struct sandbox_step step = {.command = command->words,
                                      .environment = command->environment,
                                      .input = -1,
                                      .timeout_ns = command->timeout_ns,
                                      .stop = &following->ended,
                                      .started = started,
                                      .tick = tick,
                                      .data = following};
    struct error *error =
        sandbox_run(command->sandbox, &step, 1, NULL, list_changes, following, &result);
    if (following->error != NULL) {
        error_free(error);
        return following->error;
    }
    if (error != NULL)
        return error;
    following->run->end = result.end;
    following->run->status = result.status;
    following->run->ns = result.ns;
    following->run->out = result.out.hash ^ result.out.size;
    following->run->err = result.err.hash ^ result.err.size;
    return NULL;
}

struct error *command_run_faulty(const struct stress_command *command,
                                 const struct stress_options *options, bool null,
                                 struct stress_result *ret_result, struct command_run *ret_run)
{
    struct following following = {.options = options, .run = ret_run};
    *ret_result = (struct stress_result){0};
    *ret_run = (struct command_run){0};
    TRY(stress_session_open(options, null, 1, true, ret_result, &following.session));
    struct error *error = follow(command, &following);
    ret_result->elapsed_ns = ret_run->ns;
    ret_result->pending = following.session.waiting;
    stress_session_close(&following.session);
    return error;
}

// ---- What it does without a fault ----

static struct command_change *find_change(command_changes *changes, const char *path)
{
    for (size_t i = 0; i < changes->count; i++)
        if (strcmp(changes->items[i].path, path) == 0)
            return &changes->items[i];
    return NULL;
}

// What one of two runs changed and the other did not varies, too.
static struct error *join(struct command_run *reference, const struct command_run *run)
{
    reference->out_varies |= run->out != reference->out;
    reference->err_varies |= run->err != reference->err;
    for (size_t i = 0; i < reference->changes.count; i++) {
        struct command_change *change = &reference->changes.items[i];
        const struct command_change *other =
            find_change((command_changes *)&run->changes, change->path);
        change->varies |= other == NULL || other->digest != change->digest;
    }
    for (size_t i = 0; i < run->changes.count; i++) {
        if (find_change(&reference->changes, run->changes.items[i].path) != NULL)
            continue;
        struct command_change *added = ARRAY_ADD(&reference->changes);
        if (added == NULL)
            return error_no_memory();
        *added =
            (struct command_change){.path = strdup(run->changes.items[i].path), .varies = true};
        if (added->path == NULL)
            return error_no_memory();
    }
    return NULL;
}

static struct error *run_reference(const struct stress_command *command,
                                   const struct stress_options *options, stress_samples *samples,
                                   enum measure_memory *ret_memory, struct command_run *ret_run)
{
    struct following following = {.options = options, .samples = samples, .run = ret_run};
    TRY(measure_open(1, true, &following.session.measure));
    *ret_memory = following.session.measure.memory;
    struct error *error = follow(command, &following);
    stress_session_close(&following.session);
    return error;
}

static struct error *check_reference(const struct command_run *run)
{
    if (run->end == SANDBOX_TIMEOUT)
        return error_new("without a fault the command does not end in time; --timeout gives it "
                         "more");
    return run->end == SANDBOX_SIGNAL
               ? error_new("without a fault the command is killed by signal %d", run->status)
               : NULL;
}

struct error *command_calibrate(const struct stress_command *command,
                                const struct stress_options *options, unsigned times,
                                struct stress_range *ret_range, enum measure_memory *ret_memory,
                                size_t *ret_samples, struct command_run *ret_reference)
{
    stress_samples samples = {0};
    struct error *error = NULL;
    for (unsigned i = 0; i < times && error == NULL; i++) {
        _cleanup_(command_run_deinit) struct command_run run = {0};
        struct command_run *place = i == 0 ? ret_reference : &run;
        error = run_reference(command, options, &samples, ret_memory, place);
        if (error == NULL)
            error = check_reference(place);
        if (error == NULL && i != 0 && run.status != ret_reference->status)
            error = error_new("without a fault the command ends with status %d, and then with %d",
                              ret_reference->status, run.status);
        if (error == NULL && i != 0)
            error = join(ret_reference, &run);
    }
    *ret_samples = samples.count;
    if (error == NULL && samples.count < 2)
        error = error_new("the command is over before its load can be measured: it must run for "
                          "half a second at least");
    if (error == NULL)
        error = stress_range_of(&samples, ret_range);
    ARRAY_DEINIT(&samples);
    return error;
}

// ---- Comparison ----

static bool same_changes(const struct command_run *run, const struct command_run *reference)
{
    size_t found = 0;
    for (size_t i = 0; i < run->changes.count; i++) {
        const struct command_change *change = &run->changes.items[i];
        const struct command_change *other =
            find_change((command_changes *)&reference->changes, change->path);
        if (other == NULL || (!other->varies && other->digest != change->digest))
            return false;
        found += !other->varies;
    }
    for (size_t i = 0; i < reference->changes.count; i++)
        found -= !reference->changes.items[i].varies;
    return found == 0; // all that are made each time
}

enum command_end command_compare(const struct command_run *run, const struct command_run *reference)
{
    if (run->end == SANDBOX_TIMEOUT)
        return COMMAND_HUNG;
    if (run->end == SANDBOX_SIGNAL)
        return COMMAND_KILLED;
    if (run->status != reference->status || (!reference->err_varies && run->err != reference->err))
        return COMMAND_REPORTED;
    if ((!reference->out_varies && run->out != reference->out) || !same_changes(run, reference))
        return COMMAND_WRONG;
    return COMMAND_AS_BEFORE;
}
