// SPDX-License-Identifier: GPL-3.0-or-later
#ifndef ORDEAL_SANDBOX_DESCRIPTORS_H
#define ORDEAL_SANDBOX_DESCRIPTORS_H

#include <stddef.h>

// Closes every descriptor above 2 but those of `kept` (negative ones are none). Sorts `kept`.
void descriptors_close_but(int *kept, size_t count);

#endif
