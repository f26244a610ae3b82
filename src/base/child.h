// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a command and waits for its end.
#ifndef ORDEAL_BASE_CHILD_H
#define ORDEAL_BASE_CHILD_H

#include "base/error.h"

#include <stdbool.h>
#include <sys/types.h>

struct child {
    char *const *command;     // ends with NULL; found along PATH
    char *const *environment; // ends with NULL; NULL: that of this process
    bool silent;              // its stdout is thrown away
    // Called when the command is loaded and has not run yet; this process traces it meanwhile. An
    // error kills it. May be NULL.
    struct error *(*loaded)(void *data, pid_t process);
    void *data;
};
// *ret_status is what waitpid() says. Meanwhile this process ignores SIGINT and SIGQUIT: a terminal
// interrupts the command only. Fails if the command could not be started, or with the error of
// `loaded`.
_must_check_ struct error *child_run(const struct child *child, int *ret_status);

// The status as a shell has it: the exit status, or 128 plus the signal's number.
int child_exit_status(int status);

#endif
