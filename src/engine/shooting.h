// SPDX-License-Identifier: GPL-3.0-or-later
// A job slot's means to run shots: a sandbox and an injector. A shot is setup, pretest, workload
// with the fault, posttest, the user's oracle and teardown, all in one sandbox run.
#ifndef ORDEAL_ENGINE_SHOOTING_H
#define ORDEAL_ENGINE_SHOOTING_H

#include "base/error.h"
#include "definition/definition.h"
#include "injector/injector.h"
#include "oracle/outcome.h"
#include "oracle/reference.h"
#include "wire/region.h"

#define SHOOTING_OTHER_STEPS 5          // setup, pretest, posttest, oracle, teardown
#define SHOOTING_CAPTURE     (1u << 20) // bytes kept of each stream of each step

// The definition must outlive it. The steps other than the workload get the workload's environment
// without the injector, nothing on stdin, and STEP_OTHER_WAIT_NS. What setup leaves running (a
// server) lives until teardown is done. If setup or pretest fails, the workload does not run. If
// the workload times out, posttest and oracle do not run. Teardown always runs. The oracle command
// gets the trial directory (trial-directory.h) as its last argument and in ORDEAL_TRIAL. Changes of
// files are collected when the workload is done, before posttest.
struct shooting;
_must_check_ struct error *shooting_new(const struct definition *definition,
                                        const struct injector *injector,
                                        struct shooting **ret_shooting);
void shooting_free(struct shooting *shooting);
struct sandbox *shooting_sandbox(struct shooting *shooting);
bool shooting_is_apart(const struct shooting *shooting);        // runs have a network of their own
void shooting_set_apart(struct shooting *shooting, bool apart); // from the next run on
struct sandbox_traffic shooting_traffic(const struct shooting *shooting); // of the last run
// Opens the injector anew: it forgets what it has seen.
_must_check_ struct error *shooting_restart(struct shooting *shooting);
void *shooting_injector(struct shooting *shooting); // its `self`

// The campaign's input, by its index, that all later reference runs are made with. Shots with a
// fault choose theirs by spec and seed.
_must_check_ struct error *shooting_set_input(struct shooting *shooting, uint32_t input);
// Which input a shot is run with; if there are none, 0.
_must_check_ struct error *shooting_input_of(const struct shooting *shooting, const char *spec,
                                             uint64_t seed, uint32_t *ret_input);
// Runs one shot. spec NULL: a reference run. timeout_ns 0: no limit. An error means that the
// machinery failed, not the target. The caller frees the run.
_must_check_ struct error *shooting_run(struct shooting *shooting, const char *spec, uint64_t seed,
                                        uint64_t timeout_ns, struct outcome_run *ret_run);
// Has packed files, archives, images and databases of a run read by the programs for them: those
// that the judgement depends on, or all if `reference` is NULL. Does nothing within a callback of a
// run.
_must_check_ struct error *shooting_decode(struct shooting *shooting, struct outcome_run *run,
                                           const struct reference *reference);
// Runs many shots with the same input in one run of the workload, as far as they suit the
// injector's `forks`; there are no other steps. ended() takes the run of one shot, in the order in
// which the workload reaches them; it returns false to end the run. Before it, begun() is told.
// *ret_run is what became of the workload itself.
struct shooting_branches {
    const struct fork_shot *shots;
    size_t count;
    void (*begun)(void *data, size_t index);
    bool (*ended)(void *data, size_t index, struct outcome_run *run);
    // The shot was no valid trial: it would have had effects outside, or there was no fork.
    void (*refused)(void *data, size_t index);
    void *data;
};
_must_check_ struct error *shooting_branch(struct shooting *shooting,
                                           const struct shooting_branches *branches,
                                           uint64_t timeout_ns, struct outcome_run *ret_run,
                                           enum wire_fork_refusal *ret_refusal);

// As shooting_run(), but the injector also records what the workload calls in consequence
// (shot.follow).
_must_check_ struct error *shooting_follow(struct shooting *shooting, const char *spec,
                                           uint64_t seed, uint64_t timeout_ns,
                                           struct outcome_run *ret_run);
// Runs the load of a server that is not there, after setup. *ret_fails: it does not end with the
// expected exit status, or not within LOAD_ALONE_WAIT_NS.
_must_check_ struct error *shooting_try_load(struct shooting *shooting, bool *ret_fails);
// For all later runs: every step but teardown is ended as if its time were over when *stop is above
// `above` (`stop` may be NULL). lingering() is told which processes ("daem, sleep") are still
// running a while after the command has ended.
void shooting_watch(struct shooting *shooting, const volatile int *stop, int above,
                    void (*lingering)(void *data, const char *names), void *data);
// Many faults in one life of a server, one after the other. After each, the load runs without it.
#define SHOOTING_ENOUGH     (-1) // next() returns: no more rounds
#define SHOOTING_KEPT       (-2) // likewise, and this round is judged at the end of the run
#define SHOOTING_KEPT_AGAIN (-3) // likewise, by its second load
struct shooting_session {
    const char *const *specs; // with `once`
    size_t count;
    uint32_t first; // index of the spec that is tried first
    uint64_t seed, timeout_ns;
    // Called when a round is over, with what the load did while the fault was on, and after it.
    // Returns the index of the spec to try next, or one of the above. It is not called if the
    // server is gone.
    int64_t (*next)(void *data, struct outcome_run *run, struct outcome_run *again);
    void *data;
};
// *ret_run is about the last round that was begun, *ret_rounds is how many were.
_must_check_ struct error *shooting_serve(struct shooting *shooting,
                                          const struct shooting_session *session,
                                          struct outcome_run *ret_run, uint32_t *ret_rounds);
// Runs the shot under gdb, in the sandbox and without a time limit, between setup, pretest and
// teardown. gdb gets `terminal`; if that is negative, it runs through with this process's stdout
// and stderr. *ret_status is gdb's exit status. An error if the injector cannot be used with gdb.
_must_check_ struct error *shooting_debug(struct shooting *shooting, const char *spec,
                                          uint64_t seed, int terminal, int *ret_status);

#endif
