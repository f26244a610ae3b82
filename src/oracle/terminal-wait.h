// SPDX-License-Identifier: GPL-3.0-or-later
// What sleeping processes wait for, as far as their system calls tell.
#ifndef ORDEAL_ORACLE_TERMINAL_WAIT_H
#define ORDEAL_ORACLE_TERMINAL_WAIT_H

#include <stdbool.h>
#include <sys/types.h>

// Whether it does nothing but wait for children.
bool waits_for_children(pid_t pid);

// Whether the command `pid`, or the only process that it and its children wait for, waits for input
// from descriptors that can merely be written to: what editors and other programs for people do
// that find no terminal on stdin and take stderr for one. Nothing will ever come: neither has set
// a time for its wait, as far as can be seen, nor does a thread of theirs do anything else.
bool waits_for_terminal(pid_t pid);

#endif
