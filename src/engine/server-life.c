// SPDX-License-Identifier: GPL-3.0-or-later
// Tells the driver inside the sandbox what to do with a server, and makes the outcome of a run from
// the driver's report.
#include "engine/server-life.h"

#include "base/child.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/quote.h"
#include "base/timeouts.h"
#include "definition/server-words.h"
#include "engine/server-drive.h"
#include "oracle/hang.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#define FOREVER_NS (365 * 24 * 3600 * NS_PER_S)

struct server_life {
    const struct definition *definition;
    uint64_t timeout_ns, grace_ns;
    struct stop stop;
    // Of server and load, so that the sandbox sees the paths in them; ends with NULL.
    ARRAY(char *) words;
    int shared;
    struct server_state *state;
    size_t size;
};

static const char *stop_text(const struct definition *definition)
{
    return definition->service.stop != NULL ? definition->service.stop : "SIGTERM";
}

static struct error *add_words(struct server_life *life, const struct words *words)
{
    for (size_t i = 0; i < words->count; i++) {
        char **place = ARRAY_ADD(&life->words);
        if (place == NULL)
            return error_no_memory();
        *place = words->items[i];
    }
    return NULL;
}

static struct error *fill(struct server_life *life, const struct server_life_options *options)
{
    const struct definition *definition = options->definition;
    const struct service *service = &definition->service;
    TRY(stop_parse(stop_text(definition), &life->stop));
    TRY(add_words(life, &definition->command));
    TRY(add_words(life, &service->load));
    if (ARRAY_ADD(&life->words) == NULL)
        return error_no_memory();
    const struct server_orders orders = {
        .server =
            options->server_command != NULL ? options->server_command : definition->command.items,
        .server_environment = options->server_environment,
        .load = service->load.count != 0 ? service->load.items : NULL,
        .environment = options->environment,
        .ready = service->ready,
        .stop = stop_text(definition),
        .input = options->input,
        .ready_ns = life->timeout_ns,
        .load_ns = life->timeout_ns,
        .stop_ns = life->grace_ns,
        .rounds = options->rounds,
        .injector = options->injector != NULL ? options->injector : "",
        .switches = options->switches,
        .first_switch = options->first_switch,
        .switch_count = options->switch_count,
    };
    return server_state_open(&orders, &life->shared, &life->state, &life->size);
}

struct error *server_life_new(const struct server_life_options *options,
                              struct server_life **ret_life)
{
    struct server_life *life = calloc(1, sizeof *life);
    if (life == NULL)
        return error_no_memory();
    uint64_t grace_ns = options->definition->service.grace_ns;
    life->definition = options->definition;
    life->shared = -1;
    life->timeout_ns = options->timeout_ns != 0 ? options->timeout_ns : FOREVER_NS;
    life->grace_ns = grace_ns != 0 ? grace_ns : life->timeout_ns;
    struct error *error = fill(life, options);
    if (error != NULL) {
        server_life_free(life);
        return error;
    }
    *ret_life = life;
    return NULL;
}

void server_life_free(struct server_life *life)
{
    if (life == NULL)
        return;
    server_state_close(life->state, life->size);
    if (life->shared >= 0)
        close(life->shared);
    ARRAY_DEINIT(&life->words);
    free(life);
}

const struct server_state *server_life_state(const struct server_life *life)
{
    return life->state;
}

void server_life_fill(const struct server_life *life, struct sandbox_step *step)
{
    step->command = life->words.items;
    step->inside = server_drive;
    step->shared = life->shared;
    step->input = -1;
    step->timeout_ns =
        life->timeout_ns >= FOREVER_NS || life->grace_ns >= FOREVER_NS
            ? 0
            : (1 + SERVER_ROUNDS) * life->timeout_ns + life->grace_ns + SERVER_MARGIN_WAIT_NS;
}

bool server_life_is_late(const struct server_life *life)
{
    return atomic_load(&life->state->look) == SERVER_LATE;
}

uint64_t server_life_tick(struct server_life *life, pid_t pid, uint64_t ns, const char *root,
                          const struct injected_thread *injected, struct outcome_run *run)
{
    if (server_life_is_late(life)) {
        free(run->hang_stack);
        free(run->hang_key);
        pid_t server = hang_find_inner(pid, life->state->server);
        hang_look(server != 0 ? server : pid, root, injected, run);
        atomic_store(&life->state->look, SERVER_LOOKED);
    }
    return ns + SERVER_TICK_NS;
}

void server_life_ask(struct server_life *life, uint32_t rule)
{
    life->state->rule = rule;
    atomic_fetch_add(&life->state->wanted, 1);
}

void server_life_enough(struct server_life *life)
{
    atomic_store(&life->state->wanted, SERVER_ENOUGH);
}

static struct error *cut(const struct sandbox_stream *whole, uint64_t begin, uint64_t end,
                         struct sandbox_stream *ret_cut, bool *ret_there)
{
    *ret_there &= begin <= end && end <= whole->size && end <= whole->kept.size;
    if (!*ret_there || begin == end)
        return NULL;
    TRY(buffer_append(&ret_cut->kept, whole->kept.data + begin, end - begin));
    ret_cut->size = end - begin;
    ret_cut->hash = hash_bytes(ret_cut->kept.data, ret_cut->kept.size);
    return NULL;
}

struct error *server_life_cut(const struct server_load *load, bool to_end,
                              const struct sandbox_result *whole, struct sandbox_result *ret_cut,
                              bool *ret_there)
{
    uint64_t err_end = to_end ? whole->err.kept.size : load->err_end;
    *ret_there = true;
    TRY(cut(&whole->out, load->out_begin, load->out_end, &ret_cut->out, ret_there));
    return cut(&whole->err, load->err_begin, err_end, &ret_cut->err, ret_there);
}

int server_load_status(const struct server_load *load)
{
    return child_exit_status(load->status);
}

static const char *phase_word(enum server_phase phase)
{
    return phase == SERVER_START  ? "before it was ready"
           : phase == SERVER_LOAD ? "during the load"
                                  : "before it was told to stop";
}

static struct error *put_late(const struct server_life *life, struct buffer *text)
{
    const struct service *service = &life->definition->service;
    double seconds = clock_seconds(life->timeout_ns), grace = clock_seconds(life->grace_ns);
    switch (life->state->phase) {
    case SERVER_START:
        return buffer_printf(text, "the server was not ready (%s) after %.3g s", service->ready,
                             seconds);
    case SERVER_LOAD:
        return buffer_printf(text, "the server did not answer the load within %.3g s", seconds);
    default:
        if (life->stop.kind == STOP_NONE)
            return buffer_printf(text, "the server did not end within %.3g s of the load", grace);
        return buffer_printf(text, "the server did not stop within %.3g s of %s", grace,
                             life->stop.kind == STOP_SIGNAL ? outcome_signal_name(life->stop.signal)
                                                            : life->stop.command);
    }
}

// Whether the server ended as `stop` asked it to: by the signal itself, or with an exit status that
// stands for it.
static bool as_asked(const struct server_life *life, int status)
{
    // Signals with which commands stop a server.
    static const int usual[] = {SIGTERM, SIGKILL, SIGINT, SIGQUIT, SIGHUP};
    int number = life->stop.kind == STOP_SIGNAL ? life->stop.signal : 0;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        if (life->stop.kind == STOP_COMMAND && WIFSIGNALED(status) && WTERMSIG(status) == usual[i])
            return true;
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == number;
    return WEXITSTATUS(status) == 0 || (number != 0 && WEXITSTATUS(status) == 128 + number);
}

static void take_status(struct sandbox_result *result, int status)
{
    result->end = WIFSIGNALED(status) ? SANDBOX_SIGNAL : SANDBOX_EXIT;
    result->status = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

static struct error *put_gone(const struct server_life *life, const struct outcome_run *run,
                              struct buffer *text)
{
    TRY(buffer_printf(text, "the server ended by itself %s: ", phase_word(life->state->phase)));
    return outcome_put_end(text, &run->workload);
}

// Quotes the load's last line. Its output is mixed with what the server printed meanwhile.
static struct error *put_load_failed(const struct server_life *life, const struct outcome_run *run,
                                     struct buffer *text)
{
    const struct buffer *err = &run->workload.err.kept;
    const struct server_load *load = &life->state->rounds[life->state->begun - 1].load;
    TRY(buffer_printf(text, "the load ended with exit status %d", run->workload.status));
    if (load->err_begin > load->err_end || load->err_end > err->size)
        return NULL;
    return quote_put_last_line(text, "; it says: ", err->data + load->err_begin,
                               load->err_end - load->err_begin);
}

struct error *server_life_conclude(const struct server_life *life, struct outcome_run *run)
{
    const struct server_state *state = life->state;
    struct sandbox_result *result = &run->workload;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    run->serves = true;
    if (result->end != SANDBOX_EXIT) // the driver itself was killed or timed out
        return NULL;
    if (state->trouble[0] != '\0' || result->status != 0) {
        free(run->trouble);
        run->trouble =
            strdup(state->trouble[0] != '\0' ? state->trouble : "the server could not be led");
        return run->trouble == NULL ? error_no_memory() : NULL;
    }
    if (state->late) {
        result->end = SANDBOX_TIMEOUT;
        run->before_ready = state->phase == SERVER_START;
        run->down = run->before_ready && hang_waits_for_events(run);
        TRY(put_late(life, &text));
    } else if (state->gone) {
        take_status(result, state->status);
        run->before_ready = state->phase == SERVER_START;
        run->down = run->before_ready && result->end == SANDBOX_EXIT;
        run->exited_early = !run->down && result->end == SANDBOX_EXIT;
        TRY(put_gone(life, run, &text));
    } else {
        result->status =
            state->begun != 0 ? server_load_status(&state->rounds[state->begun - 1].load) : 0;
        bool expected = result->status == (int)life->definition->oracle.status;
        if (!expected && state->begun != 0)
            TRY(put_load_failed(life, run, &text));
        if (state->ended && (expected || WIFSIGNALED(state->status)) &&
            !as_asked(life, state->status))
            take_status(result, state->status);
    }
    if (text.data != NULL)
        run->service = TAKE(text.data);
    return NULL;
}
