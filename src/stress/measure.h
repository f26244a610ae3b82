// SPDX-License-Identifier: GPL-3.0-or-later
// How much of each area of the machine a load uses: samples, and what is a lot.
#ifndef ORDEAL_STRESS_MEASURE_H
#define ORDEAL_STRESS_MEASURE_H

#include "base/array.h"
#include "base/processes.h"
#include "stress/work.h"

#include <sys/types.h>

// Processor: share of all processors' time. Memory: references of the last caches, or pages, per
// second. I/O: blocks of 512 bytes per second that are read or written.
struct stress_sample {
    double values[STRESS_AREAS];
};

enum measure_memory { MEASURE_REFERENCES, MEASURE_PAGES };
extern const char *const measure_memory_names[];

struct measure {
    unsigned copies; // so many processes, one after the other in the list, do the same
    bool tree;       // processes take over what their children have used
    enum measure_memory memory;
    uint64_t last_ns, spent_ns; // spent_ns: processor time that measuring took
    double processors;
    ARRAY(struct measured) processes; // as they were at the last sample
};
struct measured {
    pid_t process;
    int counter; // of references, or -1
    uint64_t ticks, bytes, references;
    bool did_io; // since the sample before
};

// An error if this machine does not tell what is measured.
_must_check_ struct error *measure_open(unsigned copies, bool tree, struct measure *ret_measure);
void measure_close(struct measure *measure);
// What these processes have used until now is not in the first sample.
_must_check_ struct error *measure_begin(struct measure *measure, const pid_list *processes);
// What these processes (0: there is none in this place now) have used since the last sample. One
// that has come since counts from the next sample on, but in a tree.
_must_check_ struct error *measure_take(struct measure *measure, const pid_list *processes,
                                        struct stress_sample *ret_sample);

// The range of each area in loads of several mixes: the 5th and the 95th percentile.
struct stress_range {
    double low[STRESS_AREAS], high[STRESS_AREAS];
};
typedef ARRAY(struct stress_sample) stress_samples;
_must_check_ struct error *stress_samples_add(stress_samples *samples,
                                              const struct stress_sample *sample);
_must_check_ struct error *stress_range_of(const stress_samples *samples,
                                           struct stress_range *ret_range);
// Each value as a place in its range, from 0 to 1; an area whose range is empty has 0.
void stress_normalise(const struct stress_range *range, const struct stress_sample *sample,
                      double ret_stress[STRESS_AREAS]);

#endif
