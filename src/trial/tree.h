// SPDX-License-Identifier: GPL-3.0-or-later
// The processes below this one, found in /proc.
#ifndef ORDEAL_TRIAL_TREE_H
#define ORDEAL_TRIAL_TREE_H

#include "base/error.h"

#include <stddef.h>

// Sends a signal to every descendant of this process that still runs; *ret_count says how many
// there were, *ret_refused how many of them belong to somebody else.
struct error *tree_signal(int signal, size_t *ret_count, size_t *ret_refused);

#endif
