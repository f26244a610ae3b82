// SPDX-License-Identifier: GPL-3.0-or-later
// Confidence intervals of proportions, and the sample sizes they need.
#include "stats/stats.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

// The z value of a two-sided error: a normal distribution has `error` of its mass more than this
// many deviations from the mean.
static double deviations(double error)
{
    return error <= 0 ? INFINITY : error >= 1 ? 0 : gsl_cdf_ugaussian_Qinv(error / 2);
}

struct stats_interval stats_wilson_share(double share, double n, double confidence)
{
    double z = deviations(1 - confidence);
    if (!(n > 0) || isinf(z))
        return (struct stats_interval){0, 1};
    share = fmin(fmax(share, 0), 1);
    double square = z * z;
    double middle = (share + square / (2 * n)) / (1 + square / n);
    double width = z / (1 + square / n) * sqrt(share * (1 - share) / n + square / (4 * n * n));
    // In exact arithmetic these two ends are 0 and 1. Reports must not show 1e-17.
    return (struct stats_interval){
        .low = share <= 0 ? 0 : fmax(0, middle - width),
        .high = share >= 1 ? 1 : fmin(1, middle + width),
    };
}

struct stats_interval stats_wilson(uint64_t hits, uint64_t n, double confidence)
{
    return stats_wilson_share(n != 0 ? (double)hits / (double)n : 0, (double)n, confidence);
}

// How far Wilson's interval for n trials extends from `share` on its wider side.
static double reach(double share, double n, double z)
{
    double square = z * z, smaller = fmin(share, 1 - share);
    double middle = (smaller + square / (2 * n)) / (1 + square / n);
    double width = z / (1 + square / n) * sqrt(smaller * (1 - smaller) / n + square / (4 * n * n));
    return middle + width - smaller;
}

static uint64_t whole(double n)
{
    double up = ceil(n - 1e-9);
    return up >= 0x1p63 ? UINT64_MAX : up < 1 ? 1 : (uint64_t)up;
}

// The textbook formula z²p(1-p)/d² is right around the middle but far too optimistic for rare
// events. Near 0 and 1 Wilson's interval, which reports show, decides.
uint64_t stats_sample_size(double half_width, double confidence, double expected)
{
    double z = deviations(1 - confidence);
    if (half_width <= 0 || isinf(z))
        return UINT64_MAX;
    double share = expected < 0 ? 0.5 : fmin(expected, 1);
    uint64_t least = whole(z * z * share * (1 - share) / (half_width * half_width));
    if (least == UINT64_MAX || reach(share, (double)least, z) <= half_width)
        return least;
    uint64_t most = least;
    while (reach(share, (double)most, z) > half_width) {
        if (most > UINT64_MAX / 4)
            return UINT64_MAX;
        most *= 2;
    }
    while (least + 1 < most) {
        uint64_t between = least + (most - least) / 2;
        if (reach(share, (double)between, z) > half_width)
            least = between;
        else
            most = between;
    }
    return most;
}

// Equation 3.1 of Natella's thesis (section 3.3.2) requires that the k error probabilities together
// stay below 1 - confidence. Before the proportions are estimated, the worst case counts: m equal
// proportions for some m, all others zero (S. K. Thompson, Sample size for estimating multinomial
// proportions, The American Statistician 41(1), 1987).
uint64_t stats_sample_size_bonferroni(double half_width, double confidence, size_t k)
{
    if (k <= 1)
        return stats_sample_size(half_width, confidence, -1);
    double worst = 0;
    // The product below decreases from some small m on, because the quantile grows only with the
    // root of log m.
    for (size_t m = 2; m <= k && m <= 64; m++) {
        double z = deviations((1 - confidence) / (double)m), share = 1 / (double)m;
        worst = fmax(worst, z * z * share * (1 - share));
    }
    return half_width <= 0 ? UINT64_MAX : whole(worst / (half_width * half_width));
}

bool stats_accurate_bonferroni(const uint64_t *counts, size_t k, uint64_t n, double half_width,
                               double confidence, double *ret_error_sum)
{
    double sum = 0;
    for (size_t i = 0; i < k; i++) {
        double share = n > 0 ? fmin(1, (double)counts[i] / (double)n) : 0;
        double variance = share * (1 - share);
        if (n == 0)
            sum += 1;
        else if (variance > 0)
            sum += 2 * gsl_cdf_ugaussian_Q(half_width * sqrt((double)n) / sqrt(variance));
    }
    if (ret_error_sum != NULL)
        *ret_error_sum = sum;
    if (n == 0 || sum > 1 - confidence)
        return false;
    // For the equation, a category that was not seen does not exist: after one trial everything
    // would be known. So the interval of 0 of n must be narrow enough, too.
    return reach(0, (double)n, deviations((1 - confidence) / (double)(k > 0 ? k : 1))) <=
           half_width;
}

struct stats_interval stats_mean_interval(const struct stats_moments *moments, double confidence)
{
    if (moments->n < 2)
        return (struct stats_interval){-INFINITY, INFINITY};
    double n = (double)moments->n;
    double width = gsl_cdf_tdist_Qinv((1 - confidence) / 2, n - 1) * moments->deviation / sqrt(n);
    return (struct stats_interval){moments->mean - width, moments->mean + width};
}
