// SPDX-License-Identifier: GPL-3.0-or-later
// Computes weights that make the activated faults, not the injected ones, follow a fault model.
#include "fidelity/executions.h"

#include "base/cleanup.h"

#include <math.h>

void fidelity_match_deinit(struct fidelity_match *match)
{
    ARRAY_DEINIT(&match->model);
    ARRAY_DEINIT(&match->weights);
}

// A draw chooses type t in proportion to weight times candidates. It activates t in proportion to
// weight times executed candidates. So the weight is the model's share divided by the number of
// executed candidates that can be enabled, whether or not other candidates take part.
static struct error *weigh(const struct fidelity_result *result, const double *model,
                           struct fidelity_match *match)
{
    double sum = 0;
    for (size_t i = 0; i < result->types.count; i++)
        sum += model != NULL ? model[i] : (double)result->types.items[i].input;
    if (!(sum > 0))
        return error_new("the model has no fault type of the program");
    for (size_t i = 0; i < result->types.count; i++) {
        const struct fidelity_type *type = &result->types.items[i];
        double *share = ARRAY_ADD(&match->model), *weight = ARRAY_ADD(&match->weights);
        if (share == NULL || weight == NULL)
            return error_no_memory();
        *share = (model != NULL ? model[i] : (double)type->input) / sum;
        if (type->drawable != 0)
            *weight = *share / (double)type->drawable;
        else
            match->lost += *share;
    }
    return NULL;
}

// Scales the weights so that their mean over executed candidates is 1.
static void scale(const struct fidelity_result *result, struct fidelity_match *match)
{
    double sum = 0, executed = 0;
    for (size_t i = 0; i < match->weights.count; i++) {
        sum += match->weights.items[i] * (double)result->types.items[i].drawable;
        executed += (double)result->types.items[i].drawable;
    }
    for (size_t i = 0; i < match->weights.count; i++)
        match->weights.items[i] *= sum > 0 ? executed / sum : 0;
}

static struct error *compare(const struct fidelity_result *result, struct fidelity_match *match)
{
    size_t types = match->model.count;
    double n = (double)result->coverage[UNIT_CANDIDATES].executed;
    _cleanup_free_ double *before = calloc(types + 1, sizeof *before);
    _cleanup_free_ double *after = calloc(types + 1, sizeof *after);
    if (before == NULL || after == NULL)
        return error_no_memory();
    for (size_t i = 0; i < types; i++) {
        // A type that the model leaves out cannot be compared with it.
        if (!(match->model.items[i] > 0))
            continue;
        before[i] = (double)result->types.items[i].drawable;
        after[i] = before[i] * match->weights.items[i];
    }
    TRY(fidelity_distance(match->model.items, before, types, n, &match->before));
    return fidelity_distance(match->model.items, after, types, n, &match->after);
}

struct error *fidelity_match(const struct fidelity_result *result, const double *model,
                             struct fidelity_match *ret_match)
{
    struct fidelity_match match = {0};
    struct error *error = weigh(result, model, &match);
    if (error == NULL) {
        scale(result, &match);
        error = compare(result, &match);
    }
    if (error != NULL)
        fidelity_match_deinit(&match);
    else
        *ret_match = match;
    return error;
}

struct error *fidelity_put_weights(const struct fidelity_result *result,
                                   const struct fidelity_match *match, struct buffer *text)
{
    TRY(buffer_printf(text, "# Weights of fault types: 'selection: {sample: N, weights: FILE}'.\n"
                            "# With them the activated faults follow the model.\n"));
    for (size_t i = 0; i < result->types.count; i++)
        TRY(buffer_printf(text, "%s %.6g\n", result->types.items[i].name, match->weights.items[i]));
    return NULL;
}
