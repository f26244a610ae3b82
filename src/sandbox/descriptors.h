// SPDX-License-Identifier: GPL-3.0-or-later
// Closes what a new process must not inherit.
#ifndef ORDEAL_SANDBOX_DESCRIPTORS_H
#define ORDEAL_SANDBOX_DESCRIPTORS_H

#include "base/error.h"

#include <stddef.h>

// Closes every descriptor above 2 except those in `kept` (negative ones are ignored). Sorts `kept`.
void descriptors_close_but(int *kept, size_t count);
// Closes every descriptor above 2 that exec would close, except `kept`.
_must_check_ struct error *descriptors_close_own(int kept);

#endif
