// SPDX-License-Identifier: GPL-3.0-or-later
// Tests whether groups differ in a proportion. Uses Pearson's chi-square test where its
// approximation holds, and otherwise the distribution of all tables with the same sums.
#include "base/cleanup.h"
#include "stats/stats.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#define TABLES       10000   // tables drawn by the Monte-Carlo test
#define WORK         4000000 // rows drawn by it at most; but never fewer tables than:
#define TABLES_LEAST 2000
#define MOST         (1ull << 53) // observations at most: beyond, doubles cannot count them
#define FACTORS      (1u << 20)   // logarithms of factorials kept at most

// Two tables are equally likely if their probabilities differ only by rounding. R uses the same
// tolerance.
#define TOLERANCE 1e-7

struct contingency_table {
    const uint64_t (*rows)[2];
    size_t count, filled; // rows; rows with observations
    uint64_t columns[2], total;
};

static struct error *add_up(const uint64_t (*rows)[2], size_t count,
                            struct contingency_table *ret_table)
{
    struct contingency_table table = {.rows = rows, .count = count};
    for (size_t i = 0; i < count; i++) {
        for (unsigned k = 0; k < 2; k++) {
            if (rows[i][k] > MOST - table.total)
                return error_new("more than 2^53 observations in a table");
            table.total += rows[i][k];
            table.columns[k] += rows[i][k];
        }
        table.filled += rows[i][0] + rows[i][1] > 0;
    }
    *ret_table = table;
    return NULL;
}

static double row_size(const struct contingency_table *table, size_t i)
{
    return (double)table->rows[i][0] + (double)table->rows[i][1];
}

// The contribution of a row with `hits` to chi-square.
static double row_distance(const struct contingency_table *table, size_t i, double hits)
{
    double size = row_size(table, i);
    double expected = size * ((double)table->columns[0] / (double)table->total);
    double other = size - expected;
    return (hits - expected) * (hits - expected) * (1 / expected + 1 / other);
}

static double chi_square(const struct contingency_table *table)
{
    double sum = 0;
    for (size_t i = 0; i < table->count; i++)
        if (row_size(table, i) > 0)
            sum += row_distance(table, i, (double)table->rows[i][0]);
    return sum;
}

static bool sparse(const struct contingency_table *table)
{
    double rarer =
        (double)(table->columns[0] < table->columns[1] ? table->columns[0] : table->columns[1]);
    for (size_t i = 0; i < table->count; i++)
        if (row_size(table, i) > 0 && row_size(table, i) * rarer < 5 * (double)table->total)
            return true;
    return false;
}

// The hypergeometric distribution: the number of marked items among `draws` from `total`, of which
// `hits` are marked. It ranges from `low` to `high` and is most likely `mode`.
struct hypergeometric {
    uint64_t total, hits, draws, low, high, mode;
};

static struct hypergeometric hypergeometric(uint64_t total, uint64_t hits, uint64_t draws)
{
    uint64_t others = total - hits;
    struct hypergeometric law = {.total = total, .hits = hits, .draws = draws};
    law.low = draws > others ? draws - others : 0;
    law.high = draws < hits ? draws : hits;
    law.mode = (uint64_t)(((unsigned __int128)draws + 1) * (hits + 1) / (total + 2));
    law.mode = law.mode < law.low ? law.low : law.mode > law.high ? law.high : law.mode;
    return law;
}

// P(x + 1) / P(x), for low <= x < high.
static double step_ratio(const struct hypergeometric *law, uint64_t x)
{
    double left = (double)(law->total - law->hits - (law->draws - x)) + 1;
    return (double)(law->hits - x) * (double)(law->draws - x) / ((double)(x + 1) * left);
}

// Adds up, relative to P(mode) and from the mode outwards, all probabilities that are at most
// `limit` (a logarithm). *ret_at becomes the logarithm at `at`. Ratios stay precise where
// factorials of large numbers do not.
static double add_tails(const struct hypergeometric *law, uint64_t at, double limit, double *ret_at)
{
    double sum = 0, level = 0;
    for (uint64_t x = law->mode;; x++) {
        sum += level <= limit ? exp(level) : 0;
        if (x == at)
            *ret_at = level;
        if (x == law->high)
            break;
        level += log(step_ratio(law, x));
    }
    level = 0;
    for (uint64_t x = law->mode; x > law->low;) {
        level -= log(step_ratio(law, --x));
        sum += level <= limit ? exp(level) : 0;
        if (x == at)
            *ret_at = level;
    }
    return sum;
}

// Two-sided: sums over all tables that are no more likely than the observed one.
static double fisher(const struct contingency_table *table)
{
    size_t first = 0;
    while (table->rows[first][0] + table->rows[first][1] == 0)
        first++;
    struct hypergeometric law = hypergeometric(table->total, table->columns[0],
                                               table->rows[first][0] + table->rows[first][1]);
    double level = 0, ignored;
    double all = add_tails(&law, table->rows[first][0], INFINITY, &level);
    double tails = add_tails(&law, table->rows[first][0], level + TOLERANCE, &ignored);
    return fmin(1, tails / all);
}

struct factorials {
    double *logarithms;
    uint64_t count;
};

static double log_factorial(const struct factorials *factorials, uint64_t n)
{
    // Stirling's series is exact to the last digit for such n.
    double x = (double)n;
    return n < factorials->count ? factorials->logarithms[n]
                                 : (x + 0.5) * log(x) - x + 0.91893853320467274178 + 1 / (12 * x);
}

static double log_choose(const struct factorials *factorials, uint64_t n, uint64_t k)
{
    return log_factorial(factorials, n) - log_factorial(factorials, k) -
           log_factorial(factorials, n - k);
}

// Draws by inversion, from the mode outwards: the number of steps is about the deviation.
static uint64_t draw(const struct hypergeometric *law, const struct factorials *factorials,
                     struct stats_random *random)
{
    double left = stats_random_unit(random);
    double up = exp(log_choose(factorials, law->hits, law->mode) +
                    log_choose(factorials, law->total - law->hits, law->draws - law->mode) -
                    log_choose(factorials, law->total, law->draws));
    double down = up;
    uint64_t above = law->mode, below = law->mode;
    if ((left -= up) < 0)
        return law->mode;
    while (above < law->high || below > law->low) {
        if (above < law->high) {
            up *= step_ratio(law, above++);
            if ((left -= up) < 0)
                return above;
        }
        if (below > law->low) {
            down /= step_ratio(law, --below);
            if ((left -= down) < 0)
                return below;
        }
    }
    return law->mode; // rounding used up the rest
}

// Chi-square of a random table with the same sums.
static double random_distance(const struct contingency_table *table,
                              const struct factorials *factorials, struct stats_random *random)
{
    uint64_t total = table->total, hits = table->columns[0];
    double sum = 0;
    for (size_t i = 0; i < table->count; i++) {
        uint64_t size = table->rows[i][0] + table->rows[i][1];
        if (size == 0)
            continue;
        struct hypergeometric law = hypergeometric(total, hits, size);
        uint64_t drawn = draw(&law, factorials, random);
        sum += row_distance(table, i, (double)drawn);
        total -= size;
        hits -= drawn;
    }
    return sum;
}

// The same table always gives the same p. The observed table counts as one of the drawn ones, so p
// is never 0.
static struct error *monte_carlo(const struct contingency_table *table, double statistic,
                                 double *ret_p)
{
    struct factorials factorials = {.count =
                                        table->total + 1 < FACTORS ? table->total + 1 : FACTORS};
    _cleanup_free_ double *logarithms = calloc(factorials.count, sizeof *logarithms);
    if (logarithms == NULL)
        return error_no_memory();
    for (uint64_t i = 1; i < factorials.count; i++)
        logarithms[i] = logarithms[i - 1] + log((double)i);
    factorials.logarithms = logarithms;
    size_t tables = WORK / table->filled;
    tables = tables > TABLES ? TABLES : tables < TABLES_LEAST ? TABLES_LEAST : tables;
    struct stats_random random = stats_random_start(table->total, table->columns[0]);
    size_t as_far = 1;
    for (size_t i = 0; i < tables; i++)
        as_far += random_distance(table, &factorials, &random) >= statistic * (1 - TOLERANCE);
    *ret_p = (double)as_far / (double)(tables + 1);
    return NULL;
}

struct error *stats_independence(const uint64_t (*rows)[2], size_t count,
                                 struct stats_test *ret_test)
{
    struct contingency_table table = {0};
    TRY(add_up(rows, count, &table));
    struct stats_test test = {.method = STATS_NOTHING, .p = 1};
    if (table.filled >= 2 && table.columns[0] > 0 && table.columns[1] > 0) {
        test.freedom = (unsigned)(table.filled - 1);
        test.statistic = chi_square(&table);
        if (!sparse(&table)) {
            test.method = STATS_CHI_SQUARE;
            test.p = gsl_cdf_chisq_Q(test.statistic, test.freedom);
        } else if (table.filled == 2) {
            test.method = STATS_FISHER;
            test.p = fisher(&table);
        } else {
            test.method = STATS_MONTE_CARLO;
            TRY(monte_carlo(&table, test.statistic, &test.p));
        }
    }
    *ret_test = test;
    return NULL;
}

const char *stats_method_name(enum stats_method method)
{
    static const char *const names[] = {
        [STATS_CHI_SQUARE] = "chi-square test",
        [STATS_FISHER] = "Fisher's exact test",
        [STATS_MONTE_CARLO] = "chi-square test, simulated",
        [STATS_NOTHING] = "no test",
    };
    return names[method];
}

const char *stats_stars(double p)
{
    return p < 0.001 ? "***" : p < 0.01 ? "**" : p < 0.05 ? "*" : "";
}
