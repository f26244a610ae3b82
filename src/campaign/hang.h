// SPDX-License-Identifier: GPL-3.0-or-later
// Where a command hangs.
#ifndef ORDEAL_CAMPAIGN_HANG_H
#define ORDEAL_CAMPAIGN_HANG_H

#include <sys/types.h>

// The stack of the process that keeps the command `pid` from ending: the command itself or, as long
// as a process merely waits for its children, one of those, preferably one that is busy. Of its
// threads a busy one, else the first. Strings to be freed; NULL if there is no telling. `root` as
// of sandbox_root(). Takes a few seconds at most.
//   *ret_stack  "f at a.c:12 (x)", one frame per line, innermost first
//   *ret_key    the same without lines, for grouping: "f (x)"
void hang_look(pid_t pid, const char *root, char **ret_stack, char **ret_key);

// Names of the processes below this one that run something else, "sshd, sleep"; NULL if there is
// none. To be freed.
char *hang_names(void);

#endif
