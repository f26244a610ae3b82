// SPDX-License-Identifier: GPL-3.0-or-later
// How far distributions are apart, whether chance explains that, and how two columns correlate.
#include "stats/stats.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#define EXPECTED_LEAST 5 // with fewer, chi-square is a bad approximation

struct error *stats_goodness_of_fit(const double *observed, const double *expected, size_t count,
                                    struct stats_test *ret_test)
{
    struct stats_test test = {.method = STATS_CHI_SQUARE, .p = 1};
    double rare_observed = 0, rare_expected = 0;
    size_t rows = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(observed[i] >= 0) || !(expected[i] >= 0) || isinf(observed[i]) || isinf(expected[i]))
            return error_new("row %zu of a table has no counts", i + 1);
        if (expected[i] <= 0 && observed[i] > 0)
            return error_new("row %zu of a table has observations where none is possible", i + 1);
        if (expected[i] < EXPECTED_LEAST) {
            rare_observed += observed[i];
            rare_expected += expected[i];
            continue;
        }
        double difference = observed[i] - expected[i];
        test.statistic += difference * difference / expected[i];
        rows++;
    }
    if (rare_expected > 0) {
        double difference = rare_observed - rare_expected;
        test.statistic += difference * difference / rare_expected;
        rows++;
    }
    if (rows > 1) {
        test.freedom = (unsigned)(rows - 1);
        test.p = gsl_cdf_chisq_Q(test.statistic, test.freedom);
    } else {
        test.method = STATS_NOTHING;
    }
    *ret_test = test;
    return NULL;
}

// One distribution's part of the divergence from the mean of both.
static double part(double share, double other)
{
    return share > 0 ? share * log2(2 * share / (share + other)) : 0;
}

double stats_jensen_shannon(const double *first, const double *second, size_t count)
{
    double sums[2] = {0}, divergence = 0;
    for (size_t i = 0; i < count; i++) {
        sums[0] += first[i];
        sums[1] += second[i];
    }
    if (!(sums[0] > 0) || !(sums[1] > 0))
        return NAN;
    for (size_t i = 0; i < count; i++) {
        double p = first[i] / sums[0], q = second[i] / sums[1];
        divergence += (part(p, q) + part(q, p)) / 2;
    }
    return divergence < 0 ? 0 : divergence > 1 ? 1 : divergence; // rounding errors
}

static bool varies(const double *values, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (values[i] < values[0] || values[i] > values[0])
            return true;
    return false;
}

struct stats_correlation stats_correlate(const double *x, const double *y, size_t count)
{
    struct stats_correlation result = {.r = NAN, .p = 1, .n = count};
    if (count < 3 || !varies(x, count) || !varies(y, count))
        return result;
    result.r = gsl_stats_correlation(x, 1, y, 1, count);
    double freedom = (double)count - 2, rest = 1 - result.r * result.r;
    result.p = rest > 0 ? 2 * gsl_cdf_tdist_Q(fabs(result.r) * sqrt(freedom / rest), freedom) : 0;
    return result;
}
