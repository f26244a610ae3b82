// SPDX-License-Identifier: GPL-3.0-or-later
// A job slot's answer to several jobs at once: it takes them all, runs them as one batch that
// forks, and sends a result for each.
#include "engine/slot-internal.h"

#include "base/cleanup.h"
#include "engine/fork-batch.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

struct lot {
    ARRAY(struct slot_job) jobs;
    struct engine_result *results; // as many
};

static void lot_deinit(struct lot *lot)
{
    for (size_t i = 0; i < lot->jobs.count; i++) {
        slot_job_deinit(&lot->jobs.items[i]);
        if (lot->results != NULL)
            engine_result_deinit(&lot->results[i]);
    }
    ARRAY_DEINIT(&lot->jobs);
    free(lot->results);
}

// Runs a shot. One that could not be run is a result, too: invalid.
static struct error *shoot_or_invalid(void *data, const struct slot_job *job,
                                      struct engine_result *result)
{
    _cleanup_error_ struct error *error = slot_shoot(data, job, result);
    if (error == NULL)
        return NULL;
    engine_result_deinit(result);
    result->judgement.verdict = VERDICT_INVALID;
    result->judgement.reason = strdup(error_message(error));
    return result->judgement.reason == NULL ? error_no_memory() : NULL;
}

static void note_running(void *data, const struct slot_job *job)
{
    slot_note_running(data, job);
}

static struct error *judge_run(void *data, struct outcome_run *run, struct engine_result *result)
{
    return slot_judge(data, run, result);
}

// While we have jobs, the controller sends only one thing: that the rest is withdrawn.
static bool is_stopped(void *data)
{
    const struct slot *slot = data;
    struct pollfd polled = {.fd = slot->socket, .events = POLLIN};
    return slot->in.size > slot->taken || poll(&polled, 1, 0) > 0;
}

static struct error *run_lot(struct slot *slot, struct lot *lot)
{
    const struct fork_batch batch = {
        .shooting = slot->shooting,
        .reference = slot->task->reference,
        .jobs = lot->jobs.items,
        .count = lot->jobs.count,
        .first = !slot->checked,
        .stopped = is_stopped,
        .shoot = shoot_or_invalid,
        .running = note_running,
        .judge = judge_run,
        .data = slot,
    };
    lot->results = calloc(lot->jobs.count, sizeof *lot->results);
    if (lot->results == NULL)
        return error_no_memory();
    bool trusted = false;
    struct error *error = slot->distrusts ? NULL : fork_batch_run(&batch, lot->results, &trusted);
    // If the shared run fails, that says nothing about its trials: run each in full.
    for (size_t i = 0; i < lot->jobs.count && (slot->distrusts || error != NULL); i++) {
        engine_result_deinit(&lot->results[i]);
        TRY(shoot_or_invalid(slot, &lot->jobs.items[i], &lot->results[i]));
    }
    slot->distrusts |= !trusted;
    for (size_t i = 0; i < lot->jobs.count; i++)
        slot->checked |= lot->results[i].way == WAY_CHECKED;
    error_free(error);
    return NULL;
}

static struct error *take_job(struct slot *slot, struct lot *lot, bool *ret_got)
{
    size_t size;
    TRY(slot_receive(slot, &size));
    *ret_got = size != 0;
    if (size == 0)
        return NULL;
    struct slot_job *job = ARRAY_ADD(&lot->jobs);
    if (job == NULL)
        return error_no_memory();
    struct error *error = slot_message_get_job(slot->in.data, size, job);
    if (error != NULL)
        lot->jobs.count--;
    return error;
}

struct error *slot_answer_lot(struct slot *slot, struct slot_job *first)
{
    _cleanup_(lot_deinit) struct lot lot = {0};
    struct slot_job *job = ARRAY_ADD(&lot.jobs);
    if (job == NULL)
        return error_no_memory();
    *job = *first;
    first->spec = NULL;
    for (bool got = true; got && lot.jobs.items[lot.jobs.count - 1].more > 0;)
        TRY(take_job(slot, &lot, &got));
    TRY(run_lot(slot, &lot));
    for (size_t i = 0; i < lot.jobs.count; i++)
        TRY(slot_send(slot, &lot.jobs.items[i], &lot.results[i], NULL));
    return NULL;
}
