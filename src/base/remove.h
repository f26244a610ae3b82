// SPDX-License-Identifier: GPL-3.0-or-later
// Removes directory trees.
#ifndef ORDEAL_BASE_REMOVE_H
#define ORDEAL_BASE_REMOVE_H

#include "base/error.h"

// Removes a tree, whatever modes its directories have. Never follows a link. Unmounts what is
// mounted below, and fails if it cannot. A path that does not exist is no error.
_must_check_ struct error *remove_tree(const char *path);
// The same for a directory that we own, as a callback of stale_each(). What cannot be removed
// stays.
void remove_stale(int parent, const char *name);

#endif
