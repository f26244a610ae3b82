// SPDX-License-Identifier: GPL-3.0-or-later
// The copy of the working directory that a run changes instead of the original, and the changes in
// the working directory where they are found by comparing listings.
#ifndef ORDEAL_SANDBOX_WORKING_COPY_H
#define ORDEAL_SANDBOX_WORKING_COPY_H

#include "sandbox/internal.h"

// Makes the place for copies, which close() removes. Without it, begin() makes no copy and changes
// are those of the working directory itself.
_must_check_ struct error *working_copy_open(struct sandbox *sandbox);
void working_copy_close(struct sandbox *sandbox);

// Around a run. end() removes the copy.
_must_check_ struct error *working_copy_begin(struct sandbox *sandbox);
void working_copy_end(struct sandbox *sandbox);

// As sandbox_each_change(), for the working directory alone.
_must_check_ struct error *
working_copy_each_change(struct sandbox *sandbox, const char *const *ignored,
                         struct error *(*change)(void *, const struct sandbox_change *),
                         void *data);

#endif
