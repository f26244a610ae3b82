// SPDX-License-Identifier: GPL-3.0-or-later
// The state of the injector `source`, shared by its parts: descriptor and shots (source.c), and
// which lines are executed (executed.c).
#ifndef ORDEAL_INJECTORS_SOURCE_INTERNAL_H
#define ORDEAL_INJECTORS_SOURCE_INTERNAL_H

#include "injector/mutant/mutants.h"

struct source_injector {
    struct mutants mutants; // first, so that its functions serve
    struct words operands;  // files and compiler options
    struct words build;     // the command
    struct words programs;  // that are built, as far as they are known
};

// Adds breakpoints on the lines of all faults that are wanted, as far as debug information of the
// programs tells where their code is.
_must_check_ struct error *source_watch_lines(struct source_injector *self);

#endif
