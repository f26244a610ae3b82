// SPDX-License-Identifier: GPL-3.0-or-later
// Finds, counts and signals the processes below this one. All of these read /proc and fail if they
// cannot.
#ifndef ORDEAL_BASE_PROCESSES_H
#define ORDEAL_BASE_PROCESSES_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef ARRAY(pid_t) pid_list;

// Sends a signal to every descendant of this process that still runs, except `spared` (children of
// this process; may be NULL) and their descendants. *ret_count is how many there were, *ret_refused
// how many of them belong to somebody else.
_must_check_ struct error *processes_signal(int signal, const pid_list *spared, size_t *ret_count,
                                            size_t *ret_refused);

// Counts the same processes. Gives up after `patience_ns`, with 0: the machine is too busy to look
// at all processes.
_must_check_ struct error *processes_count(const pid_list *spared, uint64_t patience_ns,
                                           size_t *ret_count);

// Counts threads that want to run, up to `most`: of all processes in `own`, which is a /proc, or,
// if it is NULL, of the same processes as above. Does not look at other processes; may miss some.
size_t processes_running(const char *own, const pid_list *spared, size_t most);

// Lists the children of this process, with zombies. The caller ends the list with ARRAY_DEINIT().
_must_check_ struct error *processes_children(pid_list *ret_children);
// The same, without looking at all processes of the machine. Children may be missing in the list
// while others end. False if the kernel does not tell, or memory is short.
bool processes_children_quick(pid_list *ret_children);
// Kills the children of this process except `spared`, quickly: with thousands of busy processes,
// one that looks at all of them hardly gets the time to. *ret_refused is how many we may not kill.
// False as above.
bool processes_kill_children(const pid_list *spared, size_t *ret_refused);
// Lists the children of another process, with zombies.
_must_check_ struct error *processes_children_of(pid_t parent, pid_list *ret_children);
// Lists a process and all that are below it, with zombies, without looking at all processes of the
// machine. Some may be missing while others end.
_must_check_ struct error *processes_below(pid_t ancestor, pid_list *ret_processes);

// Whether a process has no children, and its parent no other children except `spared`. Zombies
// count.
_must_check_ struct error *processes_alone(pid_t pid, const pid_list *spared, bool *ret_alone);

#endif
