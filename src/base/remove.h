// SPDX-License-Identifier: GPL-3.0-or-later
// Removes directory trees.
#ifndef ORDEAL_BASE_REMOVE_H
#define ORDEAL_BASE_REMOVE_H

#include "base/error.h"

// Removes a tree, whatever modes its directories have. It never follows a link; what is mounted
// below is unmounted, and an error if it cannot be. What is not there is no error.
_must_check_ struct error *remove_tree(const char *path);
// Likewise, of a directory of ours, for stale_each(); what cannot be removed stays.
void remove_stale(int parent, const char *name);

#endif
