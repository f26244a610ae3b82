// SPDX-License-Identifier: GPL-3.0-or-later
// Faults that the reference runs give no chance to, and why: so that nobody takes for tested what
// was only asked for.
#ifndef ORDEAL_INJECTORS_LIBRARY_GAPS_H
#define ORDEAL_INJECTORS_LIBRARY_GAPS_H

#include "base/error.h"
#include "injectors/library/candidates.h"
#include "wire/view.h"

#include <stddef.h>

struct gaps {
    char **whys; // per fault: why it cannot apply, or NULL
    size_t count;
};
void gaps_deinit(struct gaps *gaps);

// After the first reference run, whose view has a rule for every fault; looks closer only if some
// fault was not called for.
_must_check_ struct error *gaps_look(struct gaps *gaps, const struct library_plan *plan,
                                     const struct wire_view *view);
// After library_candidates(): a remark for each fault without a candidate (REMARK_UNTESTED), for
// each function that cannot return what its fault returns, and for calls that not all runs made.
_must_check_ struct error *gaps_tell(const struct gaps *gaps, const struct library_plan *plan,
                                     const struct injector_setup *setup, remark_say *say,
                                     void *data);

#endif
