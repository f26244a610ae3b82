// SPDX-License-Identifier: GPL-3.0-or-later
// The controller's side of the job slots: starts them, hands out jobs, collects results, and
// replaces slots that die or get stuck.
#include "engine/pool.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/processes.h"
#include "base/timeouts.h"
#include "engine/slot-message.h"
#include "engine/slot.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define LOT           16 // so many jobs of a lot add one more `stuck_ns` to its deadline
#define DEATHS_IN_ROW 20 // the pool gives up after so many deaths without a result in between

struct pool_slot {
    pid_t pid; // 0: none
    int socket;
    ARRAY(struct engine_job) jobs; // jobs without a result yet; their spec is NULL
    struct buffer ahead;           // the message with the job that waits behind the first, if any
    bool lot;                      // the jobs came together
    uint64_t deadline_ns;
    struct buffer in;
};

struct pool {
    struct engine_task task;
    uint64_t stuck_ns;
    ARRAY(struct engine_result) lost; // results of slots that died with several jobs
    unsigned count, busy, next;       // next: the slot to look at first
    unsigned deaths;
    bool ahead; // slots may have a second job that waits
    struct buffer out;
    struct pollfd *polled;
    struct pool_slot slots[];
};

static struct error *slot_begin(struct pool *pool, struct pool_slot *slot)
{
    slot->in.size = 0;
    return slot_start(&pool->task, &slot->pid, &slot->socket);
}

// Kills the process, if it has not ended by itself, and waits for it. *ret_status as of waitpid().
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

static void pool_end(void *self);

static struct error *pool_start(const struct engine_options *options, void **ret_self)
{
    struct pool *pool = calloc(1, sizeof *pool + options->workers * sizeof *pool->slots);
    if (pool == NULL)
        return error_no_memory();
    pool->task = options->task;
    pool->stuck_ns = options->stuck_ns != 0 ? options->stuck_ns : SLOT_WAIT_NS;
    pool->ahead = options->ahead;
    pool->polled = calloc(options->workers, sizeof *pool->polled);
    struct error *error = pool->polled == NULL ? error_no_memory() : NULL;
    while (error == NULL && pool->count < options->workers) {
        error = slot_begin(pool, &pool->slots[pool->count]);
        if (error == NULL)
            pool->count++;
    }
    if (error != NULL) {
        pool_end(pool);
        return error;
    }
    *ret_self = pool;
    return NULL;
}

// Waits for an idle slot that was told to end: it removes what its sandbox has made and exits.
static void wait_for_exit(struct pool_slot *slot, uint64_t deadline_ns)
{
    struct pollfd polled = {.fd = slot->socket, .events = POLLIN};
    for (;;) {
        uint64_t now_ns = clock_ns(), left_ns = now_ns < deadline_ns ? deadline_ns - now_ns : 0;
        int ready = poll(&polled, 1, clock_poll_ms(left_ns));
        char byte;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0 || recv(slot->socket, &byte, 1, MSG_DONTWAIT) <= 0)
            return;
    }
}

// Ends the orphans of killed slots. Without a process tree of its own, what a killed slot ran is
// our child now. Children that we had before are not touched.
static void end_orphans(const pid_list *before)
{
    uint64_t deadline_ns = clock_ns() + SLOT_FAREWELL_WAIT_NS;
    while (clock_ns() < deadline_ns) {
        size_t count = 0, refused = 0;
        pid_list now = {0};
        error_free(processes_signal(SIGKILL, before, &count, &refused));
        error_free(processes_children(&now));
        for (size_t i = 0; i < now.count; i++) {
            bool known = false;
            for (size_t j = 0; j < before->count; j++)
                known |= before->items[j] == now.items[i];
            if (!known)
                waitpid(now.items[i], NULL, WNOHANG);
        }
        ARRAY_DEINIT(&now);
        if (count == refused)
            return; // nobody is left that we may kill
        clock_sleep(KILL_PAUSE_NS);
    }
}

// Makes us the parent of all orphans below, and lists the children that we have now. If the list is
// incomplete, nobody is ended.
static struct error *adopt(int *ret_adopted, pid_list *ret_children)
{
    if (prctl(PR_GET_CHILD_SUBREAPER, ret_adopted) < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return error_from_errno(errno, "cannot adopt processes");
    return processes_children(ret_children);
}

static void pool_end(void *self)
{
    struct pool *pool = self;
    if (pool == NULL)
        return;
    pid_list children = {0};
    int adopted = 1;
    struct error *error = pool->busy != 0 ? adopt(&adopted, &children) : NULL;
    // Tell all slots first: each takes a moment to end its targets.
    for (unsigned i = 0; i < pool->count; i++) {
        if (pool->slots[i].pid != 0 && pool->slots[i].jobs.count != 0)
            kill(pool->slots[i].pid, SIGKILL);
        else if (pool->slots[i].pid != 0)
            shutdown(pool->slots[i].socket, SHUT_WR);
    }
    uint64_t deadline_ns = clock_ns() + SLOT_FAREWELL_WAIT_NS;
    for (unsigned i = 0; i < pool->count; i++)
        if (pool->slots[i].pid != 0 && pool->slots[i].jobs.count == 0)
            wait_for_exit(&pool->slots[i], deadline_ns);
    for (unsigned i = 0; i < pool->count; i++) {
        int status;
        slot_end(&pool->slots[i], &status);
        buffer_deinit(&pool->slots[i].in);
        buffer_deinit(&pool->slots[i].ahead);
        ARRAY_DEINIT(&pool->slots[i].jobs);
    }
    if (error == NULL && children.count != 0)
        end_orphans(&children);
    if (adopted == 0)
        prctl(PR_SET_CHILD_SUBREAPER, 0);
    error_free(error);
    ARRAY_DEINIT(&children);
    for (size_t i = 0; i < pool->lost.count; i++)
        engine_result_deinit(&pool->lost.items[i]);
    ARRAY_DEINIT(&pool->lost);
    buffer_deinit(&pool->out);
    free(pool->polled);
    free(pool);
}

// A slot with a lot takes any message for the order to stop, so it gets no second job.
static bool can_wait_behind(const struct pool *pool, const struct pool_slot *slot)
{
    return pool->ahead && slot->jobs.count == 1 && !slot->lot;
}

static struct engine_load pool_load(const void *self)
{
    const struct pool *pool = self;
    struct engine_load load = {.idle = pool->count - pool->busy,
                               .busy = pool->busy + (unsigned)pool->lost.count};
    load.room = load.idle;
    for (unsigned i = 0; i < pool->count; i++)
        load.room += can_wait_behind(pool, &pool->slots[i]);
    return load;
}

// A slot that does not take such a small message is as good as dead. pool_take() will notice.
static void send_job(struct pool_slot *slot, const struct buffer *message)
{
    error_free(slot_message_send(slot->socket, message));
}

static struct error *add_jobs(struct pool *pool, struct pool_slot *slot,
                              const struct engine_job *jobs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct engine_job *job = ARRAY_ADD(&slot->jobs);
        if (job == NULL)
            return error_no_memory();
        *job = jobs[i];
        job->spec = NULL;
        TRY(slot_message_put_job(&pool->out, &jobs[i], (uint32_t)(count - 1 - i)));
    }
    return NULL;
}

static struct pool_slot *choose_slot(struct pool *pool, size_t count)
{
    for (unsigned i = 0; i < pool->count; i++)
        if (pool->slots[i].jobs.count == 0)
            return &pool->slots[i];
    for (unsigned i = 0; i < pool->count && count == 1; i++)
        if (can_wait_behind(pool, &pool->slots[i]))
            return &pool->slots[i];
    return NULL;
}

static struct error *pool_offer(void *self, const struct engine_job *jobs, size_t count)
{
    struct pool *pool = self;
    struct pool_slot *slot = choose_slot(pool, count);
    if (slot == NULL)
        return error_new("no job slot is idle");
    size_t before = slot->jobs.count;
    pool->out.size = 0;
    struct error *error = add_jobs(pool, slot, jobs, count);
    slot->ahead.size = 0;
    if (error == NULL && before != 0)
        error = buffer_append(&slot->ahead, pool->out.data, pool->out.size);
    if (error != NULL) {
        slot->jobs.count = before;
        return error;
    }
    send_job(slot, &pool->out);
    slot->lot = count > 1;
    if (before != 0)
        return NULL;
    slot->deadline_ns = clock_ns() + pool->stuck_ns * (1 + count / LOT);
    pool->busy++;
    return NULL;
}

static struct error *pool_withdraw(void *self)
{
    struct pool *pool = self;
    pool->out.size = 0;
    TRY(slot_message_put_job(&pool->out, &(struct engine_job){0}, 0));
    for (unsigned i = 0; i < pool->count; i++)
        if (pool->slots[i].jobs.count > 1 && pool->slots[i].lot)
            send_job(&pool->slots[i], &pool->out);
    return NULL;
}

static struct error *describe_death(int status, const char *why, char **ret_reason)
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

static struct error *add_lost(struct pool *pool, const struct engine_job *job, const char *reason)
{
    struct engine_result *result = ARRAY_ADD(&pool->lost);
    if (result == NULL)
        return error_no_memory();
    result->job = *job;
    result->judgement.verdict = VERDICT_INVALID;
    result->judgement.reason = strdup(reason);
    return result->judgement.reason == NULL ? error_no_memory() : NULL;
}

// Ends a slot and starts another in its place. The slot's jobs are lost, except one that waited and
// has not begun.
static struct error *replace(struct pool *pool, struct pool_slot *slot, const char *why)
{
    int status;
    slot_end(slot, &status);
    _cleanup_free_ char *reason = NULL;
    TRY(describe_death(status, why, &reason));
    if (++pool->deaths > DEATHS_IN_ROW)
        return error_new("%u job slots died one after the other; the last time, %s", pool->deaths,
                         reason);
    TRY(slot_begin(pool, slot));
    if (slot->jobs.count == 0)
        return NULL;
    size_t kept = slot->ahead.size != 0, lost = slot->jobs.count - kept;
    for (size_t i = 0; i < lost; i++)
        TRY(add_lost(pool, &slot->jobs.items[i], reason));
    slot->jobs.count = kept;
    pool->busy -= kept == 0;
    if (kept == 0)
        return NULL;
    slot->jobs.items[0] = slot->jobs.items[lost];
    send_job(slot, &slot->ahead);
    slot->ahead.size = 0;
    slot->deadline_ns = clock_ns() + pool->stuck_ns;
    return NULL;
}

static struct error *replace_for(struct pool *pool, struct pool_slot *slot, struct error *error)
{
    struct error *second = replace(pool, slot, error_message(error));
    error_free(error);
    return second;
}

static struct engine_job *find_job(struct pool_slot *slot, uint64_t tag)
{
    for (size_t i = 0; i < slot->jobs.count; i++)
        if (slot->jobs.items[i].tag == tag)
            return &slot->jobs.items[i];
    return NULL;
}

// Takes the result in the whole message at the start of slot->in.
static struct error *take_result(struct pool *pool, struct pool_slot *slot, size_t size,
                                 bool *ret_got, struct engine_result *ret_result)
{
    bool refused;
    struct error *error = slot_message_get_result(slot->in.data, size, ret_result, &refused);
    if (error != NULL && refused)
        return error_prefix(error, "a job slot cannot work");
    if (error != NULL)
        return replace_for(pool, slot, error);
    struct engine_job *job = find_job(slot, ret_result->job.tag);
    if (job == NULL) {
        engine_result_deinit(ret_result);
        return replace_for(pool, slot, error_new("it answered what it was not asked"));
    }
    ret_result->job = *job; // our copy is the trusted one
    *job = slot->jobs.items[--slot->jobs.count];
    pool->busy -= slot->jobs.count == 0;
    if (slot->ahead.size != 0)
        slot->deadline_ns = clock_ns() + pool->stuck_ns;
    slot->ahead.size = 0;
    slot->in.size -= size;
    memmove(slot->in.data, slot->in.data + size, slot->in.size);
    pool->deaths = 0;
    *ret_got = true;
    return NULL;
}

// Takes a result from what was received already, if that is a whole message.
static struct error *take_message(struct pool *pool, struct pool_slot *slot, bool *ret_got,
                                  struct engine_result *ret_result)
{
    size_t size;
    struct error *error = slot_message_size(slot->in.data, slot->in.size, &size);
    if (error != NULL)
        return replace_for(pool, slot, error);
    if (size == 0 || slot->in.size < size)
        return NULL;
    return take_result(pool, slot, size, ret_got, ret_result);
}

static struct error *receive(struct pool *pool, struct pool_slot *slot, bool *ret_got,
                             struct engine_result *ret_result)
{
    char bytes[16384];
    ssize_t got = recv(slot->socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return NULL;
    if (got <= 0)
        return replace(pool, slot, NULL);
    TRY(buffer_append(&slot->in, bytes, (size_t)got));
    return take_message(pool, slot, ret_got, ret_result);
}

// Takes a result without waiting: from a slot that sent several, or of one that died.
static struct error *take_waiting(struct pool *pool, bool *ret_got,
                                  struct engine_result *ret_result)
{
    for (unsigned i = 0; i < pool->count && !*ret_got; i++)
        TRY(take_message(pool, &pool->slots[i], ret_got, ret_result));
    if (*ret_got || pool->lost.count == 0)
        return NULL;
    *ret_result = pool->lost.items[--pool->lost.count];
    *ret_got = true;
    return NULL;
}

// How long until the first slot counts as stuck, but at most `timeout_ns`.
static uint64_t until_stuck_ns(const struct pool *pool, uint64_t timeout_ns)
{
    if (pool->busy == 0)
        return timeout_ns;
    uint64_t first_ns = UINT64_MAX, now_ns = clock_ns();
    for (unsigned i = 0; i < pool->count; i++)
        if (pool->slots[i].jobs.count != 0 && pool->slots[i].deadline_ns < first_ns)
            first_ns = pool->slots[i].deadline_ns;
    uint64_t left_ns = first_ns > now_ns ? first_ns - now_ns : 0;
    if (left_ns > SLOT_STUCK_PAUSE_NS)
        left_ns = SLOT_STUCK_PAUSE_NS;
    return left_ns < timeout_ns ? left_ns : timeout_ns;
}

static struct error *end_stuck(struct pool *pool)
{
    uint64_t now_ns = clock_ns();
    for (unsigned i = 0; i < pool->count; i++) {
        struct pool_slot *slot = &pool->slots[i];
        if (slot->jobs.count == 0 || slot->deadline_ns > now_ns)
            continue;
        char why[64];
        snprintf(why, sizeof why, "no answer after %.3g s", clock_seconds(pool->stuck_ns));
        return replace(pool, slot, why);
    }
    return NULL;
}

static struct error *pool_take(void *self, uint64_t timeout_ns, bool *ret_got,
                               struct engine_result *ret_result)
{
    struct pool *pool = self;
    *ret_got = false;
    TRY(take_waiting(pool, ret_got, ret_result));
    if (*ret_got)
        return NULL;
    for (unsigned i = 0; i < pool->count; i++)
        pool->polled[i] = (struct pollfd){.fd = pool->slots[i].socket, .events = POLLIN};
    int ready = poll(pool->polled, pool->count, clock_poll_ms(until_stuck_ns(pool, timeout_ns)));
    if (ready < 0 && errno != EINTR)
        return error_from_errno(errno, "cannot wait for job slots");
    if (ready <= 0) {
        TRY(end_stuck(pool));
        return take_waiting(pool, ret_got, ret_result);
    }
    for (unsigned n = 0; n < pool->count && !*ret_got; n++) {
        unsigned i = (pool->next + n) % pool->count;
        if (pool->polled[i].revents == 0)
            continue;
        TRY(receive(pool, &pool->slots[i], ret_got, ret_result));
        if (*ret_got)
            pool->next = (i + 1) % pool->count;
    }
    return *ret_got ? NULL : take_waiting(pool, ret_got, ret_result);
}

const struct engine engine_local = {
    .name = "local",
    .start = pool_start,
    .end = pool_end,
    .load = pool_load,
    .offer = pool_offer,
    .withdraw = pool_withdraw,
    .take = pool_take,
};
