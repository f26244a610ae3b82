// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal stress with a command of the user's in place of a load.
#ifndef ORDEAL_CLI_STRESS_ON_COMMAND_H
#define ORDEAL_CLI_STRESS_ON_COMMAND_H

#include "sandbox/sandbox.h"
#include "stress/run.h"

struct on_command_options {
    struct stress_options stress; // without a range
    enum sandbox_kind sandbox;
    uint64_t runs, timeout_ns;
    bool list, json;
};
// *ret_failed: a fault killed it, made it hang, or changed its result without a word.
_must_check_ struct error *on_command(const struct on_command_options *options,
                                      char *const *command, bool *ret_failed);

#endif
