// SPDX-License-Identifier: GPL-3.0-or-later
// The controller's side of the job slots.
#include "campaign/pool.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "campaign/message.h"
#include "campaign/slot.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

// Setup, pretest, posttest and oracle have their own times, of which only the user knows.
#define PATIENCE_NS   (600 * 1000000000ull)
#define FAREWELL_NS   3000000000ull
#define DEATHS_IN_ROW 20 // slots that die without a result in between before the pool gives up

struct pool_slot {
    pid_t pid; // 0: none
    int socket;
    bool busy;
    struct pool_job job; // spec is NULL
    uint64_t deadline_ns;
    struct buffer in;
};

struct pool {
    struct slot_task task;
    uint64_t patience_ns;
    unsigned count, busy, next; // next: whose turn it is to be looked at first
    unsigned deaths;
    struct buffer out;
    struct pollfd *polled;
    struct pool_slot slots[];
};

void pool_result_deinit(struct pool_result *result)
{
    judgement_deinit(&result->judgement);
    observation_deinit(&result->observation);
    free(result->stack);
    free(result->output);
    *result = (struct pool_result){0};
}

static struct error *slot_begin(struct pool *pool, struct pool_slot *slot)
{
    slot->in.size = 0;
    slot->busy = false;
    return slot_start(&pool->task, &slot->pid, &slot->socket);
}

// Ends the process, if it has not ended by itself; *ret_status as of waitpid().
static void slot_end(struct pool_slot *slot, int *ret_status)
{
    *ret_status = 0;
    if (slot->pid == 0)
        return;
    kill(slot->pid, SIGKILL);
    while (waitpid(slot->pid, ret_status, 0) < 0 && errno == EINTR)
        ;
    close(slot->socket);
    slot->pid = 0;
    slot->socket = -1;
}

struct error *pool_new(const struct definition *definition, const struct injector *injector,
                       const void *leader, const struct reference *reference,
                       const definition_words *switchable, unsigned jobs, struct pool **ret_pool)
{
    struct pool *pool = calloc(1, sizeof *pool + jobs * sizeof *pool->slots);
    if (pool == NULL)
        return error_no_memory();
    pool->task = (struct slot_task){definition, injector, leader, reference, switchable};
    pool->patience_ns = PATIENCE_NS;
    pool->polled = calloc(jobs, sizeof *pool->polled);
    struct error *error = pool->polled == NULL ? error_no_memory() : NULL;
    while (error == NULL && pool->count < jobs) {
        error = slot_begin(pool, &pool->slots[pool->count]);
        if (error == NULL)
            pool->count++;
    }
    if (error != NULL) {
        pool_free(pool);
        return error;
    }
    *ret_pool = pool;
    return NULL;
}

// An idle slot that hears no more from us removes what its sandbox has made and ends.
static void let_go(struct pool_slot *slot, uint64_t deadline_ns)
{
    struct pollfd polled = {.fd = slot->socket, .events = POLLIN};
    for (;;) {
        uint64_t now = clock_ns();
        int left = now < deadline_ns ? (int)((deadline_ns - now) / 1000000) : 0;
        int ready = poll(&polled, 1, left);
        char byte;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0 || recv(slot->socket, &byte, 1, MSG_DONTWAIT) <= 0)
            return;
    }
}

void pool_free(struct pool *pool)
{
    if (pool == NULL)
        return;
    // All at once: each takes its targets with it, which takes a moment.
    for (unsigned i = 0; i < pool->count; i++) {
        if (pool->slots[i].pid != 0 && pool->slots[i].busy)
            kill(pool->slots[i].pid, SIGKILL);
        else if (pool->slots[i].pid != 0)
            shutdown(pool->slots[i].socket, SHUT_WR);
    }
    uint64_t deadline = clock_ns() + FAREWELL_NS;
    for (unsigned i = 0; i < pool->count; i++)
        if (pool->slots[i].pid != 0 && !pool->slots[i].busy)
            let_go(&pool->slots[i], deadline);
    for (unsigned i = 0; i < pool->count; i++) {
        int status;
        slot_end(&pool->slots[i], &status);
        buffer_deinit(&pool->slots[i].in);
    }
    buffer_deinit(&pool->out);
    free(pool->polled);
    free(pool);
}

void pool_set_patience(struct pool *pool, uint64_t ns)
{
    pool->patience_ns = ns;
}

unsigned pool_idle(const struct pool *pool)
{
    return pool->count - pool->busy;
}

unsigned pool_busy(const struct pool *pool)
{
    return pool->busy;
}

// A slot that does not take a message so small is as good as dead; pool_wait() will find that out.
static void send_job(struct pool_slot *slot, const struct buffer *message)
{
    for (size_t done = 0; done < message->size;) {
        ssize_t sent = send(slot->socket, message->data + done, message->size - done, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return;
        done += (size_t)sent;
    }
}

struct error *pool_submit(struct pool *pool, const struct pool_job *job)
{
    struct pool_slot *slot = NULL;
    for (unsigned i = 0; i < pool->count && slot == NULL; i++)
        if (!pool->slots[i].busy)
            slot = &pool->slots[i];
    if (slot == NULL)
        return error_new("no job slot is idle");
    pool->out.size = 0;
    TRY(message_put_job(&pool->out, job));
    send_job(slot, &pool->out);
    slot->job = *job;
    slot->job.spec = NULL;
    slot->busy = true;
    slot->deadline_ns = clock_ns() + pool->patience_ns;
    pool->busy++;
    return NULL;
}

static struct error *tell_death(int status, const char *why, char **ret_reason)
{
    struct buffer text = {0};
    struct error *error;
    if (why != NULL)
        error = buffer_printf(&text, "the process that led the trial was ended: %s", why);
    else if (WIFSIGNALED(status))
        error = buffer_printf(&text, "the process that led the trial was killed by signal %d (%s)",
                              WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        error = buffer_printf(&text, "the process that led the trial ended with status %d",
                              WEXITSTATUS(status));
    if (error != NULL) {
        buffer_deinit(&text);
        return error;
    }
    *ret_reason = text.data;
    return NULL;
}

// Ends a slot and starts another in its place. Its shot, if it had one, is the result.
static struct error *replace(struct pool *pool, struct pool_slot *slot, const char *why,
                             bool *ret_got, struct pool_result *ret_result)
{
    int status;
    bool busy = slot->busy;
    slot_end(slot, &status);
    _cleanup_free_ char *reason = NULL;
    TRY(tell_death(status, why, &reason));
    if (++pool->deaths > DEATHS_IN_ROW)
        return error_new("%u job slots died one after the other; the last time, %s", pool->deaths,
                         reason);
    TRY(slot_begin(pool, slot));
    if (!busy)
        return NULL;
    pool->busy--;
    *ret_got = true;
    *ret_result = (struct pool_result){
        .job = slot->job,
        .judgement = {.verdict = VERDICT_INVALID, .reason = TAKE(reason)},
    };
    return NULL;
}

// One whole message is in slot->in.
static struct error *take_result(struct pool *pool, struct pool_slot *slot, size_t size,
                                 bool *ret_got, struct pool_result *ret_result)
{
    bool refused;
    struct error *error = message_get_result(slot->in.data, size, ret_result, &refused);
    if (error != NULL && refused)
        return error_prefix(error, "a job slot cannot work");
    if (error == NULL &&
        (!slot->busy || slot->in.size != size || ret_result->job.tag != slot->job.tag)) {
        pool_result_deinit(ret_result);
        error = error_new("it answered what it was not asked");
    }
    if (error != NULL) {
        struct error *second = replace(pool, slot, error_message(error), ret_got, ret_result);
        error_free(error);
        return second;
    }
    ret_result->job = slot->job; // ours is the one to believe
    slot->in.size = 0;
    slot->busy = false;
    pool->busy--;
    pool->deaths = 0;
    *ret_got = true;
    return NULL;
}

static struct error *hear(struct pool *pool, struct pool_slot *slot, bool *ret_got,
                          struct pool_result *ret_result)
{
    char bytes[16384];
    ssize_t got = recv(slot->socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return NULL;
    if (got <= 0)
        return replace(pool, slot, NULL, ret_got, ret_result);
    TRY(buffer_append(&slot->in, bytes, (size_t)got));
    size_t size;
    struct error *error = message_size(slot->in.data, slot->in.size, &size);
    if (error != NULL) {
        struct error *second = replace(pool, slot, error_message(error), ret_got, ret_result);
        error_free(error);
        return second;
    }
    if (size == 0 || slot->in.size < size)
        return NULL;
    return take_result(pool, slot, size, ret_got, ret_result);
}

// How long until the first slot counts as stuck, but at most `timeout_ms`.
static int wait_time(const struct pool *pool, int timeout_ms)
{
    if (pool->busy == 0)
        return timeout_ms;
    uint64_t first = UINT64_MAX, now = clock_ns();
    for (unsigned i = 0; i < pool->count; i++)
        if (pool->slots[i].busy && pool->slots[i].deadline_ns < first)
            first = pool->slots[i].deadline_ns;
    if (first <= now)
        return 0;
    uint64_t ms = (first - now) / 1000000 + 1;
    return timeout_ms < 0 || ms < (uint64_t)timeout_ms ? (int)(ms > 60000 ? 60000 : ms)
                                                       : timeout_ms;
}

static struct error *end_stuck(struct pool *pool, bool *ret_got, struct pool_result *ret_result)
{
    uint64_t now = clock_ns();
    for (unsigned i = 0; i < pool->count; i++) {
        struct pool_slot *slot = &pool->slots[i];
        if (!slot->busy || slot->deadline_ns > now)
            continue;
        char why[64];
        snprintf(why, sizeof why, "no answer after %.3g s", (double)pool->patience_ns / 1e9);
        return replace(pool, slot, why, ret_got, ret_result);
    }
    return NULL;
}

struct error *pool_wait(struct pool *pool, int timeout_ms, bool *ret_got,
                        struct pool_result *ret_result)
{
    *ret_got = false;
    for (unsigned i = 0; i < pool->count; i++)
        pool->polled[i] = (struct pollfd){.fd = pool->slots[i].socket, .events = POLLIN};
    int ready = poll(pool->polled, pool->count, wait_time(pool, timeout_ms));
    if (ready < 0 && errno != EINTR)
        return error_from_errno(errno, "cannot wait for job slots");
    if (ready <= 0)
        return end_stuck(pool, ret_got, ret_result);
    for (unsigned n = 0; n < pool->count && !*ret_got; n++) {
        unsigned i = (pool->next + n) % pool->count;
        if (pool->polled[i].revents == 0)
            continue;
        TRY(hear(pool, &pool->slots[i], ret_got, ret_result));
        if (*ret_got)
            pool->next = (i + 1) % pool->count;
    }
    return NULL;
}
