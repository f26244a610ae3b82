// SPDX-License-Identifier: GPL-3.0-or-later
// When and where a fault is injected, by the load of the moment. The five strategies of FTAPE.
#ifndef ORDEAL_STRESS_STRATEGY_H
#define ORDEAL_STRESS_STRATEGY_H

#include "stats/stats.h"
#include "stress/work.h"

// A fault falls due at times of an exponential distribution.
enum strategy_kind {
    STRATEGY_R,     // then, in an area drawn at random
    STRATEGY_L,     // then, in the area of the greatest stress
    STRATEGY_T,     // as soon as the composite stress is above the threshold, in an area drawn
    STRATEGY_LT,    // as soon as that is so, in the area of the greatest stress
    STRATEGY_LTLOW, // as soon as it is below, in the area of the least stress
    STRATEGY_KINDS,
};
extern const char *const strategy_names[STRATEGY_KINDS];

struct strategy {
    enum strategy_kind kind;
    bool areas[STRESS_AREAS];     // that get faults
    double weights[STRESS_AREAS]; // of areas in the composite stress
    double threshold;
    double mean_s; // between faults that fall due
    struct stats_random random;
    double due_s;
};

// The first fault falls due at an exponential time from 0 on.
void strategy_start(struct strategy *strategy);
// The weighted mean of the areas' stress.
double strategy_composite(const struct strategy *strategy, const double stress[STRESS_AREAS]);
// Whether to inject now, and where. If so, the next fault falls due at an exponential time after
// now.
bool strategy_decide(struct strategy *strategy, double now_s, const double stress[STRESS_AREAS],
                     enum stress_area *ret_area);

#endif
