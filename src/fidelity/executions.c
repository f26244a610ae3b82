// SPDX-License-Identifier: GPL-3.0-or-later
// Measures how often blocks are executed: quantiles, histogram, power-law tail, and growth over
// several runs.
#include "fidelity/executions.h"

#include "base/cleanup.h"

#include <math.h>
#include <stdlib.h>

// ---- executions of one run ----

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static unsigned decade_of(uint64_t count)
{
    if (count < 2)
        return (unsigned)count;
    unsigned decade = 2;
    for (; count >= 10; count /= 10)
        decade++;
    return decade < FIDELITY_DECADES ? decade : FIDELITY_DECADES - 1;
}

// The smallest of the sorted counts that at least this share of them does not exceed.
static uint64_t quantile(const uint64_t *sorted, size_t count, double share)
{
    size_t rank = (size_t)ceil(share * (double)count);
    return sorted[rank != 0 ? rank - 1 : 0];
}

static void summarise(const uint64_t *sorted, size_t count, struct fidelity_counts *counts)
{
    counts->blocks = count;
    if (count == 0)
        return;
    size_t top = (count + 99) / 100;
    double of_top = 0;
    for (size_t i = 0; i < count; i++) {
        counts->executions += (double)sorted[i];
        of_top += i >= count - top ? (double)sorted[i] : 0;
    }
    counts->median = quantile(sorted, count, 0.5);
    counts->percentile_90 = quantile(sorted, count, 0.9);
    counts->percentile_99 = quantile(sorted, count, 0.99);
    counts->most = sorted[count - 1];
    counts->top_share = of_top / counts->executions;
}

static struct stats_tail tail_of(const struct fidelity_subject *subject, const uint64_t *counts)
{
    double sum = 0;
    uint64_t executed = 0;
    for (size_t i = 0; i < subject->blocks.count; i++)
        if (counts[i] != 0) {
            sum += log((double)counts[i]);
            executed++;
        }
    return stats_zeta_tail(executed != 0 ? sum / (double)executed : 0, executed);
}

// Fits a tail to every run. Several runs give a mean and its standard error.
static void measure_tail(const struct fidelity_subject *subject,
                         const struct fidelity_workload *workload, struct fidelity_counts *counts)
{
    struct stats_moments moments = {0};
    struct stats_tail tail = {NAN, NAN};
    for (size_t i = 0; i < workload->runs.count; i++) {
        tail = tail_of(subject, workload->counts[i]);
        if (!isnan(tail.exponent))
            stats_add(&moments, tail.exponent);
    }
    counts->tails = moments.n;
    counts->tail =
        workload->runs.count == 1 ? tail
        : moments.n == 0
            ? (struct stats_tail){NAN, NAN}
            : (struct stats_tail){
                  moments.mean, moments.n > 1 ? moments.deviation / sqrt((double)moments.n) : NAN};
}

// ---- several runs ----

static double share_executed(uint64_t executed, const struct fidelity_result *result)
{
    return fidelity_percent(
        (struct fidelity_coverage){executed, result->coverage[UNIT_BLOCKS].total});
}

static struct error *measure_growth(const struct fidelity_subject *subject,
                                    const struct fidelity_workload *workload,
                                    struct fidelity_result *result)
{
    size_t blocks = subject->blocks.count;
    _cleanup_free_ bool *seen = calloc(blocks + 1, sizeof *seen);
    if (seen == NULL)
        return error_no_memory();
    uint64_t all = 0;
    double final = fidelity_percent(result->coverage[UNIT_BLOCKS]);
    for (size_t run = 0; run < workload->runs.count; run++) {
        uint64_t here = 0;
        for (size_t i = 0; i < blocks; i++) {
            bool executed = workload->counts[run][i] != 0;
            here += executed;
            all += executed && !seen[i];
            seen[i] |= executed;
        }
        stats_add(&result->growth.per_run, share_executed(here, result));
        if (result->growth.enough == 0 && share_executed(all, result) >= final - 1)
            result->growth.enough = run + 1;
    }
    return NULL;
}

static void measure_bands(const struct fidelity_subject *subject,
                          const struct fidelity_workload *workload, struct fidelity_result *result)
{
    static const double limits[FIDELITY_BANDS] = {0.1, 0.25, 0.5, 0.999999, 1};
    for (int i = 0; i < FIDELITY_BANDS; i++)
        result->bands[i].up_to = limits[i];
    for (size_t i = 0; i < subject->blocks.count; i++) {
        size_t runs = 0;
        uint64_t most = 0;
        for (size_t run = 0; run < workload->runs.count; run++) {
            uint64_t count = workload->counts[run][i];
            runs += count != 0;
            most = count > most ? count : most;
        }
        if (runs == 0)
            continue;
        int band = 0;
        while ((double)runs / (double)workload->runs.count > limits[band])
            band++;
        result->bands[band].blocks++;
        result->bands[band].most += log((double)most);
    }
    for (int i = 0; i < FIDELITY_BANDS; i++)
        if (result->bands[i].blocks != 0)
            result->bands[i].most = exp(result->bands[i].most / (double)result->bands[i].blocks);
}

struct error *fidelity_measure_executions(const struct fidelity_subject *subject,
                                          const struct fidelity_workload *workload,
                                          struct fidelity_result *result)
{
    const uint64_t *counts = workload->total;
    _cleanup_free_ uint64_t *sorted = calloc(subject->blocks.count + 1, sizeof *sorted);
    if (sorted == NULL)
        return error_no_memory();
    size_t executed = 0;
    for (size_t i = 0; i < subject->blocks.count; i++) {
        if (!fidelity_block_exists(&subject->blocks.items[i], counts[i]))
            continue;
        result->counts.histogram[decade_of(counts[i])]++;
        if (counts[i] != 0)
            sorted[executed++] = counts[i];
    }
    qsort(sorted, executed, sizeof *sorted, by_value);
    summarise(sorted, executed, &result->counts);
    measure_tail(subject, workload, &result->counts);
    TRY(measure_growth(subject, workload, result));
    measure_bands(subject, workload, result);
    return NULL;
}
