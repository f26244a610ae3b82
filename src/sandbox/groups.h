// SPDX-License-Identifier: GPL-3.0-or-later
// Control groups that limit the processes and memory of a sandbox, where they can be made.
#ifndef ORDEAL_SANDBOX_GROUPS_H
#define ORDEAL_SANDBOX_GROUPS_H

#include "base/array.h"
#include "base/error.h"
#include "sandbox/sandbox.h"

struct groups;
// Makes the groups. *ret_processes and *ret_memory say which limits are in force; one that cannot
// be had is no error. `extra` processes of ours are in the groups as well. `asked`: the user wants
// the limit on processes; otherwise a group is made below our own only. Removes groups that dead
// processes left behind.
_must_check_ struct error *groups_new(const struct sandbox_limits *limits, uint64_t extra,
                                      bool asked, bool *ret_processes, bool *ret_memory,
                                      struct groups **ret_groups);
// `removing`: removes the groups, too. They must be empty.
void groups_free(struct groups *groups, bool removing);
// Descriptors of the cgroup.procs files to write one's PID to; ends with -1. NULL if there are
// none.
const int *groups_descriptors(const struct groups *groups);

#endif
