// SPDX-License-Identifier: GPL-3.0-or-later
// On a node: one task of a job array. It runs one piece of the campaign with job slots of its own.
#ifndef ORDEAL_ENGINES_SLURM_TASK_H
#define ORDEAL_ENGINES_SLURM_TASK_H

#include "base/error.h"

// words: the shared directory, and the number that the task's index is added to: that piece is run.
// Piece 0 only checks the node.
_must_check_ struct error *task_run(char *const *words);

#endif
