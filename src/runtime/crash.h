// SPDX-License-Identifier: GPL-3.0-or-later
// Records of processes that die of a signal.
#ifndef ORDEAL_RUNTIME_CRASH_H
#define ORDEAL_RUNTIME_CRASH_H

#include "runtime/hooks.h"

#include <stdint.h>

#define CRASH_HOOKS 7
extern const struct hook crash_hooks[CRASH_HOOKS];

struct crash {
    int signal;
    uint32_t flags; // enum wire_crash
    uint64_t address;
    int sender;
    const void *context; // the kernel's ucontext
};

void crash_prepare(void);

#endif
