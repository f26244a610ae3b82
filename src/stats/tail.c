// SPDX-License-Identifier: GPL-3.0-or-later
// The tail of counts, as the exponent of a power law: fitted by maximum likelihood.
#include "stats/stats.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_sf_zeta.h>
#include <math.h>

#define LEAST (1 + 1e-6) // exponents of the zeta distribution are above 1
#define MOST  50.0

static double log_zeta(double exponent)
{
    gsl_sf_result value;
    return gsl_sf_zetam1_e(exponent, &value) == GSL_SUCCESS ? log1p(value.val) : NAN;
}

// The width of differences shrinks near 1, where zeta rises without end.
static double width(double exponent)
{
    return fmin(1e-4, (exponent - 1) / 16);
}

// Minus the derivative of log zeta: the mean of log k that the exponent makes likely.
static double expected_mean(double exponent)
{
    double h = width(exponent);
    return (log_zeta(exponent - h) - log_zeta(exponent + h)) / (2 * h);
}

struct stats_tail stats_zeta_tail(double mean_logarithm, uint64_t n)
{
    struct stats_tail tail = {NAN, NAN};
    double low = LEAST, high = MOST;
    if (n == 0 || !(mean_logarithm > expected_mean(high)) || mean_logarithm > expected_mean(low))
        return tail;
    while (high - low > 1e-10) { // the larger the exponent, the smaller the mean
        double middle = (low + high) / 2;
        if (expected_mean(middle) > mean_logarithm)
            low = middle;
        else
            high = middle;
    }
    tail.exponent = (low + high) / 2;
    double h = width(tail.exponent);
    double information = // of one count
        (expected_mean(tail.exponent - h) - expected_mean(tail.exponent + h)) / (2 * h);
    if (information > 0)
        tail.error = 1 / sqrt((double)n * information);
    return tail;
}
