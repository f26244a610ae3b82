// SPDX-License-Identifier: GPL-3.0-or-later
// Fidelity of a workload: how well the faults that it activates reflect those that exist. The input
// fault load is every candidate in code that is present. The output fault load is the candidates
// whose block is executed, each with its count. No fault needs to be injected for that, since a
// block is always executed as a whole.
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
double fidelity_percent(struct fidelity_coverage coverage); // 0 if the total is 0

#define FIDELITY_DECADES 21 // 0, 1, 2-9, 10-99, ...
struct fidelity_counts {    // of executed blocks
    uint64_t blocks;
    uint64_t median, percentile_90, percentile_99, most; // executions of one block
    double executions;                                   // sum over all blocks
    double top_share;                     // share of executions in the top one percent of blocks
    uint64_t histogram[FIDELITY_DECADES]; // over all blocks
    // One run: the fit and its error; several: the mean and its error
    struct stats_tail tail;
    size_t tails; // runs that have a tail
};

struct fidelity_type {
    const char *name;
    uint64_t input, executed;
    uint64_t drawable;         // executed candidates that a campaign can enable
    double expected;           // value of `executed` if it did not depend on the type
    double activations;        // sum of the counts
    double weight;             // sum of 1 + log2 of the counts
    double covered, uncovered; // its mean share of the candidates of executed and of other blocks
    // Of that share with log2 of the count, in executed blocks
    struct stats_correlation correlation;
};

struct fidelity_distance {
    struct stats_test test;
    double divergence; // Jensen-Shannon, bits
};

// The distance of the output from the input, as if `n` faults had been drawn with the output's
// probabilities.
_must_check_ struct error *fidelity_distance(const double *input, const double *output,
                                             size_t types, double n,
                                             struct fidelity_distance *ret_distance);

struct fidelity_size { // mean over blocks
    double candidates, lines, instructions;
};

struct fidelity_growth { // over several runs
    // This many first runs come within one percentage point of the final coverage
    size_t enough;
    struct stats_moments per_run; // percent of blocks that one run executes
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
    // From the input to: the executed candidates; the same weighted by log2 of their counts; the
    // same weighted by their counts.
    struct fidelity_distance to_executed, to_logarithms, to_counts;
    double association; // Cramér's V between the type and being executed
    struct fidelity_growth growth;
    struct fidelity_band bands[FIDELITY_BANDS];
};
// Measures a workload whose counts are added up. fidelity_result_deinit() frees the result; names
// of types belong to the subject.
_must_check_ struct error *fidelity_measure(const struct fidelity_subject *subject,
                                            const struct fidelity_workload *workload,
                                            struct fidelity_result *ret_result);
void fidelity_result_deinit(struct fidelity_result *result);

// ---- matching the output to the model ----

// A fault model: the share of the activated faults that each type should have. Without a file it is
// the type's share of all candidates.
struct fidelity_match {
    ARRAY(double) model, weights; // by type; weight 0: it cannot be activated
    double lost;                  // share of the model in types that cannot be activated
    // From the model, for faults drawn evenly and drawn by weight
    struct fidelity_distance before, after;
};
// Computes the weights. `model` has one share per type (NULL: the share of all candidates). An
// error if the model has none of the types. fidelity_match_deinit() frees the match.
_must_check_ struct error *fidelity_match(const struct fidelity_result *result, const double *model,
                                          struct fidelity_match *ret_match);
void fidelity_match_deinit(struct fidelity_match *match);
// Writes one line per type, in the format that a campaign's selection reads.
_must_check_ struct error *fidelity_put_weights(const struct fidelity_result *result,
                                                const struct fidelity_match *match,
                                                struct buffer *text);

#endif
