// SPDX-License-Identifier: GPL-3.0-or-later
// The engine `slurm`: trials become tasks of job arrays of a Slurm cluster. Nothing of it but
// the tasks runs on nodes, and nothing is kept but the shared directory (spool.h): a controller
// that comes back finds everything there and in the queue.
#ifndef ORDEAL_ENGINES_SLURM_SLURM_H
#define ORDEAL_ENGINES_SLURM_SLURM_H

#include "engine/engine.h"

extern const struct engine engine_slurm;

#endif
