// SPDX-License-Identifier: GPL-3.0-or-later
// Runs a command under the Valgrind tool and writes its trace.
#ifndef ORDEAL_INTERFACE_RECORD_H
#define ORDEAL_INTERFACE_RECORD_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct interface_recording {
    const char *tool;             // path of the tool
    char *const *command;         // ends with NULL
    char *const *environment;     // ends with NULL
    const char *const *libraries; // "libz", or a path
    size_t library_count;
    const char *const *programs; // modules that use them, beside the program's own file
    size_t program_count;
    const char *foreign; // name of a module that sees the system's clock, or NULL
    int output;          // the trace goes there
    const char *name;    // of the output, for errors
    uint64_t most_size;  // bytes of the trace; 0: as much as there is
};
struct interface_recorded {
    int status;     // what waitpid() says
    bool too_large; // the command went on, and nobody recorded what it did
};
// It is an error if no process loaded any of the libraries.
_must_check_ struct error *interface_record(const struct interface_recording *recording,
                                            struct interface_recorded *ret_recorded);

#endif
