// SPDX-License-Identifier: GPL-3.0-or-later
// The library injector's half of a trial, for callers that start and watch the command themselves:
// region, environment, answers to questions of targets. One serves many trials, one at a time.
#ifndef ORDEAL_TRIAL_ARMED_H
#define ORDEAL_TRIAL_ARMED_H

#include "base/error.h"
#include "scenario/scenario.h"
#include "wire/view.h"

#include <stdbool.h>
#include <stdint.h>

struct armed;
struct region_program;

struct armed_options {
    const struct scenario *scenario; // lives as long as this trial; may have no rules
    uint64_t seed;
    char *const *command;     // for the journal; ends with NULL
    char *const *environment; // of the workload without Ordeal; ends with NULL; outlives the trial
    uint32_t journal_records; // 0 = the usual number
    bool catch_crashes;       // fatal signals leave a WIRE_RECORD_CRASH with the stack
    bool record_calls;        // count calls of the scenario's functions by process and site
    bool record_stacks;       // and by stack, see trial/calls.h
    const char *coverage;     // path of a coverage file, or NULL
    bool forks;               // where a rule fires, the workload forks: armed_forking()
    // For a single trial.
    struct region_program *program; // what program_look() said, taken over; NULL: looked up
    const char *journal_path;       // keep the region in this file, or NULL
    const char *coordinator;        // answers remote(), or NULL; lives as long as this trial
    const char *node;               // likewise
    bool hurried; // storage only for the first moments; region_reserve() gives the rest
};

struct error *armed_new(struct armed **ret_armed);
void armed_free(struct armed *armed);

// Makes ready for the next trial: compiles the plan, renews the region.
struct error *armed_prepare(struct armed *armed, const struct armed_options *options);
char *const *armed_environment(const struct armed *armed); // to start the command with
const char *armed_file(const struct armed *armed);         // must be reachable by the command
uint64_t armed_rules(const struct armed *armed); // where struct wire_rule_state are in that file
uint64_t armed_plan_hash(const struct armed *armed);

// Before armed_begin(): the command knows the files below the directory `to` as below `from`. What
// rules and views name is below `to`.
struct error *armed_moved(struct armed *armed, const char *from, const char *to);
// Just before the command starts. `root` is put before absolute paths of targets' modules ("" if
// they are seen under the same names).
struct error *armed_begin(struct armed *armed, const char *root);
// When all its processes are gone. The view lives until the next armed_prepare().
struct error *armed_end(struct armed *armed, struct wire_view *ret_view);
// When a child of a trial with `forks` is gone and its parent waits: what the child did.
struct error *armed_end_branch(struct armed *armed, struct wire_view *ret_view);

// Between armed_begin() and armed_end() of a trial with `forks`; else NULL.
struct forking;
struct forking *armed_forking(const struct armed *armed);

// For this room.
struct region;
struct resolver;
struct region *armed_region(struct armed *armed);
const struct resolver *armed_resolver(const struct armed *armed); // NULL: it was not needed

#endif
