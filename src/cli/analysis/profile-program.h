// SPDX-License-Identifier: GPL-3.0-or-later
// What a program imports: the libraries to profile for it, and the functions of each.
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
    struct linkage linkage;             // owner of the texts
    ARRAY(struct program_import) items; // by path and name
    ARRAY(const char *) libraries;      // that define any of them, in the loader's order
    ARRAY(const char *) undefined;      // functions that no library defines
};
// As the loader would: DT_NEEDED, versions, who comes first.
_must_check_ struct error *program_imports_find(const char *program,
                                                struct program_imports *ret_imports);
void program_imports_deinit(struct program_imports *imports);

// Whether a function of a profile is what the program gets. In the shape of profile_view.wanted.
bool program_imports_want(const void *imports, const struct profile *profile,
                          const struct profile_function *function);

#endif
