// SPDX-License-Identifier: GPL-3.0-or-later
// Where trials run. An engine has workers, each of which leads one shot at a time and judges it;
// the campaign offers jobs and takes results. One const descriptor, and one line in engines.c.
#ifndef ORDEAL_ENGINE_ENGINE_H
#define ORDEAL_ENGINE_ENGINE_H

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

struct engine_job {
    int64_t candidate;
    const char *spec;
    uint64_t seed;
    uint64_t tag; // the caller's
};
struct engine_result {
    struct engine_job job; // spec is NULL
    struct judgement judgement;
    struct observation observation;
    enum sandbox_end end;
    int status;
    bool changed; // files, as far as that was looked at
    double seconds;
    char *stack;  // of the crash or hang, or NULL
    char *output; // end of stderr, or NULL
    enum trial_way way;
    uint32_t round; // of a long-lived server: the number of this fault in its life; or 0
    enum wire_fork_refusal refusal; // why it was refused, as far as that is known
};
void engine_result_deinit(struct engine_result *result);

// What all trials of a campaign have in common. It outlives the engine's instance.
struct engine_task {
    const struct definition *definition;
    const struct injector *injector;
    const void *leader; // the controller's own injector, as it is when workers start
    const struct reference *reference;
    // Of a long-lived server: specs that can be tried in one life, in the order in which they are.
    // NULL: none.
    const struct words *switchable;
};
struct engine_options {
    struct engine_task task;
    unsigned workers;
    uint64_t stuck_ns; // a job that takes longer altogether: its worker counts as lost
    // A worker may have a second job that waits until the first is done, so that it never waits for
    // us. Not where a job behind one that takes long would be better off elsewhere.
    bool ahead;
};

struct engine_load {
    unsigned idle; // workers without a job
    unsigned busy; // workers with one; also results that were not taken yet
    unsigned room; // single jobs that would be taken now
};

struct engine {
    const char *name, *summary;
    _must_check_ struct error *(*start)(const struct engine_options *options, void **ret_self);
    void (*end)(void *self); // what still runs ends at once
    struct engine_load (*load)(const void *self);
    // Needs an idle worker, which forks where the faults are injected if there are several jobs; a
    // single job needs room only.
    _must_check_ struct error *(*offer)(void *self, const struct engine_job *jobs, size_t count);
    // Jobs of lots that have not begun are not wanted any more: they come back as WAY_NOT_RUN.
    _must_check_ struct error *(*withdraw)(void *self);
    // Waits for a result at most `timeout_ns`, or until a signal arrives; *ret_got false if there
    // is none. Every job that was offered comes back once. A worker that is lost (it died, or is
    // stuck) is replaced, and its jobs come back as invalid, with the reason.
    _must_check_ struct error *(*take)(void *self, uint64_t timeout_ns, bool *ret_got,
                                       struct engine_result *ret_result);
};

extern const struct engine *const engines[];        // ends with NULL
const struct engine *engine_find(const char *name); // or NULL

#endif
