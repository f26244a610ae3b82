// SPDX-License-Identifier: GPL-3.0-or-later
// What a program and the libraries it starts with import, and which of them defines it.
#ifndef ORDEAL_TRIAL_LINKAGE_H
#define ORDEAL_TRIAL_LINKAGE_H

#include "base/array.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct linkage_import {
    const char *name, *version; // version may be NULL
    size_t definer;             // module index, or LINKAGE_UNDEFINED
};
#define LINKAGE_UNDEFINED ((size_t)-1)

struct linkage_module {
    const char *path; // [0] is the program
    struct elf_object *object;
    ARRAY(struct linkage_import) imports;
};

// Owns everything it points to.
struct linkage {
    ARRAY(struct linkage_module) modules;
    struct linkage_closure *closure; // owner of the paths
};

// Finds the program of a command, along PATH and through #! as the kernel does. Fails if a file
// cannot be found or is not ELF.
_must_check_ struct error *linkage_find(const char *command, struct linkage *ret_coverage);
void linkage_deinit(struct linkage *linkage);

// The index of the first module that defines a function, imported or not; LINKAGE_UNDEFINED if none
// does.
size_t linkage_definer(const struct linkage *linkage, const char *name, const char *version);

#endif
