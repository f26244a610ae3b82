// SPDX-License-Identifier: GPL-3.0-or-later
// Reading memory that somebody may take away at any moment. See guarded.c.
#ifndef ORDEAL_RUNTIME_GUARDED_H
#define ORDEAL_RUNTIME_GUARDED_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// As the kernel has it.
struct kernel_action {
    void *handler;
    uint64_t flags;
    void (*restorer)(void);
    uint64_t mask;
};

// A read that fails sets *ret_failed.
uint64_t guarded_load_8(uint64_t address, uint32_t *ret_failed)
    __attribute__((visibility("hidden")));
uint64_t guarded_load_4(uint64_t address, uint32_t *ret_failed)
    __attribute__((visibility("hidden")));
bool guarded_copy(void *target, const void *source, size_t size)
    __attribute__((visibility("hidden")));

// Whether a fault was that of such a read, which then goes on as one that failed.
bool guarded_recover(int number, const siginfo_t *info, void *context);

// Whoever holds these signals off, or ignores them, dies of a fault whatever handler there is: with
// such a target nothing is read but by the kernel.
void guarded_note_mask(const void *set);
void guarded_note_action(const struct sigaction *action); // its mask counts while its handler runs
// Likewise; and puts ours before the target's own handler of a signal, if it has one now.
void guarded_wrap(int number);
// What the target has set where ours stands before it; else NULL.
const struct kernel_action *guarded_wrapped(int number, const void *handler);

#endif
