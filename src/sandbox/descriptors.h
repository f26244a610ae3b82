// SPDX-License-Identifier: GPL-3.0-or-later
// Closes what a new process must not inherit.
#ifndef ORDEAL_SANDBOX_DESCRIPTORS_H
#define ORDEAL_SANDBOX_DESCRIPTORS_H

#include <stddef.h>

// Closes every descriptor above 2 except those in `kept` (negative ones are ignored). Sorts `kept`.
void descriptors_close_but(int *kept, size_t count);

#endif
