// SPDX-License-Identifier: GPL-3.0-or-later
// Measures a workload: coverage, block sizes, fault types, and the distances between fault loads.
#include "fidelity/measure.h"

#include "base/cleanup.h"
#include "fidelity/executions.h"

#include <math.h>
#include <stdlib.h>

const char *const fidelity_unit_names[UNITS] = {
    [UNIT_CANDIDATES] = "fault candidates",
    [UNIT_BLOCKS] = "basic blocks",
    [UNIT_LINES] = "lines",
    [UNIT_INSTRUCTIONS] = "instructions",
};

double fidelity_percent(struct fidelity_coverage coverage)
{
    return coverage.total != 0 ? 100 * (double)coverage.executed / (double)coverage.total : 0;
}

void fidelity_result_deinit(struct fidelity_result *result)
{
    ARRAY_DEINIT(&result->types);
}

bool fidelity_block_exists(const struct fidelity_block *block, uint64_t count)
{
    return block->instructions != 0 && (block->present || count != 0);
}

// ---- coverage ----

static void add_size(struct fidelity_size *sum, const struct fidelity_block *block)
{
    sum->candidates += (double)block->candidates;
    sum->lines += (double)block->lines;
    sum->instructions += (double)block->instructions;
}

static void divide(struct fidelity_size *sum, uint64_t blocks)
{
    if (blocks == 0)
        return;
    sum->candidates /= (double)blocks;
    sum->lines /= (double)blocks;
    sum->instructions /= (double)blocks;
}

static struct error *measure_coverage(const struct fidelity_subject *subject,
                                      const uint64_t *counts, struct fidelity_result *result)
{
    struct fidelity_coverage *coverage = result->coverage;
    enum { UNSEEN, SEEN, EXECUTED };
    _cleanup_free_ unsigned char *lines = calloc(subject->lines + 1, 1);
    if (lines == NULL)
        return error_no_memory();
    for (size_t i = 0; i < subject->blocks.count; i++) {
        const struct fidelity_block *block = &subject->blocks.items[i];
        bool executed = counts[i] != 0;
        if (!fidelity_block_exists(block, counts[i]))
            continue;
        const uint64_t sizes[UNITS] = {[UNIT_CANDIDATES] = block->candidates,
                                       [UNIT_BLOCKS] = 1,
                                       [UNIT_INSTRUCTIONS] = block->instructions};
        for (int unit = 0; unit < UNITS; unit++) {
            coverage[unit].total += sizes[unit];
            coverage[unit].executed += executed ? sizes[unit] : 0;
        }
        add_size(executed ? &result->executed : &result->not_executed, block);
        for (size_t j = 0; j < block->lines; j++) {
            size_t line = subject->block_lines.items[block->first_line + j].number;
            if (lines[line] != EXECUTED)
                lines[line] = executed ? EXECUTED : SEEN;
        }
    }
    for (size_t i = 0; i < subject->lines; i++) {
        coverage[UNIT_LINES].total += lines[i] != UNSEEN;
        coverage[UNIT_LINES].executed += lines[i] == EXECUTED;
    }
    divide(&result->executed, coverage[UNIT_BLOCKS].executed);
    divide(&result->not_executed, coverage[UNIT_BLOCKS].total - coverage[UNIT_BLOCKS].executed);
    return NULL;
}

// ---- fault types ----

static struct error *add_types(const struct fidelity_subject *subject, const uint64_t *counts,
                               struct fidelity_result *result)
{
    for (size_t i = 0; i < subject->types.count; i++) {
        struct fidelity_type *type = ARRAY_ADD(&result->types);
        if (type == NULL)
            return error_no_memory();
        type->name = subject->types.items[i];
    }
    uint64_t executed = 0;
    for (size_t i = 0; i < subject->candidates.count; i++) {
        const struct fidelity_candidate *candidate = &subject->candidates.items[i];
        struct fidelity_type *type = &result->types.items[candidate->type];
        uint64_t count = counts[candidate->block];
        type->input++;
        if (count == 0)
            continue;
        executed++;
        type->executed++;
        type->drawable += candidate->live;
        type->activations += (double)count;
        type->weight += 1 + log2((double)count);
    }
    for (size_t i = 0; i < result->types.count; i++)
        result->types.items[i].expected = (double)result->types.items[i].input *
                                          ((double)executed / (double)subject->candidates.count);
    return NULL;
}

struct shares {         // of one type, in blocks with candidates
    double *of_type;    // in the executed blocks
    double *logarithms; // of the counts of these blocks
    size_t executed, others;
    double sum, other_sum;
};

static double share_of(const struct fidelity_subject *subject, const struct fidelity_block *block,
                       size_t type)
{
    size_t found = 0;
    for (size_t i = 0; i < block->candidates; i++)
        found += subject->candidates.items[block->first_candidate + i].type == type;
    return (double)found / (double)block->candidates;
}

static void measure_shares(const struct fidelity_subject *subject, const uint64_t *counts,
                           size_t number, struct shares *shares, struct fidelity_type *type)
{
    shares->executed = shares->others = 0;
    shares->sum = shares->other_sum = 0;
    for (size_t i = 0; i < subject->blocks.count; i++) {
        const struct fidelity_block *block = &subject->blocks.items[i];
        if (block->candidates == 0 || !fidelity_block_exists(block, counts[i]))
            continue;
        double share = share_of(subject, block, number);
        if (counts[i] == 0) {
            shares->others++;
            shares->other_sum += share;
            continue;
        }
        shares->of_type[shares->executed] = share;
        shares->logarithms[shares->executed++] = log2((double)counts[i]);
        shares->sum += share;
    }
    type->covered = shares->executed != 0 ? shares->sum / (double)shares->executed : 0;
    type->uncovered = shares->others != 0 ? shares->other_sum / (double)shares->others : 0;
    type->correlation = stats_correlate(shares->of_type, shares->logarithms, shares->executed);
}

static struct error *measure_types(const struct fidelity_subject *subject, const uint64_t *counts,
                                   struct fidelity_result *result)
{
    TRY(add_types(subject, counts, result));
    size_t blocks = subject->blocks.count + 1;
    _cleanup_free_ double *of_type = calloc(blocks, sizeof *of_type);
    _cleanup_free_ double *logarithms = calloc(blocks, sizeof *logarithms);
    if (of_type == NULL || logarithms == NULL)
        return error_no_memory();
    struct shares shares = {.of_type = of_type, .logarithms = logarithms};
    for (size_t i = 0; i < result->types.count; i++)
        measure_shares(subject, counts, i, &shares, &result->types.items[i]);
    return NULL;
}

// ---- distances ----

struct error *fidelity_distance(const double *input, const double *output, size_t types, double n,
                                struct fidelity_distance *ret_distance)
{
    struct fidelity_distance distance = {.divergence = stats_jensen_shannon(input, output, types)};
    double sums[2] = {0};
    _cleanup_free_ double *expected = calloc(types + 1, sizeof *expected);
    _cleanup_free_ double *observed = calloc(types + 1, sizeof *observed);
    if (expected == NULL || observed == NULL)
        return error_no_memory();
    for (size_t i = 0; i < types; i++) {
        sums[0] += input[i];
        sums[1] += output[i];
    }
    if (sums[0] > 0 && sums[1] > 0)
        for (size_t i = 0; i < types; i++) {
            expected[i] = n * input[i] / sums[0];
            observed[i] = n * output[i] / sums[1];
        }
    TRY(stats_goodness_of_fit(observed, expected, types, &distance.test));
    *ret_distance = distance;
    return NULL;
}

static struct error *measure_executed(const struct fidelity_result *result, size_t types,
                                      struct stats_test *ret_test)
{
    _cleanup_free_ uint64_t(*rows)[2] = calloc(types + 1, sizeof *rows);
    if (rows == NULL)
        return error_no_memory();
    for (size_t i = 0; i < types; i++) {
        rows[i][0] = result->types.items[i].executed;
        rows[i][1] = result->types.items[i].input - rows[i][0];
    }
    return stats_independence((const uint64_t(*)[2])rows, types, ret_test);
}

static struct error *measure_distances(struct fidelity_result *result)
{
    size_t types = result->types.count;
    double n = (double)result->coverage[UNIT_CANDIDATES].executed;
    _cleanup_free_ double *columns = calloc(4 * types + 1, sizeof *columns);
    if (columns == NULL)
        return error_no_memory();
    double *input = columns, *executed = input + types, *logarithms = executed + types,
           *counts = logarithms + types;
    for (size_t i = 0; i < types; i++) {
        input[i] = (double)result->types.items[i].input;
        executed[i] = (double)result->types.items[i].executed;
        logarithms[i] = result->types.items[i].weight;
        counts[i] = result->types.items[i].activations;
    }
    TRY(fidelity_distance(input, executed, types, n, &result->to_executed));
    TRY(fidelity_distance(input, logarithms, types, n, &result->to_logarithms));
    TRY(fidelity_distance(input, counts, types, n, &result->to_counts));
    // Executed candidates are a part of the input, not drawn from it.
    TRY(measure_executed(result, types, &result->to_executed.test));
    uint64_t total = result->coverage[UNIT_CANDIDATES].total;
    result->association = total != 0 ? sqrt(result->to_executed.test.statistic / (double)total) : 0;
    return NULL;
}

struct error *fidelity_measure(const struct fidelity_subject *subject,
                               const struct fidelity_workload *workload,
                               struct fidelity_result *ret_result)
{
    struct fidelity_result result = {.runs = workload->runs.count};
    struct error *error = measure_coverage(subject, workload->total, &result);
    if (error == NULL)
        error = measure_types(subject, workload->total, &result);
    if (error == NULL)
        error = measure_distances(&result);
    if (error == NULL)
        error = fidelity_measure_executions(subject, workload, &result);
    if (error != NULL)
        fidelity_result_deinit(&result);
    else
        *ret_result = result;
    return error;
}
