// SPDX-License-Identifier: GPL-3.0-or-later
// The call stacks that new_stack remembers from one trial to the next: a text file with one hash
// per line.
#ifndef ORDEAL_TRIAL_STACKS_H
#define ORDEAL_TRIAL_STACKS_H

#include "base/error.h"
#include "trial/region.h"

// Fills the region's set. A file that does not exist counts as empty; a file of another format is
// an error. Does nothing if the scenario does not use new_stack.
_must_check_ struct error *stacks_load(const char *path, struct region *region);
// Replaces the file by what the set holds now.
_must_check_ struct error *stacks_save(const char *path, const struct wire_view *view);

#endif
