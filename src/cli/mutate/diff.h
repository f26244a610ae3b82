// SPDX-License-Identifier: GPL-3.0-or-later
// A unified diff between a file and the same file with a fault.
#ifndef ORDEAL_CLI_MUTATE_DIFF_H
#define ORDEAL_CLI_MUTATE_DIFF_H

#include "base/array.h"

// Appends the diff, for `patch -p1`; with a path that begins with a slash, for `patch -p0`. It is
// one hunk: a fault changes one place.
_must_check_ struct error *diff_put(const char *path, const struct buffer *before,
                                    const struct buffer *after, struct buffer *text);

#endif
