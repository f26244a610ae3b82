// SPDX-License-Identifier: GPL-3.0-or-later
// Signals that the runtime handles: breakpoints that show which code is executed, and the deaths of
// processes. Also signals that targets send to many processes at once.
#ifndef ORDEAL_RUNTIME_SIGNALS_H
#define ORDEAL_RUNTIME_SIGNALS_H

#include "runtime/hooks.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

// ---- crash.c ----

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

// ---- broadcast.c ----

#define BROADCAST_HOOKS 2
extern const struct hook broadcast_hooks[BROADCAST_HOOKS];

// ---- cover.c ----

struct module;

#define COVER_HOOKS 2
extern const struct hook cover_hooks[COVER_HOOKS];

void cover_start(void);
bool cover_is_on(void);
void cover_module(struct module *module);
// Whether a signal was a breakpoint of ours, or one that the target handles itself.
bool cover_trap(int number, siginfo_t *info, void *context);
// What the target wants done with the signal of breakpoints; `action` may be NULL.
void cover_keep_action(const struct sigaction *action, struct sigaction *ret_old);

#endif
