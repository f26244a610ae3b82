// SPDX-License-Identifier: GPL-3.0-or-later
// Reading memory of the target that may not be there.
#ifndef ORDEAL_RUNTIME_MEMORY_H
#define ORDEAL_RUNTIME_MEMORY_H

#include "runtime/hooks.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- guarded.c ----

// The kernel's struct sigaction.
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

// Whether a fault was that of such a read. The read then goes on as one that failed.
bool guarded_recover(int number, const siginfo_t *info, void *context);

// A target that blocks or ignores these signals dies of a fault, whatever the handler. If `set`
// blocks one, memory is only read by the kernel's copy from now on.
void guarded_note_mask(const void *set);
void guarded_note_action(const struct sigaction *action); // its mask counts while its handler runs
// Likewise if the signal is ignored. Also puts our handler before the target's own, if it has one
// now.
void guarded_wrap(int number);
// The target's own action if `handler` is ours, standing before it; else NULL.
const struct kernel_action *guarded_wrapped(int number, const void *handler);

// ---- own.c ----

// Memory that the target may not unmap, or NULL.
void *own_map(size_t size);
void own_unmap(void *memory, size_t size);
// Whether memory of the runtime is in there.
bool own_is_in(uint64_t start, uint64_t size);
void own_note(const char *call); // that a call of the target left it alone
// Goes on from *at to the next part that is not the runtime's. False: there is none before `end`.
bool own_next_foreign(uint64_t *at, uint64_t end, uint64_t *ret_size);

// ---- heap.c ----

#define HEAP_HOOKS 8
extern const struct hook heap_hooks[HEAP_HOOKS];

// False: the memory is not readable, or it is not known whether it is.
bool heap_read(uint64_t address, uint32_t width, uint64_t *ret_value);
// The kernel was asked, and such memory could be read.
void heap_learn(uint64_t address, uint32_t width);
void heap_forget(void);
// A system call that would hit memory of the runtime is made so that it does not.
bool heap_call_hits_own(long number, long a, long b, long c, long d, long e);
long heap_call(long number, long a, long b, long c, long d);

#endif
