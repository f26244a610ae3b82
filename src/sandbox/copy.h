// SPDX-License-Identifier: GPL-3.0-or-later
// Copies directory trees, within limits.
#ifndef ORDEAL_SANDBOX_COPY_H
#define ORDEAL_SANDBOX_COPY_H

#include "base/error.h"

#include <stdint.h>

#define COPY_BYTES   (2ull << 30)
#define COPY_ENTRIES 200000

// Copies `from` to `to`, which must not exist: contents (shared where the file system can), links,
// modes, times, and owners if allowed. Other file systems mounted below are left out. Exceeding the
// limits is an error for the user.
_must_check_ struct error *copy_tree(const char *from, const char *to);

#endif
