// SPDX-License-Identifier: GPL-3.0-or-later
// Functions of the C library and the loader that the runtime itself wraps, and modules that are
// loaded after the start.
#ifndef ORDEAL_RUNTIME_HOOKS_H
#define ORDEAL_RUNTIME_HOOKS_H

#include "runtime/assembly/assembly.h"

#include <stdbool.h>
#include <stdint.h>

// ---- hooks.c ----

struct hook {
    const char *name;
    void *replacement;
    void **real;
};

void hook_prepare(void);
const struct hook *hook_find(const char *name);
void *hook_real(void **real, const char *name); // what a hook stands for
// Before a thread or process is made by the system call.
void hook_note_clone(uint64_t flags);

// ---- programs.c ----

#define PROGRAM_HOOKS 14
extern const struct hook program_hooks[PROGRAM_HOOKS];

typedef long syscall_function(long, long, long, long, long, long, long);
// What syscall(SYS_execve, ...) does.
long program_by_syscall(syscall_function *real, long path, long arguments, long environment);
const char *runtime_file(void); // the runtime's own path

// ---- attach.c ----

#define USER_HOOKS 4
extern const struct hook user_hooks[USER_HOOKS];

// Maps the region that the value of WIRE_ENVIRONMENT names, or returns NULL.
void *attach_map(const char *value, const char **ret_path, uint64_t *ret_size);
// The environment entry by which a started program finds the region. Several threads may ask, and
// programs that start now may still read an earlier one: call attach_prepare() once before.
void attach_prepare(void);
const char *attach_entry(void);
// Notes in the journal if a program that is started now cannot find the region because this process
// has changed its user. Returns whether that is so.
bool attach_check(const char *program);
// What keeps the runtime from starting in any program that this process starts.
uint32_t attach_obstacle(void); // enum wire_obstacle

// ---- waits.c ----

#define WAIT_HOOKS 4
extern const struct hook wait_hooks[WAIT_HOOKS];

// ---- filter.c ----

#define FILTER_HOOKS 3
extern const struct hook filter_hooks[FILTER_HOOKS];

// ---- late.c ----

void late_hook_loader(void);
extern bool runtime_loader_hooked; // late modules are seen before their constructors run

extern __thread uint32_t runtime_open_flags; // of this thread's last dlopen()
extern void *runtime_real_dlopen;

// stubs.S
extern const char runtime_late_init[]; // RUNTIME_LATE_INITS entries
void runtime_enter_dlopen(void);       // the hook of dlopen()

// What the assembly and the loader call.
void *runtime_dlopen_and_scan(const char *path, int flags);
void runtime_late_initialise(uint32_t number, int argc, char **argv, char **envp);
void runtime_loader_event(void);

#endif
