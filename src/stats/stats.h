// SPDX-License-Identifier: GPL-3.0-or-later
// Statistics of samples: intervals, tests, sample sizes. Distributions come from GSL. Errors are a
// lack of memory, or input that is no valid table or weight.
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

// Wilson's score interval of a proportion, for instance with confidence 0.95. All of [0, 1] if n is
// 0.
struct stats_interval stats_wilson(uint64_t hits, uint64_t n, double confidence);
// The same for an estimated share that is as precise as n equal trials.
struct stats_interval stats_wilson_share(double share, double n, double confidence);

// Two-sided test of independence in a table of two columns: rows[i] = {hits, misses}. Uses
// chi-square. If an expected count is below 5, uses Fisher's exact test (2x2) or a seeded
// Monte-Carlo test (larger tables). p = 1 if nothing can be said: a column, or all rows but one,
// are empty.
enum stats_method { STATS_CHI_SQUARE, STATS_FISHER, STATS_MONTE_CARLO, STATS_NOTHING };
struct stats_test {
    enum stats_method method;
    double statistic; // chi-square
    unsigned freedom; // degrees of freedom
    double p;
};
_must_check_ struct error *stats_independence(const uint64_t (*rows)[2], size_t count,
                                              struct stats_test *ret_test);
const char *stats_method_name(enum stats_method method);
// "***" p < 0.001, "**" p < 0.01, "*" p < 0.05, "".
const char *stats_stars(double p);

// Chi-square test whether observed counts fit the expected ones, which must have the same sum. Rows
// with an expected count below 5 are merged. A row where nothing is expected must have nothing
// observed.
_must_check_ struct error *stats_goodness_of_fit(const double *observed, const double *expected,
                                                 size_t count, struct stats_test *ret_test);
// The Jensen-Shannon divergence of two distributions in bits: 0 equal, 1 nothing in common. Both
// are scaled to sum 1. NAN if one is empty.
double stats_jensen_shannon(const double *first, const double *second, size_t count);
// Pearson's correlation, and the probability of one as strong by chance. NAN and 1 if it is
// undefined.
struct stats_correlation {
    double r, p;
    size_t n;
};
struct stats_correlation stats_correlate(const double *x, const double *y, size_t count);
// Spearman's, of ranks. Each pair stands for as many equal ones as its weight says; n is their sum.
_must_check_ struct error *stats_spearman(const double *x, const double *y, const double *weights,
                                          size_t count, struct stats_correlation *ret_correlation);
// Cramer's V of a table as for stats_independence(): 0 none, 1 complete. NAN if it is undefined.
double stats_cramer(const uint64_t (*rows)[2], size_t count);
// Fits a zeta distribution, in which k has a probability proportional to k^-exponent, to n counts
// with this mean of logarithms. Gives the most likely exponent and its standard error. NAN if all
// counts are 1 or there are none.
struct stats_tail {
    double exponent, error;
};
struct stats_tail stats_zeta_tail(double mean_logarithm, uint64_t n);

// Trials needed for an interval of a proportion that extends at most `half_width` to either side.
// `expected` < 0: the worst case, 0.5.
uint64_t stats_sample_size(double half_width, double confidence, double expected);
// The same for k proportions that must all lie in their intervals with `confidence` together.
uint64_t stats_sample_size_bonferroni(double half_width, double confidence, size_t k);
// Whether n trials with these counts estimate all k proportions to `half_width` with `confidence`
// together: compares the sum of the k error probabilities with 1 - confidence.
bool stats_accurate_bonferroni(const uint64_t *counts, size_t k, uint64_t n, double half_width,
                               double confidence, double *ret_error_sum);

struct stats_moments {
    uint64_t n;
    double mean, deviation; // of the sample (n - 1)
};
void stats_add(struct stats_moments *moments, double value); // one pass, stable
// Student's interval of a mean. All numbers if n < 2.
struct stats_interval stats_mean_interval(const struct stats_moments *moments, double confidence);

// A random number generator: the same seed gives the same numbers on every machine and in every
// version.
struct stats_random {
    uint64_t state[4];
};
struct stats_random stats_random_start(uint64_t seed, uint64_t stream);
uint64_t stats_random_next(struct stats_random *random);
uint64_t stats_random_below(struct stats_random *random, uint64_t bound); // unbiased
double stats_random_unit(struct stats_random *random);                    // [0, 1)

// Chooses `chosen` of 0..n-1 without repetition, ascending; all if chosen >= n. Needs O(chosen)
// memory. The caller frees the indices.
_must_check_ struct error *stats_sample(struct stats_random *random, uint64_t n, uint64_t chosen,
                                        uint64_t **ret_indices, uint64_t *ret_count);
// The same by weight. Items of weight 0 are never chosen.
_must_check_ struct error *stats_sample_weighted(struct stats_random *random, const double *weights,
                                                 uint64_t n, uint64_t chosen,
                                                 uint64_t **ret_indices, uint64_t *ret_count);

#endif
