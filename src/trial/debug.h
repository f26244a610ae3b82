// SPDX-License-Identifier: GPL-3.0-or-later
// A trial under gdb: the command runs until a fault is about to be injected, and stops there.
#ifndef ORDEAL_TRIAL_DEBUG_H
#define ORDEAL_TRIAL_DEBUG_H

#include "base/error.h"
#include "trial/runtime-session.h"

#include <stdbool.h>

struct debug_options {
    char *const *command; // ends with NULL
    const char *input;    // path for its stdin, NULL: gdb's own
    bool batch;           // print the stack at the injection, let the command go on to its end
    bool software_fault;  // the fault is a breakpoint that the runtime sets, not a call
};

// Makes gdb's argument list and environment, each to be freed with debug_list_free(). Start gdb
// between runtime_session_begin() and runtime_session_end(). Fails if there is no gdb.
_must_check_ struct error *debug_words(const struct runtime_session *session,
                                       const struct debug_options *options, char ***ret_arguments,
                                       char ***ret_environment);
void debug_list_free(char ***list);

#endif
