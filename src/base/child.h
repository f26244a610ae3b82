// SPDX-License-Identifier: GPL-3.0-or-later
// A command that is run and waited for.
#ifndef ORDEAL_BASE_CHILD_H
#define ORDEAL_BASE_CHILD_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct child {
    char *const *command;     // ends with NULL; found along PATH
    char *const *environment; // likewise; NULL: this process's own
    bool silent;              // its stdout is thrown away
    // Called when the command is loaded and has not run yet; this process is its tracer meanwhile.
    // An error ends it. May be NULL.
    struct error *(*loaded)(void *data, pid_t process);
    void *data;
};
// *ret_status is what waitpid() says. What a terminal interrupts is the command, which decides what
// becomes of that; this process goes on. An error if it could not be started, or that of `loaded`.
_must_check_ struct error *child_run(const struct child *child, int *ret_status);

// What a shell makes of that: the exit status, or 128 and the signal's number.
int child_exit_status(int status);

#endif
