// SPDX-License-Identifier: GPL-3.0-or-later
// Reading memory of the program without asking the kernel first.
#ifndef ORDEAL_RUNTIME_HEAP_H
#define ORDEAL_RUNTIME_HEAP_H

#include "runtime/hooks.h"

#include <stdbool.h>
#include <stdint.h>

#define HEAP_HOOKS 9
extern const struct hook heap_hooks[HEAP_HOOKS];

// False: the memory is not readable, or it is not known whether it is.
bool heap_read(uint64_t address, uint32_t width, uint64_t *ret_value);
// The kernel was asked, and such memory could be read.
void heap_learn(uint64_t address, uint32_t width);
void heap_forget(void);

#endif
