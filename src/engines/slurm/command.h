// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a command of the cluster and takes what it prints.
#ifndef ORDEAL_ENGINES_SLURM_COMMAND_H
#define ORDEAL_ENGINES_SLURM_COMMAND_H

#include "base/array.h"
#include "base/error.h"

// Runs the words (argv, ends with NULL) and appends what they print on stdout. An error says why
// the command could not be run, did not end in time, or failed, with its last line on stderr. The
// command does not get the terminal's Ctrl-C.
_must_check_ struct error *command_run(char *const *words, struct buffer *output);

#endif
