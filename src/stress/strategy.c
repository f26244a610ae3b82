// SPDX-License-Identifier: GPL-3.0-or-later
// The article does not define composite stress and its threshold: here it is a weighted mean, and
// both are settable.
#include "stress/strategy.h"

#include <math.h>

const char *const strategy_names[STRATEGY_KINDS] = {"r", "l", "t", "lt", "ltlow"};

static double draw_pause(struct strategy *strategy)
{
    return -strategy->mean_s * log1p(-stats_random_unit(&strategy->random));
}

void strategy_start(struct strategy *strategy)
{
    strategy->due_s = draw_pause(strategy);
}

double strategy_composite(const struct strategy *strategy, const double stress[STRESS_AREAS])
{
    double sum = 0, weights = 0;
    for (unsigned area = 0; area < STRESS_AREAS; area++) {
        sum += strategy->weights[area] * stress[area];
        weights += strategy->weights[area];
    }
    return weights > 0 ? sum / weights : 0;
}

static bool is_time(const struct strategy *strategy, const double stress[STRESS_AREAS])
{
    double composite = strategy_composite(strategy, stress);
    switch (strategy->kind) {
    case STRATEGY_T:
    case STRATEGY_LT:
        return composite > strategy->threshold;
    case STRATEGY_LTLOW:
        return composite < strategy->threshold;
    case STRATEGY_R:
    case STRATEGY_L:
    case STRATEGY_KINDS:
        break;
    }
    return true;
}

// Of areas with the same stress, or if stress does not matter, each is as likely.
static enum stress_area draw_area(struct strategy *strategy, const double stress[STRESS_AREAS])
{
    bool matters = strategy->kind != STRATEGY_R && strategy->kind != STRATEGY_T;
    double sign = strategy->kind == STRATEGY_LTLOW ? -1 : 1, best = -INFINITY;
    enum stress_area areas[STRESS_AREAS];
    unsigned count = 0;
    for (unsigned area = 0; area < STRESS_AREAS; area++) {
        double value = matters ? sign * stress[area] : 0;
        if (!strategy->areas[area] || value < best)
            continue;
        if (value > best)
            count = 0;
        best = value;
        areas[count++] = (enum stress_area)area;
    }
    return areas[stats_random_below(&strategy->random, count)];
}

bool strategy_decide(struct strategy *strategy, double now_s, const double stress[STRESS_AREAS],
                     enum stress_area *ret_area)
{
    if (now_s < strategy->due_s || !is_time(strategy, stress))
        return false;
    *ret_area = draw_area(strategy, stress);
    strategy->due_s = now_s + draw_pause(strategy);
    return true;
}
