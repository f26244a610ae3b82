// SPDX-License-Identifier: GPL-3.0-or-later
// Faults that get no candidates, and why. The user must not take a fault for tested that was only
// asked for.
#ifndef ORDEAL_INJECTORS_LIBRARY_UNTESTED_H
#define ORDEAL_INJECTORS_LIBRARY_UNTESTED_H

#include "base/error.h"
#include "injector/call-candidates.h"
#include "wire/view.h"

#include <stddef.h>

struct untested_faults {
    char **whys; // per fault: why it cannot apply, or NULL
    size_t count;
};
void untested_faults_deinit(struct untested_faults *untested);

// Called after the first reference run, whose view has a rule for every fault. Diagnoses why rules
// cannot apply, if no call matched some fault.
_must_check_ struct error *untested_faults_diagnose(struct untested_faults *untested,
                                                    const struct call_plan *plan,
                                                    const struct wire_view *view);
// Called after call_candidates(). Adds a remark for each fault without a candidate
// (REMARK_UNTESTED), for each function that cannot return its fault's value, and for calls that not
// all runs made.
_must_check_ struct error *untested_faults_remark(const struct untested_faults *untested,
                                                  const struct call_plan *plan,
                                                  const struct injector_setup *setup,
                                                  remark_add *add, void *data);

#endif
