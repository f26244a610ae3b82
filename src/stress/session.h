// SPDX-License-Identifier: GPL-3.0-or-later
// What a run of a load and a run of a command have in common: samples, the strategy's decisions,
// the faults that were drawn.
#ifndef ORDEAL_STRESS_SESSION_H
#define ORDEAL_STRESS_SESSION_H

#include "base/processes.h"
#include "stress/run.h"

struct stress_session {
    const struct stress_options *options;
    struct strategy strategy;
    struct stats_random random; // of faults: what, where, which bit
    struct measure measure;
    pid_list processes; // that are sampled next; the caller lists them
    bool null;
    unsigned waiting; // faults of I/O for the next call
    uint64_t began_ns, next_sample_ns;
    double stress[STRESS_AREAS];
    struct stress_result *result;
};

// `tree`, `copies`: as of measure_open(). `null`: faults change nothing.
_must_check_ struct error *stress_session_open(const struct stress_options *options, bool null,
                                               unsigned copies, bool tree,
                                               struct stress_result *result,
                                               struct stress_session *ret_session);
void stress_session_close(struct stress_session *session);
// Takes a sample. `held`: no fault is injected now. A fault of I/O is among those that wait then;
// one of another area is the caller's to inject: *ret_inject.
_must_check_ struct error *stress_session_sample(struct stress_session *session, bool held,
                                                 bool *ret_inject, enum stress_area *ret_area);
struct stress_fault stress_session_draw(struct stress_session *session);
_must_check_ struct error *stress_session_note(struct stress_session *session,
                                               enum stress_area area, unsigned member,
                                               unsigned copy, const struct buffer *text);

#endif
