// SPDX-License-Identifier: GPL-3.0-or-later
// A command that is run and waited for.
#ifndef ORDEAL_BASE_CHILD_H
#define ORDEAL_BASE_CHILD_H

#include "base/error.h"

#include <stdbool.h>

struct child {
    char *const *command;     // ends with NULL; found along PATH
    char *const *environment; // likewise; NULL: this process's own
    bool silent;              // its stdout is thrown away
};
// *ret_status is what waitpid() says. What a terminal interrupts is the command, which decides what
// becomes of that; this process goes on. An error only if it could not be started.
struct error *child_run(const struct child *child, int *ret_status);

#endif
