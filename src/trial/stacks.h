// SPDX-License-Identifier: GPL-3.0-or-later
// The memory of new_stack across trials: a text file with one hash a line.
#ifndef ORDEAL_TRIAL_STACKS_H
#define ORDEAL_TRIAL_STACKS_H

#include "base/error.h"
#include "trial/region.h"

// Fills the region's set. A file that does not exist yet is empty; one of another format is
// refused. Nothing to do when the scenario does not use new_stack.
_must_check_ struct error *stacks_load(const char *path, struct region *region);
// Writes the set back, replacing the file as a whole.
_must_check_ struct error *stacks_save(const char *path, const struct wire_view *view);

#endif
