// SPDX-License-Identifier: GPL-3.0-or-later
// Fidelity of a workload: how far the faults that it activates reflect those that there are. The
// input fault load is every candidate in code that is there, the output fault load those whose
// block is executed, each with how often. No fault is needed to tell: blocks are executed whole.
#ifndef ORDEAL_FIDELITY_MEASURE_H
#define ORDEAL_FIDELITY_MEASURE_H

#include "fidelity/counts.h"
#include "stats/stats.h"

enum fidelity_unit {
    UNIT_CANDIDATES,
    UNIT_BLOCKS,
    UNIT_LINES,
    UNIT_INSTRUCTIONS,
    UNITS,
};
extern const char *const fidelity_unit_names[UNITS];

struct fidelity_coverage {
    uint64_t executed, total;
};
double fidelity_percent(struct fidelity_coverage coverage); // 0 of nothing

#define FIDELITY_DECADES 21                             // 0, 1, 2-9, 10-99, ...
struct fidelity_counts {                                // of blocks that are executed
    uint64_t blocks, median, ninety, ninety_nine, most; // nine tenths are executed up to `ninety`
    double executions;                                  // all together
    double top_share;                     // how much of them one block of a hundred makes
    uint64_t histogram[FIDELITY_DECADES]; // all blocks
    struct stats_tail tail;               // one run: of the fit; several: mean and its error
    size_t tails;                         // runs that have one
};

struct fidelity_type {
    const char *name;
    uint64_t input, executed;
    uint64_t drawable;         // of the executed ones, those that a campaign can enable
    double expected;           // of `executed`, if it did not depend on the type
    double activations;        // sum of the counts
    double weight;             // sum of 1 + log2 of the counts
    double covered, uncovered; // its mean share of the candidates of a block, executed or not
    struct stats_correlation correlation; // of that share with log2 of the count, where executed
};

struct fidelity_distance {
    struct stats_test test;
    double divergence; // Jensen-Shannon, bits
};

// How far the output is from the input, as if `n` faults had been drawn with the output's odds.
_must_check_ struct error *fidelity_distance(const double *input, const double *output,
                                             size_t types, double n,
                                             struct fidelity_distance *ret_distance);

struct fidelity_size { // of a block, on average
    double candidates, lines, instructions;
};

struct fidelity_growth { // of several runs
    size_t enough;       // so many first runs reach all but one percent of the final blocks
    struct stats_moments per_run; // blocks executed in one run, percent
};

#define FIDELITY_BANDS 5
struct fidelity_band { // blocks by the share of runs that execute them
    double up_to;
    uint64_t blocks;
    double most; // geometric mean of their largest counts
};

struct fidelity_result {
    size_t runs;
    struct fidelity_coverage coverage[UNITS];
    struct fidelity_size executed, not_executed;
    struct fidelity_counts counts;
    ARRAY(struct fidelity_type) types;
    // From the input to: executed candidates; these by log2 of their counts; by their counts.
    struct fidelity_distance to_executed, to_logarithms, to_counts;
    double association; // Cramer's V of type and being executed
    struct fidelity_growth growth;
    struct fidelity_band bands[FIDELITY_BANDS];
};
_must_check_ struct error *fidelity_measure(const struct fidelity_subject *subject,
                                            const struct fidelity_workload *workload,
                                            struct fidelity_result *ret_result);
void fidelity_result_deinit(struct fidelity_result *result);

// ---- matching the output to the model ----

// A fault model: how large a share of the activated faults each type is to have. Without a file it
// is the types' share of all candidates.
struct fidelity_match {
    ARRAY(double) model, weights;           // by type; weight 0: cannot be activated
    double lost;                            // share of the model in types that cannot be activated
    struct fidelity_distance before, after; // of `drawn` faults drawn evenly, drawn by weight
};
_must_check_ struct error *fidelity_match(const struct fidelity_result *result, const double *model,
                                          struct fidelity_match *ret_match);
void fidelity_match_deinit(struct fidelity_match *match);
// As a campaign's selection reads it: a line per type.
_must_check_ struct error *fidelity_put_weights(const struct fidelity_result *result,
                                                const struct fidelity_match *match,
                                                struct buffer *text);

#endif
