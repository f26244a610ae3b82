// SPDX-License-Identifier: GPL-3.0-or-later
// Copies directory trees.
#ifndef ORDEAL_SANDBOX_COPY_H
#define ORDEAL_SANDBOX_COPY_H

#include "base/error.h"

#include <stdint.h>

#define COPY_BYTES   (2ull << 30)
#define COPY_ENTRIES 200000

// Copies `from` to `to`, which must not exist: contents (shared where the file system can), links,
// modes, owners if allowed, times. What lies in other file systems is left out. More than the
// limits above are an error that says so.
_must_check_ struct error *copy_tree(const char *from, const char *to);

#endif
