// SPDX-License-Identifier: GPL-3.0-or-later
// Who made a process: the command is 1, its second child 1.2, the first child of that 1.2.1. Unlike
// the numbers of processes this does not depend on who starts first. See WIRE_ANCESTRY_CHILD().
#ifndef ORDEAL_RUNTIME_ANCESTRY_H
#define ORDEAL_RUNTIME_ANCESTRY_H

#include <stdbool.h>
#include <stdint.h>

// Around a call that copies this process. The child takes its ancestry in ancestry_of_copy().
void ancestry_fork_begin(void);
void ancestry_fork_end(void);
uint64_t ancestry_of_copy(void); // in the child; 0: not known

// Around posix_spawn(). `child` is 0 if it failed.
uint64_t ancestry_spawn_begin(void);
void ancestry_spawn_end(uint64_t ancestry, uint32_t child);
// A child of vfork(), still in its parent's memory, is about to run another program.
void ancestry_of_vforked(uint32_t child);
void ancestry_forget(uint32_t pid); // of a process that has ended
// Of a program that has started in a process that is not known yet; 0: not known.
uint64_t ancestry_of_started(uint32_t pid);

#endif
