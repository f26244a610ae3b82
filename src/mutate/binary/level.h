// SPDX-License-Identifier: GPL-3.0-or-later
// Binaries as a level of mutation: x86-64 ELF programs and libraries, stripped or not. A file in
// which faults are enabled is read as it was without them.
#ifndef ORDEAL_MUTATE_BINARY_LEVEL_H
#define ORDEAL_MUTATE_BINARY_LEVEL_H

#include "mutate/binary/binary.h"
#include "mutate/level.h"

extern const struct mutate_level mutate_level_binary;
// The change of the file that makes a candidate of this level; size 0: there is no room for it.
const struct binary_patch *mutate_binary_patch(const struct mutate_set *set, size_t number);

#endif
