// SPDX-License-Identifier: GPL-3.0-or-later
// Spearman's rank correlation, and the strength of an association in a table.
#include "stats/stats.h"

#include "base/cleanup.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>

struct ranked {
    double value;
    size_t index;
};

static int by_value(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

// Equal values share the mean of their ranks.
static struct error *rank(const double *values, const double *weights, size_t count,
                          double **ret_ranks)
{
    _cleanup_free_ struct ranked *sorted = calloc(count + 1, sizeof *sorted);
    double *ranks = calloc(count + 1, sizeof *ranks), before = 0;
    if (sorted == NULL || ranks == NULL) {
        free(ranks);
        return error_no_memory();
    }
    for (size_t i = 0; i < count; i++)
        sorted[i] = (struct ranked){values[i], i};
    qsort(sorted, count, sizeof *sorted, by_value);
    for (size_t i = 0, end; i < count; i = end) {
        double equal = 0;
        for (end = i; end < count && !(sorted[end].value > sorted[i].value); end++)
            equal += weights[sorted[end].index];
        for (size_t j = i; j < end; j++)
            ranks[sorted[j].index] = before + (equal + 1) / 2;
        before += equal;
    }
    *ret_ranks = ranks;
    return NULL;
}

static struct stats_correlation correlate(const double *x, const double *y, const double *weights,
                                          size_t count)
{
    double n = 0, means[2] = {0}, squares[2] = {0}, products = 0;
    for (size_t i = 0; i < count; i++) {
        n += weights[i];
        means[0] += weights[i] * x[i];
        means[1] += weights[i] * y[i];
    }
    for (size_t i = 0; i < count; i++) {
        double dx = x[i] - means[0] / n, dy = y[i] - means[1] / n;
        squares[0] += weights[i] * dx * dx;
        squares[1] += weights[i] * dy * dy;
        products += weights[i] * dx * dy;
    }
    struct stats_correlation result = {.r = NAN, .p = 1, .n = (size_t)n};
    if (!(n > 2) || !(squares[0] > 0) || !(squares[1] > 0))
        return result;
    result.r = products / sqrt(squares[0] * squares[1]);
    double rest = 1 - result.r * result.r;
    result.p = rest > 0 ? 2 * gsl_cdf_tdist_Q(fabs(result.r) * sqrt((n - 2) / rest), n - 2) : 0;
    return result;
}

struct error *stats_spearman(const double *x, const double *y, const double *weights, size_t count,
                             struct stats_correlation *ret_correlation)
{
    _cleanup_free_ double *ranks_x = NULL, *ranks_y = NULL;
    TRY(rank(x, weights, count, &ranks_x));
    TRY(rank(y, weights, count, &ranks_y));
    *ret_correlation = correlate(ranks_x, ranks_y, weights, count);
    return NULL;
}

double stats_cramer(const uint64_t (*rows)[2], size_t count)
{
    double columns[2] = {0}, square = 0;
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        used += rows[i][0] + rows[i][1] != 0;
        columns[0] += (double)rows[i][0];
        columns[1] += (double)rows[i][1];
    }
    double n = columns[0] + columns[1];
    if (used < 2 || !(columns[0] > 0) || !(columns[1] > 0))
        return NAN;
    for (size_t i = 0; i < count; i++)
        for (unsigned j = 0; j < 2; j++) {
            double expected = (double)(rows[i][0] + rows[i][1]) * columns[j] / n;
            if (expected > 0)
                square += pow((double)rows[i][j] - expected, 2) / expected;
        }
    return sqrt(square / n);
}
