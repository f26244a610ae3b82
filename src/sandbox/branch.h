// SPDX-License-Identifier: GPL-3.0-or-later
// Forked copies of a running command: see struct sandbox_branching. The command itself waits while
// there is a copy, so what comes out of its streams is the copy's.
#ifndef ORDEAL_SANDBOX_BRANCH_H
#define ORDEAL_SANDBOX_BRANCH_H

#include "sandbox/capture.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct branch {
    bool active, overdue;
    uint64_t start_ns; // after the command's start
    struct branch_mark {
        struct digest digest;
        struct sandbox_stream stream; // of `kept` only the size
    } marks[2];
};

// A copy begins: what was captured so far is the command's.
void branch_begin(struct branch *branch, const struct capture captures[2], uint64_t now_ns);
// The copy has ended: copies all that was captured into the result, and restores the captures to
// what is the command's.
_must_check_ struct error *branch_end(struct branch *branch, struct capture captures[2],
                                      struct sandbox_result *result);
// Kills the copy, which is the only child of the command.
_must_check_ struct error *branch_kill(pid_t command);

#endif
