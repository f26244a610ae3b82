// SPDX-License-Identifier: GPL-3.0-or-later
// What the target's descriptors are open on.
#ifndef ORDEAL_RUNTIME_DESCRIPTORS_H
#define ORDEAL_RUNTIME_DESCRIPTORS_H

#include "runtime/hooks.h"
#include "wire/plan.h"

#include <stdbool.h>
#include <stdint.h>

#define DESCRIPTOR_HOOKS 24
extern struct hook descriptor_hooks[DESCRIPTOR_HOOKS];

void descriptors_prepare(void);
bool descriptors_are_known(void); // some rule asks for paths, so the hooks are in use
// The target makes a system call that may close a descriptor or change a path.
void descriptors_note_call(long number);
void descriptors_note_clone(int flags); // of clone()
void descriptors_note_unshare(void);    // threads may have descriptors of their own

// What it is open on: an enum wire_fd_test; WIRE_NONE: something else, or it is not open.
uint32_t descriptor_kind(int64_t descriptor);
uint64_t descriptor_inode(int64_t descriptor); // 0: it is not open
bool descriptor_is(uint16_t test, int64_t descriptor);
// Whether it is a socket of connections, not of datagrams.
bool descriptor_is_connection(int64_t descriptor);
// Whether the path that it is open on matches a string of the plan.
bool descriptor_has_path(const struct wire_instruction *instruction, int64_t descriptor);

#endif
