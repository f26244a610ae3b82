// SPDX-License-Identifier: GPL-3.0-or-later
// Control groups that bound processes and memory of a sandbox, where they can be made.
#ifndef ORDEAL_SANDBOX_GROUPS_H
#define ORDEAL_SANDBOX_GROUPS_H

#include "base/array.h"
#include "base/error.h"
#include "sandbox/sandbox.h"

struct groups;
// Which limits could be had is said in *ret_processes and *ret_memory; `extra` processes of ours
// are in the groups as well. `asked`: somebody wants the limit on processes; otherwise nobody
// leaves the present group for it. Groups that dead processes left behind are removed.
_must_check_ struct error *groups_new(const struct sandbox_limits *limits, uint64_t extra,
                                      bool asked, bool *ret_processes, bool *ret_memory,
                                      struct groups **ret_groups);
void groups_free(struct groups *groups, bool removing); // removing: everybody must be gone
// Descriptors of the files to write one's pid to; ends with -1. NULL for NULL.
const int *groups_descriptors(const struct groups *groups);

#endif
