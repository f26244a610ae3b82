// SPDX-License-Identifier: GPL-3.0-or-later
// The local engine: job slots, each a process of its own that leads shots and judges them, so that
// nothing a target does to its parent reaches the controller, and orphans have a parent that ends
// them. A slot that dies is replaced; its shot is reported as not run.
#ifndef ORDEAL_ENGINE_POOL_H
#define ORDEAL_ENGINE_POOL_H

#include "base/error.h"
#include "definition/definition.h"
#include "injector/injector.h"
#include "oracle/judge.h"
#include "oracle/reference.h"
#include "wire/region.h"

// How a trial came to its result. Forking: engine/fork-batch.h.
enum trial_way {
    WAY_FULL,     // a run of its own
    WAY_FORKED,   // a child of a run of many
    WAY_CHECKED,  // likewise, and a run of its own told the same
    WAY_DISPUTED, // a run of its own, which told something else than the child
    WAY_REFUSED,  // a run of its own, for forking was tried in vain
    WAY_NOT_RUN,  // it was not wanted any more: there is no result
    WAYS
};

struct pool_job {
    int64_t candidate;
    const char *spec;
    uint64_t seed;
    uint64_t tag; // the caller's
};
struct pool_result {
    struct pool_job job; // spec is NULL
    struct judgement judgement;
    struct observation observation;
    enum sandbox_end end;
    int status;
    bool changed; // files, as far as that was looked at
    double seconds;
    char *stack;  // of the crash or hang, or NULL
    char *output; // end of stderr, or NULL
    enum trial_way way;
    enum wire_fork_refusal refusal; // why it was refused, as far as that is known
};
void pool_result_deinit(struct pool_result *result);

struct pool;
// Slots are forked from this process as it is now. `leader` and `switchable` as of slot_task.
struct error *pool_new(const struct definition *definition, const struct injector *injector,
                       const void *leader, const struct reference *reference,
                       const struct words *switchable, unsigned jobs, struct pool **ret_pool);
void pool_free(struct pool *pool); // ends shots that still run, at once
// How long one shot may take altogether before its slot counts as stuck and is replaced.
void pool_set_patience(struct pool *pool, uint64_t ns);
// Slots may have a second job that waits until the first is done, so that they never wait for us.
// Not where a job behind one that takes long would be better off in another slot.
void pool_work_ahead(struct pool *pool);
unsigned pool_idle(const struct pool *pool);
unsigned pool_room(const struct pool *pool); // jobs that slots would take, one at a time
unsigned pool_busy(const struct pool *pool);
// Needs an idle slot, which forks where the faults are injected if there are several jobs; a single
// job needs room only.
struct error *pool_submit(struct pool *pool, const struct pool_job *jobs, size_t count);
// Asks slots with several jobs to leave those that have not begun: WAY_NOT_RUN.
struct error *pool_stop(struct pool *pool);
// Waits for a result at most `timeout_ms`, or until a signal arrives; *ret_got false if there is
// none.
struct error *pool_wait(struct pool *pool, int timeout_ms, bool *ret_got,
                        struct pool_result *ret_result);

#endif
