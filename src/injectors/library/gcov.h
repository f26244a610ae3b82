// SPDX-License-Identifier: GPL-3.0-or-later
// Line coverage of targets that were built with gcc --coverage, without faults and with them.
// Targets write their counts to a directory outside the sandbox, where libgcov adds up all trials.
#ifndef ORDEAL_INJECTORS_LIBRARY_GCOV_H
#define ORDEAL_INJECTORS_LIBRARY_GCOV_H

#include "base/error.h"
#include "store/store.h"

#include <stdbool.h>
#include <sys/types.h>

struct gcov {
    char *directory;    // or NULL; nobody else can enter it
    char *shown;        // a directory in it, visible to trials
    char *variables[2]; // "GCOV_PREFIX=…" for trials, and for reference runs
    pid_t owner;
};
_must_check_ struct error *gcov_open(struct gcov *gcov);
void gcov_close(struct gcov *gcov);

// Adds GCOV_PREFIX to the environment, which makes libgcov write to the directory. The result is in
// *list, which is reallocated; the strings keep their owners. An environment with its own
// GCOV_PREFIX is returned as it is.
_must_check_ struct error *gcov_environment(const struct gcov *gcov, char *const *environment,
                                            bool reference, const char ***list,
                                            char *const **ret_environment);

// Stores the counted lines. Stores nothing if no target counts lines or gcov is not installed.
_must_check_ struct error *gcov_save(const struct gcov *gcov, struct store *store,
                                     int64_t campaign);

// Lines of source files, as printed by `gcov --stdout`. Output of a reference run marks lines
// `before`, other output `after`. gcov_lines_each() gives, for each file, the number of lines with
// code, of lines that references ran, and of lines that any run ran.
struct gcov_lines;
_must_check_ struct error *gcov_lines_new(struct gcov_lines **ret_lines);
void gcov_lines_free(struct gcov_lines *lines);
_must_check_ struct error *gcov_lines_add(struct gcov_lines *lines, const char *text,
                                          bool reference);
_must_check_ struct error *gcov_lines_each(const struct gcov_lines *lines,
                                           struct error *(*file)(void *data, const char *name,
                                                                 uint64_t lines, uint64_t before,
                                                                 uint64_t after),
                                           void *data);

#endif
