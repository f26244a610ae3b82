// SPDX-License-Identifier: GPL-3.0-or-later
// The controller's side of the job slots: starts them, hands out jobs, collects results, and
// replaces slots that die or get stuck.
#include "engines/local/pool.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"
#include "engine/orphans.h"
#include "engine/slot-message.h"
#include "engine/slot.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define LOT           16 // so many jobs of a lot add one more `stuck_ns` to its deadline
#define DEATHS_OF_JOB 2  // a job that ran when so many slots died is lost
#define DEATHS_IN_ROW 10 // the pool gives up after so many deaths of a slot without a result
#define SUSPECTS      64 // so many jobs are put off because a slot died over them

struct pool_job {
    struct engine_job job; // its spec is `spec`
    char *spec;            // owned
    unsigned deaths;       // of slots that ran it
};

struct pool_slot {
    pid_t pid; // 0: none
    int socket;
    const uint64_t *running;     // as of slot_start()
    ARRAY(struct pool_job) jobs; // jobs without a result yet, in the order of their turns
    bool lot;                    // the jobs came together
    bool withdrawn;              // what has not begun is not to be run
    unsigned deaths;             // in a row, without a result in between
    uint64_t deadline_ns;
    struct buffer in;
};

struct pool {
    struct engine_task task;
    uint64_t stuck_ns;
    ARRAY(struct engine_result) lost; // results of jobs that no slot runs any more
    ARRAY(struct pool_job) again;     // jobs of slots that died
    unsigned count, busy, next;       // next: the slot to look at first
    bool ahead;                       // slots may have a second job that waits
    char *failure;                    // why the pool has given up, or NULL
    uint64_t *running;                // of each slot; shared with them
    size_t running_size;
    struct orphans orphans;
    struct buffer out;
    struct pollfd *polled;
    struct pool_slot slots[];
};

static void pool_job_deinit(struct pool_job *job)
{
    free(TAKE(job->spec));
}

static struct error *slot_begin(struct pool *pool, struct pool_slot *slot)
{
    uint64_t *running = &pool->running[slot - pool->slots];
    slot->in.size = 0;
    *running = 0;
    slot->running = running;
    return slot_start(&pool->task, running, &slot->pid, &slot->socket);
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
    slot->in.size = 0;
}

static void pool_end(void *self);

static struct error *share_memory(struct pool *pool, unsigned workers)
{
    void *shared = mmap(NULL, workers * sizeof *pool->running, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return error_from_errno(errno, "cannot share memory with the job slots");
    pool->running = shared;
    pool->running_size = workers * sizeof *pool->running;
    return NULL;
}

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
    if (error == NULL)
        error = share_memory(pool, options->workers);
    if (error == NULL)
        orphans_adopt(&pool->orphans);
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

// Ends what slots that died have left behind. Living slots are not touched.
static void end_orphans(const struct pool *pool)
{
    pid_list living = {0};
    bool complete = true;
    for (unsigned i = 0; i < pool->count && complete; i++) {
        pid_t *pid = pool->slots[i].pid != 0 ? ARRAY_ADD(&living) : NULL;
        complete = pid != NULL || pool->slots[i].pid == 0;
        if (pid != NULL)
            *pid = pool->slots[i].pid;
    }
    if (complete)
        orphans_end(&pool->orphans, &living);
    ARRAY_DEINIT(&living);
}

static void slot_deinit(struct pool_slot *slot)
{
    buffer_deinit(&slot->in);
    for (size_t i = 0; i < slot->jobs.count; i++)
        pool_job_deinit(&slot->jobs.items[i]);
    ARRAY_DEINIT(&slot->jobs);
}

// Frees a pool whose slots have ended.
static void pool_free(struct pool *pool)
{
    for (unsigned i = 0; i < pool->count; i++)
        slot_deinit(&pool->slots[i]);
    for (size_t i = 0; i < pool->lost.count; i++)
        engine_result_deinit(&pool->lost.items[i]);
    ARRAY_DEINIT(&pool->lost);
    for (size_t i = 0; i < pool->again.count; i++)
        pool_job_deinit(&pool->again.items[i]);
    ARRAY_DEINIT(&pool->again);
    if (pool->running != NULL)
        munmap(pool->running, pool->running_size);
    orphans_disown(&pool->orphans);
    buffer_deinit(&pool->out);
    free(pool->failure);
    free(pool->polled);
    free(pool);
}

static void pool_end(void *self)
{
    struct pool *pool = self;
    if (pool == NULL)
        return;
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
    }
    if (pool->busy != 0)
        end_orphans(pool);
    pool_free(pool);
}

// A slot with a lot takes any message for the order to stop, so it gets no second job.
static bool can_wait_behind(const struct pool *pool, const struct pool_slot *slot)
{
    return pool->ahead && slot->jobs.count == 1 && !slot->lot;
}

static struct engine_load pool_load(const void *self)
{
    const struct pool *pool = self;
    struct engine_load load = {.busy = pool->busy + (unsigned)pool->lost.count +
                                       (unsigned)pool->again.count};
    if (pool->failure != NULL)
        return load;
    load.room = load.idle = pool->count - pool->busy;
    for (unsigned i = 0; i < pool->count; i++)
        load.room += can_wait_behind(pool, &pool->slots[i]);
    return load;
}

// A slot that does not take such a small message is as good as dead. pool_take() will notice.
static void send_job(struct pool_slot *slot, const struct buffer *message)
{
    error_free(slot_message_send(slot->socket, message));
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

// Adds a job to those of the slot and to the message for it. Takes job->spec.
static struct error *add_job(struct pool *pool, struct pool_slot *slot, struct pool_job *job,
                             size_t more)
{
    struct pool_job *added = ARRAY_ADD(&slot->jobs);
    if (added == NULL)
        return error_no_memory();
    *added = *job;
    job->spec = NULL;
    return slot_message_put_job(&pool->out, &added->job, (uint32_t)more);
}

// Sends the message to a slot that had `before` jobs. They are running, or have waited longer.
static void begin_jobs(struct pool *pool, struct pool_slot *slot, size_t before)
{
    size_t count = slot->jobs.count - before;
    send_job(slot, &pool->out);
    slot->lot = count > 1;
    slot->withdrawn = false;
    if (before != 0)
        return;
    slot->deadline_ns = clock_ns() + pool->stuck_ns * (1 + count / LOT);
    pool->busy++;
}

static struct error *pool_offer(void *self, const struct engine_job *jobs, size_t count)
{
    struct pool *pool = self;
    struct pool_slot *slot = pool->failure == NULL ? choose_slot(pool, count) : NULL;
    if (slot == NULL)
        return error_new("no job slot is idle");
    size_t before = slot->jobs.count;
    struct error *error = NULL;
    pool->out.size = 0;
    for (size_t i = 0; i < count && error == NULL; i++) {
        struct pool_job job = {.job = jobs[i], .spec = strdup(jobs[i].spec)};
        job.job.spec = job.spec;
        error = job.spec != NULL ? add_job(pool, slot, &job, count - 1 - i) : error_no_memory();
        pool_job_deinit(&job);
    }
    if (error == NULL) {
        begin_jobs(pool, slot, before);
        return NULL;
    }
    while (slot->jobs.count > before)
        pool_job_deinit(&slot->jobs.items[--slot->jobs.count]);
    return error;
}

// The index of the next job to run again; again.count: none yet. A job over which a slot died waits
// until there is nothing else to do. If it was not the cause, whatever kills slots then has the
// most time to end.
static size_t next_again(const struct pool *pool, bool all)
{
    size_t next = 0, count = pool->again.count;
    while (next < count && pool->again.items[next].deaths != 0)
        next++;
    bool only_suspects = next == count;
    return only_suspects && (all || count > SUSPECTS) ? 0 : next;
}

// Gives jobs of slots that died to slots that have room; `all`: there is nothing else to do. Each
// is a job of its own now, even if it came in a lot: its result then is safe as soon as it is
// there, however often slots die.
static struct error *offer_again(struct pool *pool, bool all)
{
    for (;;) {
        size_t next = next_again(pool, all);
        struct pool_slot *slot =
            next < pool->again.count && pool->failure == NULL ? choose_slot(pool, 1) : NULL;
        if (slot == NULL)
            return NULL;
        struct pool_job *job = &pool->again.items[next];
        size_t before = slot->jobs.count;
        pool->out.size = 0;
        TRY(add_job(pool, slot, job, 0));
        pool->again.count--;
        memmove(job, job + 1, (pool->again.count - next) * sizeof *job);
        begin_jobs(pool, slot, before);
    }
}

// Adds a result that no slot has sent. Takes `reason`, which is NULL for a job that was not run.
static struct error *add_lost(struct pool *pool, const struct pool_job *job, char *reason)
{
    struct engine_result *result = ARRAY_ADD(&pool->lost);
    if (result == NULL) {
        free(reason);
        return error_no_memory();
    }
    result->job = job->job;
    result->job.spec = NULL;
    result->judgement.verdict = VERDICT_INVALID;
    result->judgement.reason = reason;
    result->way = reason == NULL ? WAY_NOT_RUN : WAY_FULL;
    return NULL;
}

static struct error *pool_withdraw(void *self)
{
    struct pool *pool = self;
    pool->out.size = 0;
    TRY(slot_message_put_job(&pool->out, &(struct engine_job){0}, 0));
    for (unsigned i = 0; i < pool->count; i++)
        if (pool->slots[i].jobs.count > 1 && pool->slots[i].lot) {
            send_job(&pool->slots[i], &pool->out);
            pool->slots[i].withdrawn = true;
        }
    size_t kept = 0;
    for (size_t i = 0; i < pool->again.count; i++) {
        struct pool_job *job = &pool->again.items[i];
        if (job->deaths != 0) {
            pool->again.items[kept++] = *job;
            continue;
        }
        TRY(add_lost(pool, job, NULL));
        pool_job_deinit(job);
    }
    pool->again.count = kept;
    return NULL;
}

// Says how a slot ended: "was killed by signal 9 (Killed)".
static struct error *describe_death(int status, const char *why, struct buffer *text)
{
    if (why != NULL)
        return buffer_printf(text, "was ended: %s", why);
    if (WIFSIGNALED(status))
        return buffer_printf(text, "was killed by signal %d (%s)", WTERMSIG(status),
                             strsignal(WTERMSIG(status)));
    return buffer_printf(text, "ended with status %d", WEXITSTATUS(status));
}

static struct error *lose_job(struct pool *pool, const struct pool_job *job, const char *death)
{
    struct buffer reason = {0};
    TRY(buffer_printf(&reason,
                      "the process that led the trial died, and so did that of its second run, "
                      "which %s",
                      death));
    return add_lost(pool, job, reason.data);
}

// What becomes of a job whose slot died. If it was running, it may be the cause: it is tried once
// more. Otherwise it is not to blame.
static struct error *take_back(struct pool *pool, const struct pool_slot *slot,
                               struct pool_job *job, const char *death)
{
    bool was_running = *slot->running == job->job.tag + 1;
    job->deaths += was_running;
    if (job->deaths >= DEATHS_OF_JOB)
        return lose_job(pool, job, death);
    if (slot->withdrawn && !was_running)
        return add_lost(pool, job, NULL);
    struct pool_job *again = ARRAY_ADD(&pool->again);
    if (again == NULL)
        return error_no_memory();
    *again = *job;
    job->spec = NULL;
    return NULL;
}

// Ends a slot, with all that it has left behind, and starts another in its place, unless that was
// done too often.
static struct error *replace(struct pool *pool, struct pool_slot *slot, const char *why)
{
    _cleanup_(buffer_deinit) struct buffer death = {0}, failure = {0};
    int status;
    slot_end(slot, &status);
    end_orphans(pool);
    TRY(describe_death(status, why, &death));
    pool->busy -= slot->jobs.count != 0;
    for (size_t i = 0; i < slot->jobs.count; i++)
        TRY(take_back(pool, slot, &slot->jobs.items[i], death.data));
    while (slot->jobs.count > 0)
        pool_job_deinit(&slot->jobs.items[--slot->jobs.count]);
    if (++slot->deaths < DEATHS_IN_ROW) {
        TRY(slot_begin(pool, slot));
        return offer_again(pool, false);
    }
    TRY(buffer_printf(
        &failure,
        "a job slot died %u times without a result in between; the last process %s; is "
        "memory short, or does the workload kill processes that are not its own?",
        slot->deaths, death.data));
    // Another slot may have been given up in the same moment.
    if (pool->failure == NULL)
        pool->failure = TAKE(failure.data);
    return NULL;
}

static struct error *replace_for(struct pool *pool, struct pool_slot *slot, struct error *error)
{
    struct error *second = replace(pool, slot, error_message(error));
    error_free(error);
    return second;
}

static struct pool_job *find_job(struct pool_slot *slot, uint64_t tag)
{
    for (size_t i = 0; i < slot->jobs.count; i++)
        if (slot->jobs.items[i].job.tag == tag)
            return &slot->jobs.items[i];
    return NULL;
}

// Removes a job that has its result. A job that waited behind it has its turn.
static struct error *end_job(struct pool *pool, struct pool_slot *slot, struct pool_job *job)
{
    pool_job_deinit(job);
    slot->jobs.count--;
    memmove(job, job + 1, (size_t)(slot->jobs.items + slot->jobs.count - job) * sizeof *job);
    pool->busy -= slot->jobs.count == 0;
    if (!slot->lot)
        slot->deadline_ns = clock_ns() + pool->stuck_ns;
    slot->deaths = 0;
    return offer_again(pool, false);
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
    struct pool_job *job = find_job(slot, ret_result->job.tag);
    if (job == NULL) {
        engine_result_deinit(ret_result);
        return replace_for(pool, slot, error_new("it answered what it was not asked"));
    }
    ret_result->job = job->job; // our copy is the trusted one
    ret_result->job.spec = NULL;
    slot->in.size -= size;
    memmove(slot->in.data, slot->in.data + size, slot->in.size);
    error = end_job(pool, slot, job);
    if (error != NULL)
        engine_result_deinit(ret_result);
    *ret_got = error == NULL;
    return error;
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
    TRY(offer_again(pool, true)); // whoever calls us has no other jobs for slots with room
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

static const char *pool_failure(const void *self)
{
    const struct pool *pool = self;
    return pool->failure;
}

const struct engine engine_local = {
    .name = "local",
    .start = pool_start,
    .end = pool_end,
    .load = pool_load,
    .offer = pool_offer,
    .withdraw = pool_withdraw,
    .take = pool_take,
    .failure = pool_failure,
};
