// SPDX-License-Identifier: GPL-3.0-or-later
// What a program and the libraries it starts with import, and who defines it.
#ifndef ORDEAL_TRIAL_COVERAGE_H
#define ORDEAL_TRIAL_COVERAGE_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct coverage_import {
    const char *name, *version; // version may be NULL
    size_t definer;             // module index, or COVERAGE_NOWHERE
};
#define COVERAGE_NOWHERE ((size_t)-1)

struct coverage_module {
    const char *path; // [0] is the program
    struct elf_object *object;
    ARRAY(struct coverage_import) imports;
};

// Everything belongs to it.
struct coverage {
    ARRAY(struct coverage_module) modules;
    struct coverage_closure *closure; // owner of the paths
};

// Of a command: PATH and #! are followed as the kernel does.
_must_check_ struct error *coverage_find(const char *command, struct coverage *ret_coverage);
void coverage_deinit(struct coverage *coverage);

// Whether a module of the program defines a function, imported or not: its index.
size_t coverage_definer(const struct coverage *coverage, const char *name, const char *version);

#endif
