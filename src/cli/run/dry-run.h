// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal run --dry-run: shows what would be intercepted where.
#ifndef ORDEAL_CLI_RUN_DRY_RUN_H
#define ORDEAL_CLI_RUN_DRY_RUN_H

#include "base/error.h"
#include "scenario/scenario.h"

#include <stdbool.h>

// Writes to `file`, or to standard output if it is NULL. Compiles the scenario, so that every error
// shows.
_must_check_ struct error *dry_run(const struct scenario *scenario, const char *command, bool json,
                                   const char *file);

#endif
