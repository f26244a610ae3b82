// SPDX-License-Identifier: GPL-3.0-or-later
// One run of a load with faults that a strategy chooses, or with null faults.
#ifndef ORDEAL_STRESS_RUN_H
#define ORDEAL_STRESS_RUN_H

#include "stress/fault.h"
#include "stress/measure.h"
#include "stress/strategy.h"

struct stress_options {
    struct load_options load;
    struct strategy strategy; // not started
    enum fault_model model;   // FAULT_MODELS: any
    struct stress_range range;
    enum measure_memory memory; // by which the range was measured
    uint64_t seed;
    int stop; // a descriptor that becomes readable if the run is to end early
};

struct stress_injection {
    enum stress_area area;
    uint64_t at_ns; // since the load began
    unsigned member, copy;
    double stress[STRESS_AREAS], composite; // at the time when it was decided
    char text[80];                          // what was done
};

struct stress_result {
    bool failed; // no majority of a member's copies was left
    uint64_t elapsed_ns, functions, sum;
    uint64_t injected[STRESS_AREAS]; // all that were decided
    uint64_t pending;                // of these, calls that were to fail and did not come
    uint64_t missed;                 // of these, processes that ended in that moment
    uint64_t errors[LOAD_ERRORS], repaired;
    uint64_t units[STRESS_AREAS];
    uint64_t samples, measuring_ns; // processor time of measuring
    double composite;               // mean of all samples
    ARRAY(struct stress_injection) injections;
    ARRAY(struct load_noticed) noticed;
};
void stress_result_deinit(struct stress_result *result);

// Runs the load once. With `null`, faults change nothing.
_must_check_ struct error *stress_run(const struct stress_options *options, bool null,
                                      struct stress_result *ret_result);
// Runs loads of the four mixes of the article for `time_ns` each, and takes their range. ret_units
// gets the units of work that fill the time of each function. ret_memory says what was counted.
_must_check_ struct error *stress_calibrate(const struct load_options *load, uint64_t time_ns,
                                            int stop, struct stress_range *ret_range,
                                            uint64_t ret_units[STRESS_AREAS],
                                            enum measure_memory *ret_memory, size_t *ret_samples);

#endif
