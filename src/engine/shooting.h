// SPDX-License-Identifier: GPL-3.0-or-later
// One job slot's means to run shots: a sandbox and an injector. A shot is setup, pretest, workload
// with the fault, posttest, the user's oracle, teardown, all in one life of the sandbox.
#ifndef ORDEAL_ENGINE_SHOOTING_H
#define ORDEAL_ENGINE_SHOOTING_H

#include "base/error.h"
#include "definition/definition.h"
#include "injector/injector.h"
#include "oracle/outcome.h"
#include "wire/region.h"

#define SHOOTING_OTHER_STEPS 5          // setup, pretest, posttest, oracle, teardown
#define SHOOTING_CAPTURE     (1u << 20) // bytes kept of each stream of each step

// The definition must outlive it. Setup, pretest, posttest, oracle and teardown get the workload's
// environment without the injector, nothing on stdin, and STEP_OTHER_WAIT_NS; what setup
// leaves running (a server) lives until teardown is done. When setup or pretest fails, the workload
// does not run; when the workload is out of time, neither posttest nor oracle do. Teardown always
// does. The oracle command gets the trial directory (trial-directory.h) as its last argument and in
// ORDEAL_TRIAL. What the run changed in the file system is looked at when the workload is done,
// before posttest.
struct shooting;
_must_check_ struct error *shooting_new(const struct definition *definition,
                                        const struct injector *injector,
                                        struct shooting **ret_shooting);
void shooting_free(struct shooting *shooting);
struct sandbox *shooting_sandbox(struct shooting *shooting);
bool shooting_is_apart(const struct shooting *shooting);        // a run has a network of its own
void shooting_set_apart(struct shooting *shooting, bool apart); // from the next run on
struct sandbox_traffic shooting_traffic(const struct shooting *shooting); // of the last run
// The injector forgets what it has seen.
_must_check_ struct error *shooting_restart(struct shooting *shooting);
void *shooting_injector(struct shooting *shooting); // its `self`

// spec NULL: a reference run. timeout_ns 0: none. An error means that the machinery failed, not the
// target.
_must_check_ struct error *shooting_run(struct shooting *shooting, const char *spec, uint64_t seed,
                                        uint64_t timeout_ns, struct outcome_run *ret_run);
// Many shots in one run of the workload without other steps, as far as they suit the injector's
// `forks`. ended() takes the run of one of them, in the order in which the workload comes to them;
// false: no more of them. In *ret_run what became of the workload itself.
struct shooting_branches {
    const struct fork_shot *shots;
    size_t count;
    bool (*ended)(void *data, size_t index, struct outcome_run *run);
    // It was no trial: what it did would have been felt outside, or there was no fork.
    void (*refused)(void *data, size_t index);
    void *data;
};
_must_check_ struct error *shooting_branch(struct shooting *shooting,
                                           const struct shooting_branches *branches,
                                           uint64_t timeout_ns, struct outcome_run *ret_run,
                                           enum wire_fork_refusal *ret_refusal);

// As shooting_run(), and the injector records what the workload calls in consequence (shot.follow).
_must_check_ struct error *shooting_follow(struct shooting *shooting, const char *spec,
                                           uint64_t seed, uint64_t timeout_ns,
                                           struct outcome_run *ret_run);
// Of runs from now on: ends every step but teardown when *stop is above `above`, as if its time
// were over (`stop` may be NULL); tells of processes ("daem, sleep") that live on when the command
// has ended for a while.
void shooting_watch(struct shooting *shooting, const volatile int *stop, int above,
                    void (*lingering)(void *data, const char *names), void *data);
// Many faults in one life of a server, one after the other; between them the load runs without any.
#define SHOOTING_ENOUGH     (-1) // next(): no more rounds
#define SHOOTING_KEPT       (-2) // likewise, and what became of this one is decided at the end
#define SHOOTING_KEPT_AGAIN (-3) // likewise, by its second load
struct shooting_session {
    const char *const *specs; // with `once`
    size_t count;
    uint32_t first; // that is tried
    uint64_t seed, timeout_ns;
    // When a round is over, with what the load did while the fault was on, and after it. Returns
    // which spec is tried next, or why none is. It is not asked when the server is gone.
    int64_t (*next)(void *data, struct outcome_run *run, struct outcome_run *again);
    void *data;
};
// *ret_run is of the last round that was begun, *ret_rounds how many were.
_must_check_ struct error *shooting_serve(struct shooting *shooting,
                                          const struct shooting_session *session,
                                          struct outcome_run *ret_run, uint32_t *ret_rounds);
// The shot under gdb, in the sandbox and without a limit on its time, between setup, pretest and
// teardown: with `terminal` as its terminal or, if that is negative, running through, with this
// process's stdout and stderr. *ret_status is gdb's exit status. An error if the injector has no
// use for gdb.
_must_check_ struct error *shooting_debug(struct shooting *shooting, const char *spec,
                                          uint64_t seed, int terminal, int *ret_status);

#endif
