// SPDX-License-Identifier: GPL-3.0-or-later
// How often blocks are executed, in one run and over several. A part of fidelity_measure().
#ifndef ORDEAL_FIDELITY_EXECUTIONS_H
#define ORDEAL_FIDELITY_EXECUTIONS_H

#include "fidelity/measure.h"

// Whether a block is part of the program: the linked file has it, or it was executed.
bool fidelity_block_exists(const struct fidelity_block *block, uint64_t count);
_must_check_ struct error *fidelity_measure_executions(const struct fidelity_subject *subject,
                                                       const struct fidelity_workload *workload,
                                                       struct fidelity_result *result);

#endif
