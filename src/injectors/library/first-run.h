// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses the functions to record when nothing is known yet about the workload's calls: in the
// first reference run, and in followed trials. Recording calls that cannot fail would only cost
// time.
#ifndef ORDEAL_INJECTORS_LIBRARY_FIRST_RUN_H
#define ORDEAL_INJECTORS_LIBRARY_FIRST_RUN_H

#include "base/error.h"
#include "injector/recording.h"
#include "scenario/scenario.h"

#include <stdbool.h>

// Watches functions of the C library that fail in ordinary life, calls into other libraries, and
// functions that hint at which errors are possible. With `everything`, all functions.
_must_check_ struct error *first_run_watch(struct scenario *scenario, bool everything);

// Watches the functions of the C library alone.
_must_check_ struct error *first_run_watch_system(struct scenario *scenario);

// Watches one recorded function. Calls within the library that defines it do not count, except for
// the C library, whose functions may be replaced.
// `condition`: whether it holds is recorded, too; or NULL.
_must_check_ struct error *first_run_watch_function(struct scenario *scenario, const char *function,
                                                    const char *library, const char *condition);

#endif
