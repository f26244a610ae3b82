// SPDX-License-Identifier: GPL-3.0-or-later
// Where trials run. An engine has workers. Each runs one shot at a time and judges it. The campaign
// offers jobs and takes results. An engine is one folder below src/engines/ with one const
// descriptor, and one line in engines/registry.c. docs/HOWTO-add-an-engine.md shows how to write
// one.
#ifndef ORDEAL_ENGINE_ENGINE_H
#define ORDEAL_ENGINE_ENGINE_H

#include "base/error.h"
#include "definition/definition.h"
#include "injector/injector.h"
#include "oracle/judge.h"
#include "oracle/reference.h"
#include "wire/region.h"

// How a trial got its result. Forking: engine/fork-batch.h.
enum trial_way {
    WAY_FULL,     // a run of its own
    WAY_FORKED,   // a child that a shared run forked
    WAY_CHECKED,  // likewise, and a run of its own gave the same result
    WAY_DISPUTED, // a run of its own, which gave another result than the child
    WAY_REFUSED,  // a run of its own, because forking did not work
    WAY_NOT_RUN,  // it was withdrawn: there is no result
    WAYS
};

struct engine_job {
    int64_t candidate;
    const char *spec;
    uint64_t seed;
    uint64_t number; // of the trial. A job of the same number, spec and seed that an earlier
                     // controller offered is the same job; 0: there was none
    uint64_t tag;    // the caller's, comes back in the result
    bool control;    // a wrong result counts only if a run without the fault does not have it, too
};
struct engine_result {
    struct engine_job job; // spec is NULL
    struct judgement judgement;
    struct observation observation;
    enum sandbox_end end;
    int status;
    bool changed; // it changed files; false if nobody looked
    double seconds;
    char *stack;  // of the crash or hang, or NULL
    char *output; // end of stderr, or NULL
    enum trial_way way;
    uint32_t round; // of a long-lived server: the number of this fault in its life; or 0
    enum wire_fork_refusal refusal; // why forking was refused, if that is known
};
// Frees the strings, which a result owns.
void engine_result_deinit(struct engine_result *result);

// What all trials of a campaign have in common. It must outlive the engine's instance.
struct engine_task {
    const struct definition *definition;
    const struct injector *injector;
    const void *leader; // the controller's own injector, in the state it has when workers start
    const struct reference *reference;
    // Of a long-lived server: the specs that can be tried in one life, in the order in which they
    // are tried. NULL: there are none.
    const struct words *switchable;
};
struct engine_options {
    struct engine_task task;
    unsigned workers;  // 0, only of an engine elsewhere: as many as there are
    uint64_t stuck_ns; // a worker whose job takes longer counts as lost
    // A worker may get a second job before the first is done, so that it never waits for us. Not to
    // be used where the first job may take long and another worker could do the second.
    bool ahead;
    // For engines elsewhere:
    const char *stored_definition; // without secrets, as definition_write_stored() wrote it
    const char *shared;            // a directory for this campaign alone; it may not exist yet
    _must_check_ struct error *(*warn)(void *data, const char *sentence);
    void (*note)(void *data, const char *text); // what is no reason to worry
    void *data;
};

struct engine_load {
    unsigned idle; // workers without a job
    unsigned busy; // workers with a job; also results that were not taken yet
    unsigned room; // single jobs that offer() would take now
};

struct engine {
    const char *name;
    bool elsewhere; // trials run on other machines, and go on when the controller is gone
    _must_check_ struct error *(*start)(const struct engine_options *options, void **ret_self);
    void (*end)(void *self); // kills what still runs
    struct engine_load (*load)(const void *self);
    // Hands jobs to a worker. Several jobs need an idle worker, which forks where the faults are
    // injected. A single job only needs room.
    _must_check_ struct error *(*offer)(void *self, const struct engine_job *jobs, size_t count);
    // Withdraws the jobs of lots that have not begun: they come back as WAY_NOT_RUN.
    _must_check_ struct error *(*withdraw)(void *self);
    // Waits for a result, at most `timeout_ns` or until a signal arrives. *ret_got is false if
    // there is none. Every job that was offered comes back once. A worker that is lost (it died or
    // is stuck) is replaced. The job that it was running is tried once more; if that worker is
    // lost, too, it comes back as invalid, with the reason. Its other jobs are run by other
    // workers.
    _must_check_ struct error *(*take)(void *self, uint64_t timeout_ns, bool *ret_got,
                                       struct engine_result *ret_result);
    // Why there will be no more results, because a worker was lost again and again; or NULL.
    const char *(*failure)(const void *self);
    // Everything that take() has returned so far is in the store. May be NULL.
    void (*stored)(void *self);
    // Whether the engine can be had on this machine, for `ordeal doctor`. May be NULL.
    _must_check_ struct error *(*describe)(struct buffer *text);
    // What the engine has started elsewhere: `ordeal engine NAME WORD...`. May be NULL.
    _must_check_ struct error *(*work)(char *const *words);
};

// Defined in engines/registry.c.
extern const struct engine *const engines[]; // ends with NULL
// An unknown name is an error that lists the engines there are.
_must_check_ struct error *engine_named(const char *name, const struct engine **ret_engine);

#endif
