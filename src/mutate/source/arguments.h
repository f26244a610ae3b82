// SPDX-License-Identifier: GPL-3.0-or-later
// A compiler's command line, as libclang needs it: one source, and nothing that writes files.
#ifndef ORDEAL_MUTATE_SOURCE_ARGUMENTS_H
#define ORDEAL_MUTATE_SOURCE_ARGUMENTS_H

#include "base/array.h"

#include <stdbool.h>

struct source_arguments {
    ARRAY(const char *) sources; // files in C or C++, as they are named
    ARRAY(char *) options;       // the compiler, and what is not a file; the texts are the caller's
    bool compiles;               // code is made, not only text or messages
};

// `arguments` without response files; ends with NULL.
_must_check_ struct error *source_arguments_parse(const char *compiler, char *const *arguments,
                                                  struct source_arguments *ret_arguments);
// The command line for one of the sources; ends with NULL and is the caller's to free.
_must_check_ struct error *source_arguments_for(const struct source_arguments *arguments,
                                                const char *source, char ***ret_command);
void source_arguments_deinit(struct source_arguments *arguments);

#endif
