// SPDX-License-Identifier: GPL-3.0-or-later
// Findings: trials with the same cause, shown once. Which trial shows a finding best, its title,
// and the command that reproduces it.
#ifndef ORDEAL_CAMPAIGN_FINDING_H
#define ORDEAL_CAMPAIGN_FINDING_H

#include "base/array.h"
#include "base/error.h"
#include "base/map.h"
#include "campaign/schedule.h"
#include "definition/definition.h"
#include "engine/engine.h"
#include "injector/injector.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

// The texts of a finding. Free them with finding_text_deinit().
struct finding_text {
    char *title;   // "cp crashes (SIGSEGV in copy_reg) when read fails with EIO at copy.c:123"
    char *site;    // "read called in copy_reg at copy.c:123"
    char *command; // that reproduces it
    char *file;
    unsigned line;
};
struct finding_options {
    const struct definition *definition;
    const struct injector *injector;
    void *injector_self;
    bool harmless;       // the workload changes no files, so it may run outside a sandbox
    uint64_t timeout_ns; // a trial that takes longer hangs
};
_must_check_ struct error *finding_describe(const struct finding_options *options,
                                            const struct engine_result *result, const char *spec,
                                            uint64_t seed, int64_t trial,
                                            struct finding_text *ret_text);
void finding_text_deinit(struct finding_text *text);
// Whether a trial needs no other command than the workload's.
bool finding_needs_command_alone(const struct definition *definition);

#define FINDING_SPARES  2
#define FINDING_REPEATS 2 // a finding is confirmed when so many further runs show it

// A spare trial of a finding, to try if the current one does not repeat.
struct finding_spare {
    int64_t trial, candidate;
    uint64_t seed, number, activations;
    double seconds;
    enum store_basis basis;
    enum verdict verdict;
    enum severity severity;
    char *spec;
};

// What the controller knows about a finding while its campaign runs. It owns the strings.
struct finding_group {
    int64_t id;
    char *cause;
    // The worst that a trial showed, and, once that trial was repeated, its repetitions as well
    enum verdict verdict;
    enum severity severity;
    // The simplest trial that shows it, the example:
    int64_t trial;
    uint64_t activations;
    double seconds;
    enum store_confirmed confirmed;
    // The trial to run again for confirmation. spec is NULL when that is done or not wanted.
    char *spec;
    bool confirming; // it is being run now
    bool carried;    // no trial of this campaign shows it yet
    uint64_t seed, number;
    int64_t candidate;
    struct finding_spare spares[FINDING_SPARES]; // to try next
    unsigned spare_count;
    unsigned failures; // trials that did not repeat
    unsigned repeats;  // runs of the current trial that showed it
    // When a finding with two faults is confirmed, each fault is tried alone; spec is then that
    // fault.
    char *whole;   // spec of both, or NULL
    unsigned part; // the next one to try
    // Whether the example's fault can happen, see proof.h. spec is then the next trial for it.
    enum store_basis basis; // of its candidate
    enum store_proof proof;
    unsigned proof_tries;
    bool mixed; // trials of other candidates than the example's show it, too
    enum store_scope scope;
    bool system;   // it is a bug of a system library
    char *library; // that defines the function of the fault, or NULL
    void *prover;  // the injector's, or NULL
};
struct finding_groups {
    ARRAY(struct finding_group) items;
    struct map by_cause; // items, by the cause's hash
};
void finding_groups_deinit(struct finding_groups *groups);
// The group with this cause, or NULL.
struct finding_group *finding_group_find(struct finding_groups *groups, const char *cause);
// Adds a group. The cause is copied; everything else is zero.
_must_check_ struct error *finding_group_add(struct finding_groups *groups, const char *cause,
                                             struct finding_group **ret_group);
// Whether it is confirmed and nobody has tried yet to prove it.
bool finding_awaits_proof(const struct finding_group *group);
// Loads the findings of a resumed campaign. With `confirm`, unconfirmed ones are to be run again,
// and those that await a proof have its spec, too.
_must_check_ struct error *finding_groups_load(struct finding_groups *groups, struct store *store,
                                               int64_t campaign, bool confirm);
// Whether a trial that ended like this is worse than the current example.
bool finding_is_worse(const struct finding_group *group, enum verdict verdict,
                      enum severity severity);
// Keeps a copy of a spare trial, if the group may still need one.
_must_check_ struct error *finding_add_spare(struct finding_group *group,
                                             const struct finding_spare *spare);
// Makes the next spare the trial to run again. False if there is none.
bool finding_use_spare(struct finding_group *group);
// Of a confirmed finding with several faults, makes the next fault alone the spec to run. spec
// becomes NULL after the last one.
_must_check_ struct error *finding_take_part(struct finding_group *group);
// Whether this trial is a simpler example than the current one.
bool finding_is_simpler(const struct finding_group *group, const struct engine_result *result);
// The cause that trials are grouped by. `check` is about the call that failed.
const char *finding_cause(const struct judgement *judgement, enum call_check check);
// Whether a trial shows the finding with this cause.
bool finding_shows(const struct judgement *judgement, const char *cause);
// The group that a trial belongs to, or NULL.
struct finding_group *finding_group_of(struct finding_groups *groups,
                                       const struct judgement *judgement, enum call_check check);

#endif
