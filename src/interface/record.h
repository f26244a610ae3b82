// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a command under the Valgrind tool and writes its trace.
#ifndef ORDEAL_INTERFACE_RECORD_H
#define ORDEAL_INTERFACE_RECORD_H

#include "base/error.h"

#include <stddef.h>

struct interface_recording {
    const char *tool;             // path of the tool
    char *const *command;         // ends with NULL
    char *const *environment;     // ends with NULL
    const char *const *libraries; // "libz", or a path
    size_t library_count;
    const char *const *programs; // modules that use them, beside the program's own file
    size_t program_count;
    int output;       // the trace goes there
    const char *name; // of the output, for errors
};
// `ret_status` is what waitpid() says. It is an error if no process loaded any of the libraries.
_must_check_ struct error *interface_record(const struct interface_recording *recording,
                                            int *ret_status);

#endif
