// SPDX-License-Identifier: GPL-3.0-or-later
// Starts a command without copying this process: the child borrows its memory until exec.
#ifndef ORDEAL_SANDBOX_SPAWN_H
#define ORDEAL_SANDBOX_SPAWN_H

#include "base/error.h"
#include "sandbox/sandbox.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct spawn {
    char *const *command; // command[0] without a slash is looked for in PATH of `environment`
    char *const *environment;
    const char *directory;     // to start in, or NULL
    int (*inside)(int shared); // as in sandbox_step
    int shared;
    int input, output, errors;    // its standard descriptors; a negative input is /dev/null
    bool terminal;                // input is to control the command's session
    struct sandbox_limits limits; // as limits of each process
    const int *groups; // descriptors of cgroup.procs files to enter, ends with -1; or NULL
    int announce;      // a socket that tells the child's credentials, or -1
    bool mortal;       // dies with this process
    uint64_t ignored;  // signals that this process ignores: exec alone would not change that
};

// A bit per signal, from 1 on.
uint64_t spawn_ignored_signals(void);
// Back to what they do by default; none is blocked. Only system calls.
void spawn_reset_signals(uint64_t signals);

// The command runs when this returns without an error (a function has been started, and ends with
// 127 if it cannot be prepared). *ret_handle is a pidfd. It starts in a
// session of its own, with no other descriptor than the standard ones, no signal blocked or
// ignored.
_must_check_ struct error *spawn_start(const struct spawn *spawn, pid_t *ret_pid, int *ret_handle);

#endif
