// SPDX-License-Identifier: GPL-3.0-or-later
// The imports of a program: the libraries to profile for it, and the functions it uses of each.
#ifndef ORDEAL_CLI_ANALYSIS_PROFILE_PROGRAM_H
#define ORDEAL_CLI_ANALYSIS_PROFILE_PROGRAM_H

#include "base/array.h"
#include "profile/profile.h"
#include "trial/linkage.h"

struct program_import {
    const char *name, *version; // version may be NULL
    const char *path;           // of the library that defines it
};

struct program_imports {
    struct linkage linkage;             // owns the texts
    ARRAY(struct program_import) items; // sorted by path and name
    ARRAY(const char *) libraries;      // that define any of them, in load order
    ARRAY(const char *) undefined;      // functions that no library defines
};
// Resolves imports like the loader: by DT_NEEDED, versions and load order.
_must_check_ struct error *program_imports_find(const char *program,
                                                struct program_imports *ret_imports);
void program_imports_deinit(struct program_imports *imports);

// Whether the program uses this function of a profile. Fits profile_view.wanted.
bool program_imports_want(const void *imports, const struct profile *profile,
                          const struct profile_function *function);

#endif
