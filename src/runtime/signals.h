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

// ---- stops.c: faults of the coverage file ----

struct wire_coverage;
void stops_start(const struct wire_coverage *file, uint32_t *marks);
// A block's breakpoint is about to be put there. False: no fault is left there.
bool stops_place(uint32_t block, uintptr_t address, uintptr_t bias);
// The breakpoint was executed. `context` is the kernel's; it is changed so that the program goes
// on.
void stops_reached(uint32_t block, void *context);
// A single step is over. False: it was none of ours.
bool stops_stepped(void *context);

#endif
