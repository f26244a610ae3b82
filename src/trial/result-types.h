// SPDX-License-Identifier: GPL-3.0-or-later
// Results that a rule cannot give whole, because of the type that the function returns.
#ifndef ORDEAL_TRIAL_RESULT_TYPES_H
#define ORDEAL_TRIAL_RESULT_TYPES_H

#include "scenario/scenario.h"

// Fails if a rule gives a value to a function of a library, and the debugging information of that
// library, or of a module that calls it, says that a caller would see only a part of the value:
// a structure in memory, and the like. Looks at the libraries that the program starts with, and at
// no more than RESULT_TYPES_CHECKED functions. What the C library defines, the scenario knows.
#define RESULT_TYPES_CHECKED 32
_must_check_ struct error *result_types_check(const struct scenario *scenario, const char *command);

#endif
