// SPDX-License-Identifier: GPL-3.0-or-later
// Fits the exponent of a power law to the tail of counts, by maximum likelihood.
#include "stats/stats.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_sf_zeta.h>
#include <math.h>

#define LEAST (1 + 1e-6) // zeta distributions have exponents above 1
#define MOST  50.0

static double log_zeta(double exponent)
{
    gsl_sf_result value;
    return gsl_sf_zetam1_e(exponent, &value) == GSL_SUCCESS ? log1p(value.val) : NAN;
}

// The step of numerical differentiation. It shrinks near 1, where zeta grows without bound.
static double width(double exponent)
{
    return fmin(1e-4, (exponent - 1) / 16);
}

// Minus the derivative of log zeta: the mean of log k under this exponent.
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
    while (high - low > 1e-10) { // a larger exponent has a smaller mean
        double middle = (low + high) / 2;
        if (expected_mean(middle) > mean_logarithm)
            low = middle;
        else
            high = middle;
    }
    tail.exponent = (low + high) / 2;
    double h = width(tail.exponent);
    double information = // Fisher information of one count
        (expected_mean(tail.exponent - h) - expected_mean(tail.exponent + h)) / (2 * h);
    if (information > 0)
        tail.error = 1 / sqrt((double)n * information);
    return tail;
}
