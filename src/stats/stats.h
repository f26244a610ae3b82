// SPDX-License-Identifier: GPL-3.0-or-later
// What may be said from samples: intervals, tests, sample sizes. Distributions come from GSL.
#ifndef ORDEAL_STATS_STATS_H
#define ORDEAL_STATS_STATS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stats_interval {
    double low, high;
};

#define STATS_CONFIDENCE 0.95 // of intervals, where nobody says otherwise

// Wilson's score interval of a proportion, e.g. confidence 0.95. All of [0, 1] when n is 0.
struct stats_interval stats_wilson(uint64_t hits, uint64_t n, double confidence);
// Likewise of a share that was estimated as well as n equal trials would have done.
struct stats_interval stats_wilson_share(double share, double n, double confidence);

// Two-sided test of independence in a 2-column table: rows[i] = {hits, misses}. Chi-square, or
// Fisher's exact test (2x2), or a seeded Monte-Carlo version (larger tables) when an expected count
// is below 5. p = 1 when nothing can be told (a column or all but one rows are empty).
enum stats_method { STATS_CHI_SQUARE, STATS_FISHER, STATS_MONTE_CARLO, STATS_NOTHING };
struct stats_test {
    enum stats_method method;
    double statistic; // chi-square
    unsigned freedom; // degrees of
    double p;
};
_must_check_ struct error *stats_independence(const uint64_t (*rows)[2], size_t count,
                                              struct stats_test *ret_test);
const char *stats_method_name(enum stats_method method);
// "***" p < 0.001, "**" p < 0.01, "*" p < 0.05, "".
const char *stats_stars(double p);

// Whether observed counts are as expected, which have the same sum: chi-square; what is expected
// less than 5 times is one row together. Rows where nothing is expected must have nothing observed.
_must_check_ struct error *stats_fit(const double *observed, const double *expected, size_t count,
                                     struct stats_test *ret_test);
// How far two distributions are apart, in bits: 0 equal, 1 nothing in common. Both are scaled to
// the sum 1; NAN if one is empty.
double stats_jensen_shannon(const double *first, const double *second, size_t count);
// Pearson's correlation and how likely one as strong is by chance; NAN and 1 if there is none to
// tell of.
struct stats_correlation {
    double r, p;
    size_t n;
};
struct stats_correlation stats_correlate(const double *x, const double *y, size_t count);
// The exponent of the zeta distribution (chance of k is proportional to k^-exponent) that makes n
// counts most likely, given the mean of their logarithms, and its standard error. NAN if all counts
// are 1 or there is none.
struct stats_tail {
    double exponent, error;
};
struct stats_tail stats_zeta_tail(double mean_logarithm, uint64_t n);

// Trials needed so that the interval of a proportion is at most `half_width` to either side.
// `expected` < 0: the worst case, 0.5.
uint64_t stats_sample_size(double half_width, double confidence, double expected);
// Likewise for k proportions at once, all of which are to lie in their intervals with `confidence`.
uint64_t stats_sample_size_bonferroni(double half_width, double confidence, size_t k);
// Whether n trials with these counts estimate all k proportions to `half_width` with `confidence`
// together: the sum of the k error probabilities is compared with 1 - confidence.
bool stats_accurate_bonferroni(const uint64_t *counts, size_t k, uint64_t n, double half_width,
                               double confidence, double *ret_error_sum);

struct stats_moments {
    uint64_t n;
    double mean, deviation; // of the sample (n - 1)
};
void stats_add(struct stats_moments *moments, double value); // one pass, stable

// A random stream: same seed, same numbers, on every machine and in every version.
struct stats_random {
    uint64_t state[4];
};
struct stats_random stats_random_start(uint64_t seed, uint64_t stream);
uint64_t stats_random_next(struct stats_random *random);
uint64_t stats_random_below(struct stats_random *random, uint64_t bound); // unbiased
double stats_random_unit(struct stats_random *random);                    // [0, 1)

// `chosen` of 0..n-1 without repetition, ascending; all if chosen >= n. O(chosen) memory.
_must_check_ struct error *stats_sample(struct stats_random *random, uint64_t n, uint64_t chosen,
                                        uint64_t **ret_indices, uint64_t *ret_count);
// Likewise with weights; items of weight 0 are never chosen.
_must_check_ struct error *stats_sample_weighted(struct stats_random *random, const double *weights,
                                                 uint64_t n, uint64_t chosen,
                                                 uint64_t **ret_indices, uint64_t *ret_count);

#endif
