// SPDX-License-Identifier: GPL-3.0-or-later
// What reference runs after the first look at more closely, of what the first has recorded.
#ifndef ORDEAL_INJECTORS_LIBRARY_WATCH_H
#define ORDEAL_INJECTORS_LIBRARY_WATCH_H

#include "base/error.h"
#include "injectors/library/choice.h"

// Of calls with a descriptor: which kinds of it were seen. A full disk is nothing for a call that
// only ever writes to pipes.
struct kinds {
    struct map seen; // by place, function and kind
};
void kinds_deinit(struct kinds *kinds);
// After a run with the rules of choice_watch().
_must_check_ struct error *kinds_look(struct kinds *kinds, const struct recording *stacks);
// Also true where nothing is known.
bool kinds_seen(const struct kinds *kinds, const struct recorded_site *site, const char *function,
                enum realism_need need);

// After the first run, which told no stacks apart: functions of which stacks are worth knowing, as
// rules that watch them, and kinds of descriptors. Walking the stack takes much longer than the
// calls of some functions; what is called very often is left out, and so are places from which no
// failure gets out. *ret_any: there are some.
_must_check_ struct error *choice_watch(const struct recording *sites,
                                        const struct choice_options *options,
                                        const struct analysis *analysis, struct scenario *scenario,
                                        bool *ret_any);

// A number for a place in a module.
uint64_t choice_place(const struct recorded_site *site);
// Which argument of a function is the descriptor; 0: none.
unsigned choice_descriptor(const char *function);

#endif
