// SPDX-License-Identifier: GPL-3.0-or-later
// Trials with the same cause, shown once: which trial shows it best, what it is called, and how to
// see it again.
#ifndef ORDEAL_CAMPAIGN_FINDING_H
#define ORDEAL_CAMPAIGN_FINDING_H

#include "base/array.h"
#include "base/error.h"
#include "base/map.h"
#include "definition/definition.h"
#include "engine/engine.h"
#include "injector/injector.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

// The texts of a finding.
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
    bool harmless;       // the workload changes no files: it may be run outside a sandbox
    uint64_t timeout_ns; // after which a trial hangs
};
_must_check_ struct error *finding_describe(const struct finding_options *options,
                                            const struct engine_result *result, const char *spec,
                                            uint64_t seed, int64_t trial,
                                            struct finding_text *ret_text);
void finding_text_deinit(struct finding_text *text);

#define FINDING_SPARES  2
#define FINDING_REPEATS 2 // further runs that must show a finding for it to be confirmed

// A trial that may show a finding again when others do not.
struct finding_spare {
    int64_t trial, candidate;
    uint64_t seed, number, activations;
    double seconds;
    char *spec;
};

// What is known of a finding while its campaign runs.
struct finding_group {
    int64_t id;
    char *cause;
    enum verdict verdict;
    enum severity severity;
    // The simplest trial that shows it:
    int64_t trial;
    uint64_t activations;
    double seconds;
    enum store_confirmed confirmed;
    // The trial to be run again for confirmation; spec is NULL when that is done or not wanted.
    char *spec;
    bool confirming; // just now
    uint64_t seed, number;
    int64_t candidate;
    struct finding_spare spares[FINDING_SPARES]; // to be tried next
    unsigned spare_count;
    unsigned failures; // trials of it that did not show it again
    unsigned repeats;  // of this trial, that showed it
    // Of two faults, each is tried alone when both together are confirmed: then spec is that one.
    char *whole; // spec of both, or NULL
    unsigned part;
};
struct finding_groups {
    ARRAY(struct finding_group) items;
    struct map by_cause; // items, by the cause's hash
};
void finding_groups_deinit(struct finding_groups *groups);
// NULL if there is none.
struct finding_group *finding_group_find(struct finding_groups *groups, const char *cause);
// The cause is copied; everything else is zero.
_must_check_ struct error *finding_group_add(struct finding_groups *groups, const char *cause,
                                             struct finding_group **ret_group);
// Those of a campaign that is resumed; with `confirm`, those not confirmed yet are to be run again.
_must_check_ struct error *finding_groups_load(struct finding_groups *groups, struct store *store,
                                               int64_t campaign, bool confirm);
// Keeps a trial for later, if there is need for more.
_must_check_ struct error *finding_add_spare(struct finding_group *group,
                                             const struct finding_spare *spare);
// Makes the next spare the trial to be run again; false if there is none.
bool finding_use_spare(struct finding_group *group);
// Confirmed: of several faults, makes the next one alone the spec to be run, if there is one.
_must_check_ struct error *finding_take_part(struct finding_group *group);
// Whether a trial shows it with less ado than the one so far.
bool finding_is_simpler(const struct finding_group *group, const struct engine_result *result);
// What trials are grouped by.
const char *finding_cause(const struct engine_result *result);

#endif
