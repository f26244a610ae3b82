// SPDX-License-Identifier: GPL-3.0-or-later
// What is watched where nothing is known yet of what the workload calls: in the first reference
// run, and in trials that are followed. Recording what cannot fail costs time and tells nothing.
#ifndef ORDEAL_INJECTORS_LIBRARY_FIRST_RUN_H
#define ORDEAL_INJECTORS_LIBRARY_FIRST_RUN_H

#include "base/error.h"
#include "injectors/library/recording.h"
#include "scenario/scenario.h"

#include <stdbool.h>

// Functions of the C library that fail in ordinary life, calls into other libraries, and what tells
// which errors are possible. `everything`: simply all functions.
_must_check_ struct error *first_watch(struct scenario *scenario, bool everything);

// Watches one function that was seen. A library's calls of its own functions are no library calls,
// unless it is the C library's: those are there to be replaced.
_must_check_ struct error *first_watch_function(struct scenario *scenario, const char *function,
                                                const char *library);

#endif
