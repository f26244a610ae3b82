// SPDX-License-Identifier: GPL-3.0-or-later
// The processes below this one, found in /proc.
#ifndef ORDEAL_BASE_PROCESSES_H
#define ORDEAL_BASE_PROCESSES_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef ARRAY(pid_t) pid_list;

// Sends a signal to every descendant of this process that still runs, but for `spared` (children of
// this process; may be NULL) and what is below them. *ret_count says how many there were,
// *ret_refused how many of them belong to somebody else.
_must_check_ struct error *processes_signal(int signal, const pid_list *spared, size_t *ret_count,
                                            size_t *ret_refused);

// How many of them there are.
_must_check_ struct error *processes_count(const pid_list *spared, size_t *ret_count);

// The children of this process, zombies as well.
_must_check_ struct error *processes_children(pid_list *ret_children);
// Likewise of another.
_must_check_ struct error *processes_children_of(pid_t parent, pid_list *ret_children);

// Whether a process has no children, and its parent no others but `spared`. Zombies count.
_must_check_ struct error *processes_alone(pid_t pid, const pid_list *spared, bool *ret_alone);

#endif
