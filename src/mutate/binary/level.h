// SPDX-License-Identifier: GPL-3.0-or-later
// Binaries as a level of mutation: x86-64 ELF programs and libraries, stripped or not.
#ifndef ORDEAL_MUTATE_BINARY_LEVEL_H
#define ORDEAL_MUTATE_BINARY_LEVEL_H

#include "mutate/level.h"

extern const struct mutate_level mutate_level_binary;

#endif
