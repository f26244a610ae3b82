// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses what the second reference run records in more detail, from the calls of the first one:
// stacks, and kinds of descriptors.
#ifndef ORDEAL_INJECTORS_LIBRARY_WATCH_H
#define ORDEAL_INJECTORS_LIBRARY_WATCH_H

#include "base/error.h"
#include "injectors/library/choice.h"

// The kinds of descriptors that calls were seen with. A call that only writes to pipes cannot fail
// with a full disk.
struct descriptor_kinds {
    struct map seen; // by place, function and kind
};
void descriptor_kinds_deinit(struct descriptor_kinds *kinds);
// Adds what a run with the rules of choice_watch() recorded.
_must_check_ struct error *descriptor_kinds_add(struct descriptor_kinds *kinds,
                                                const struct recording *stacks);
// Whether a call was seen with a descriptor and arguments that the error needs. Also true where
// nothing is known.
bool descriptor_kinds_seen(const struct descriptor_kinds *kinds, const struct recorded_site *site,
                           const char *function, const struct realism_error *error);

// Called after the first run, which recorded no stacks. Adds rules that record the functions whose
// stacks or kinds of descriptors are worth knowing. Walking the stack takes much longer than many
// calls, so functions that are called very often are left out. So are places that never pass a
// failure on. *ret_any: whether a rule was added.
_must_check_ struct error *choice_watch(const struct recording *sites,
                                        const struct choice_options *options,
                                        const struct analysis *analysis, struct scenario *scenario,
                                        bool *ret_any);

// A hash of a place in a module.
uint64_t choice_place(const struct recorded_site *site);
// Which argument of a function is the descriptor; 0: none.
unsigned choice_descriptor(const char *function);

#endif
