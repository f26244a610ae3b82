// SPDX-License-Identifier: GPL-3.0-or-later
// Compiles sources that have a fault, to see whether they compile and whether that makes a
// difference.
#ifndef ORDEAL_MUTATE_SOURCE_CHECK_H
#define ORDEAL_MUTATE_SOURCE_CHECK_H

#include "mutate/source/units.h"

// Compiles each wanted candidate, as many at a time as there are processors, with the compiler and
// the options of its unit, and sets its state. The user's files are not touched. `units` is by
// candidate. A unit that does not compile as it is, is an error.
_must_check_ struct error *source_check(struct mutate_set *set,
                                        const struct source_unit *const *units, const bool *wanted);

#endif
