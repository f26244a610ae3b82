// SPDX-License-Identifier: GPL-3.0-or-later
// Where a command hangs.
#ifndef ORDEAL_ORACLE_HANG_H
#define ORDEAL_ORACLE_HANG_H

#include "injector/injector.h"

// The stack of the process that keeps the command `pid` from ending: the command itself or, as long
// as a process merely waits for its children, one of those, preferably one that is busy. Of its
// threads a busy one, else the first. If none is busy, the thread that a fault was injected into
// instead, where it still lives: of a server, whoever else waits only waits for work. Strings to be
// freed; NULL if there is no telling. `root` as of sandbox_root(). Takes a few seconds at most.
//   *ret_stack  "f at a.c:12 (x)", one frame per line, innermost first
//   *ret_key    the same without lines, for grouping: "f (x)"
void hang_look(pid_t pid, const char *root, const struct injected_thread *injected,
               char **ret_stack, char **ret_key);

// A process below `above` by its number inside; 0 if there is none.
pid_t hang_find_inner(pid_t above, pid_t inner);

// Names of the processes below this one that run something else, "sshd, sleep"; NULL if there is
// none. To be freed.
char *hang_names(void);

#endif
