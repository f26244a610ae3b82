// SPDX-License-Identifier: GPL-3.0-or-later
// Runs many jobs of a slot in one life of a server: it asks for the next job while the server
// lives. The life ends with the first fault that did harm, because the server is then not what it
// was.
#include "engine/slot-internal.h"

#include "engine/server-orders.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW 512 // specs that one life of the server is prepared for

struct session {
    struct slot *slot;
    struct slot_job *job;
    const char *specs[WINDOW];
    size_t count;
    uint32_t rounds;     // rounds asked for so far
    bool open;           // the job has no answer yet
    struct error *error; // of the callback
};

static size_t find(char *const *list, size_t count, const char *spec)
{
    size_t i = 0;
    while (i < count && strcmp(list[i], spec) != 0)
        i++;
    return i;
}

bool session_fits(const struct slot *slot, const char *spec)
{
    const struct words *all = slot->task->switchable;
    return all != NULL && find(all->items, all->count, spec) < all->count;
}

// Appends the number of the fault to the reason: "as the reference (fault 7 in this life of the
// server)".
static struct error *put_place(const struct session *session, struct engine_result *result)
{
    char *reason;
    if (asprintf(&reason, "%s (fault %u in this life of the server)", result->judgement.reason,
                 session->rounds) < 0)
        return error_no_memory();
    free(result->judgement.reason);
    result->judgement.reason = reason;
    result->round = session->rounds;
    return NULL;
}

static struct error *send_result(struct session *session, struct engine_result *result)
{
    TRY(put_place(session, result));
    session->open = false;
    slot_note_running(session->slot, NULL);
    return slot_send(session->slot, session->job, result, NULL);
}

static bool is_unharmed(const struct engine_result *result)
{
    return result->judgement.verdict == VERDICT_PASS ||
           result->judgement.verdict == VERDICT_NOT_ACTIVATED;
}

// Receives the next job. *ret_rule is its index among the specs, or SHOOTING_ENOUGH.
static struct error *next_job(struct session *session, int64_t *ret_rule)
{
    struct pollfd polled = {.fd = session->slot->socket, .events = POLLIN};
    size_t size;
    *ret_rule = SHOOTING_ENOUGH;
    if (session->rounds == SERVER_ROUNDS ||
        poll(&polled, 1, clock_poll_ms(SLOT_NEXT_JOB_WAIT_NS)) <= 0)
        return NULL;
    TRY(slot_receive(session->slot, &size));
    slot_job_deinit(session->job);
    if (size == 0)
        return NULL;
    TRY(slot_message_get_job(session->slot->in.data, size, session->job));
    session->open = true;
    size_t rule = find((char *const *)session->specs, session->count, session->job->spec);
    if (rule == session->count)
        return NULL;
    session->rounds++;
    slot_note_running(session->slot, session->job);
    *ret_rule = (int64_t)rule;
    return NULL;
}

static struct error *decide(struct session *session, struct outcome_run *run,
                            struct outcome_run *again, int64_t *ret_rule)
{
    _cleanup_(engine_result_deinit) struct engine_result result = {0}, after = {0};
    TRY(slot_judge(session->slot, run, &result));
    *ret_rule = SHOOTING_KEPT;
    if (!is_unharmed(&result))
        return NULL;
    TRY(slot_judge(session->slot, again, &after));
    *ret_rule = SHOOTING_KEPT_AGAIN;
    if (!is_unharmed(&after))
        return NULL;
    TRY(send_result(session, &result));
    return next_job(session, ret_rule);
}

static int64_t next(void *data, struct outcome_run *run, struct outcome_run *again)
{
    struct session *session = data;
    int64_t rule = SHOOTING_ENOUGH;
    struct error *error = decide(session, run, again, &rule);
    if (error == NULL)
        return rule;
    session->error = error;
    return SHOOTING_ENOUGH;
}

struct error *session_run(struct slot *slot, struct slot_job *job, bool *ret_more)
{
    const struct words *all = slot->task->switchable;
    struct session session = {.slot = slot, .job = job, .open = true, .rounds = 1};
    size_t first = find(all->items, all->count, job->spec);
    while (session.count < WINDOW && session.count < all->count) {
        session.specs[session.count] = all->items[(first + session.count) % all->count];
        session.count++;
    }
    const struct shooting_session how = {
        .specs = session.specs,
        .count = session.count,
        .seed = job->seed,
        .timeout_ns = reference_timeout_ns(slot->task->reference),
        .next = next,
        .data = &session,
    };
    _cleanup_(outcome_run_deinit) struct outcome_run run = {0};
    _cleanup_(engine_result_deinit) struct engine_result result = {0};
    uint32_t begun = 0;
    slot_note_running(slot, job);
    struct error *error = shooting_serve(slot->shooting, &how, &run, &begun);
    *ret_more = false;
    if (session.error != NULL) {
        error_free(error);
        return session.error;
    }
    if (!session.open)
        return error; // no job waits for an answer
    if (error != NULL)
        return slot_send(slot, job, &result, error);
    // The job does not fit into this life, or the server ended before its turn.
    bool fits = find((char *const *)session.specs, session.count, job->spec) < session.count;
    *ret_more = !fits || (session.rounds > begun && begun > 0);
    if (*ret_more)
        return NULL;
    TRY(slot_judge(slot, &run, &result));
    return send_result(&session, &result);
}
