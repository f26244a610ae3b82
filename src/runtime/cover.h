// SPDX-License-Identifier: GPL-3.0-or-later
// Which blocks of code are executed, by breakpoints.
#ifndef ORDEAL_RUNTIME_COVER_H
#define ORDEAL_RUNTIME_COVER_H

#include "runtime/hooks.h"

#include <signal.h>
#include <stdbool.h>

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
