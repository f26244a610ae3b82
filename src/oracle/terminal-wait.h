// SPDX-License-Identifier: GPL-3.0-or-later
// Finds out what sleeping processes wait for, from the system calls they are in.
#ifndef ORDEAL_ORACLE_TERMINAL_WAIT_H
#define ORDEAL_ORACLE_TERMINAL_WAIT_H

#include <stdbool.h>
#include <sys/types.h>

// Whether the process only waits for children, or for signals.
bool waits_for_children(pid_t pid);

// Whether the command waits for input that can never come: it, or the only process that it and its
// children wait for, waits to read from descriptors that are open for writing only. Editors and
// other interactive programs do that when stdin is no terminal and they take stderr for one. The
// wait must have no timeout, as far as can be seen, and no other thread may do anything else.
bool waits_for_terminal(pid_t pid);

#endif
