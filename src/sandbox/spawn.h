// SPDX-License-Identifier: GPL-3.0-or-later
// Starts a command without copying this process: the child borrows its memory until exec.
#ifndef ORDEAL_SANDBOX_SPAWN_H
#define ORDEAL_SANDBOX_SPAWN_H

#include "base/error.h"
#include "sandbox/sandbox.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// What becomes of signals; a bit each, bit 0 is signal 1. The rest stays as this process has it,
// except that exec resets handlers.
struct spawn_signals {
    uint64_t standard; // get their default action
    uint64_t ignored;
    uint64_t mask; // blocked; all others are not
};

struct spawn {
    char *const *command; // command[0] without a slash is looked for in PATH of `environment`
    char *const *environment;
    const char *directory;     // to start in, or NULL
    int (*inside)(int shared); // as in sandbox_step
    int shared;
    int input, output, errors;    // its standard streams; a negative input is /dev/null
    bool terminal;                // input is to be the controlling terminal
    bool fixed_addresses;         // as in sandbox_step
    struct sandbox_limits limits; // set for each process
    const int *groups; // descriptors of cgroup.procs files to enter, ends with -1; or NULL
    int announce;      // socket for a MESSAGE_HELLO with the child's credentials, or -1
    bool mortal;       // it dies with this process
    bool attached;     // it stays in our session and process group, and gets our descriptors
    struct spawn_signals signals;
};

// For a command that is to have no signal blocked or ignored; or (`attached`) the same ones as this
// process has now.
struct spawn_signals spawn_signals(bool attached);
// Uses system calls only.
void spawn_set_signals(const struct spawn_signals *signals);

// When memory is short, the kernel ends the process whose share of it, in thousandths, and a score
// add up to the most. Raises the score of this process and those that it starts, so that one of a
// trial is ended and not one of the controller's. Uses system calls only.
void spawn_be_ended_first(void);

// Starts the command. Without an error it runs when this returns. (A function has been started; it
// ends with 127 if it cannot be prepared.) *ret_handle is a pidfd, the caller's to close. The
// command has a session of its own and no descriptors but the standard ones, unless `attached`.
_must_check_ struct error *spawn_start(const struct spawn *spawn, pid_t *ret_pid, int *ret_handle);

#endif
