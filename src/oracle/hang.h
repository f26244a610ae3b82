// SPDX-License-Identifier: GPL-3.0-or-later
// Finds where a command hangs and which of its processes still run. Nothing here fails: what cannot
// be found out is NULL or 0.
#ifndef ORDEAL_ORACLE_HANG_H
#define ORDEAL_ORACLE_HANG_H

#include "injector/injector.h"
#include "oracle/outcome.h"

// Finds the stack that keeps the command `pid` from ending. The search starts at the command. While
// a process only waits for its children, it goes on with one of them, preferably a busy one. It
// takes a busy thread of that process, else the first. If no thread is busy, it takes the thread
// that a fault was injected into, or another one of its process: the other threads of a server only
// wait for work. `root` is what sandbox_root() returns. Takes a few seconds at most. Sets in `run`,
// which frees them:
//   hang_stack  "f at a.c:12 (x)", one frame per line, innermost first; NULL: there is no stack
//   hang_key    the same without lines, for grouping: "f (x)"
//   hang_busy   whether that thread does not wait
void hang_look(pid_t pid, const char *root, const struct injected_thread *injected,
               struct outcome_run *run);

// Whether the stack in `run` waits for events from outside, as a server does that has nothing to
// do.
bool hang_waits_for_events(const struct outcome_run *run);

// The descendant of `above` whose number in its own PID namespace is `inner`; 0 if there is none.
pid_t hang_find_inner(pid_t above, pid_t inner);

// The names of the descendants of this process that run another program, "sshd, sleep", at most
// five. NULL if there are none. The caller frees it.
char *hang_names(void);

#endif
