// SPDX-License-Identifier: GPL-3.0-or-later
// What a trial with the runtime needs, for callers that start and watch the command themselves: the
// region, the environment, and answers to the targets' questions. One session serves many trials,
// one at a time.
#ifndef ORDEAL_TRIAL_RUNTIME_SESSION_H
#define ORDEAL_TRIAL_RUNTIME_SESSION_H

#include "base/error.h"
#include "scenario/scenario.h"
#include "wire/view.h"

#include <stdbool.h>
#include <stdint.h>

struct runtime_session;
struct region_program;
struct cover_file;

struct runtime_session_options {
    const struct scenario *scenario; // lives as long as this trial; may have no rules
    uint64_t seed;
    char *const *command;     // for the journal; ends with NULL
    char *const *environment; // of the workload without Ordeal; ends with NULL; outlives the trial
    uint32_t journal_records; // 0 = the usual number
    bool catch_crashes;       // fatal signals leave a WIRE_RECORD_CRASH with the stack
    bool record_calls;        // count calls of the scenario's functions by process and site
    bool record_stacks;       // and by stack, see trial/calls.h
    bool record_inside;       // with record_calls: only those inside observed calls
    const struct cover_file *coverage; // or NULL; lives as long as this trial
    bool forks; // where a rule fires, the workload forks: runtime_session_forking()
    // For a single trial.
    struct region_program *program; // of program_check_and_identify(), taken over; NULL: looked up
    const char *journal_path;       // keep the region in this file, or NULL
    const char *coordinator;        // answers remote(), or NULL; lives as long as this trial
    const char *node;               // likewise
    bool hurried; // storage only for the first moments; the caller calls region_reserve() later
};

// Fails if the runtime is not found.
_must_check_ struct error *runtime_session_new(struct runtime_session **ret_session);
void runtime_session_free(struct runtime_session *session);

// Prepares the next trial: compiles the plan, renews the region, makes the environment.
_must_check_ struct error *runtime_session_prepare(struct runtime_session *session,
                                                   const struct runtime_session_options *options);
char *const *
runtime_session_environment(const struct runtime_session *session); // to start the command with
const char *
runtime_session_file(const struct runtime_session *session); // must be reachable by the command
const char *
runtime_session_coverage(const struct runtime_session *session); // likewise; NULL: there is none
uint64_t runtime_session_rules(
    const struct runtime_session *session); // where struct wire_rule_state are in that file
uint64_t runtime_session_plan_hash(const struct runtime_session *session);

// Call it before runtime_session_begin(). The command sees the directory `to` as `from`; rules and
// views name files below `to`.
_must_check_ struct error *runtime_session_map_path(struct runtime_session *session,
                                                    const char *from, const char *to);
// Call it just before the command starts. `root` is put before absolute paths of targets' modules
// to find their files; "" if we see them under the same paths.
_must_check_ struct error *runtime_session_begin(struct runtime_session *session, const char *root);
// Call it when all processes of the trial have ended. The view is valid until the next
// runtime_session_prepare(). Fails if a target damaged the region.
_must_check_ struct error *runtime_session_end(struct runtime_session *session,
                                               struct wire_view *ret_view);
// Call it when a child of a trial with `forks` has ended and its parent waits: the view says what
// the child did.
_must_check_ struct error *runtime_session_end_branch(struct runtime_session *session,
                                                      struct wire_view *ret_view);

// NULL, but between runtime_session_begin() and runtime_session_end() of a trial with `forks`.
struct forking;
struct forking *runtime_session_forking(const struct runtime_session *session);

// For this room only.
struct region;
struct resolver;
struct region *runtime_session_region(struct runtime_session *session);
const struct resolver *
runtime_session_resolver(const struct runtime_session *session); // NULL: it was not needed

#endif
