// SPDX-License-Identifier: GPL-3.0-or-later
// Copies of a running command: see struct sandbox_branching. While there is one the command itself
// waits, so that whatever comes out of its streams is the copy's.
#ifndef ORDEAL_SANDBOX_BRANCH_H
#define ORDEAL_SANDBOX_BRANCH_H

#include "sandbox/capture.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct branch {
    bool active, overdue;
    uint64_t start_ns; // after the command's
    struct branch_mark {
        struct digest digest;
        struct sandbox_stream stream; // `kept` has a size and nothing else
    } marks[2];
};

// What was captured so far is the command's.
void branch_begin(struct branch *branch, const struct capture captures[2], uint64_t now_ns);
// Gives the result all that was captured, and takes back what is not the command's.
_must_check_ struct error *branch_end(struct branch *branch, struct capture captures[2],
                                      struct sandbox_result *result);
// Ends the copy, which is the only child of the command.
_must_check_ struct error *branch_kill(pid_t command);

#endif
