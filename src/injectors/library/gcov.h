// SPDX-License-Identifier: GPL-3.0-or-later
// Lines that a target counts itself, where it was built so (gcc --coverage): without faults and
// with them. Targets write their counts outside the sandbox, where libgcov adds up what all trials
// did.
#ifndef ORDEAL_INJECTORS_LIBRARY_GCOV_H
#define ORDEAL_INJECTORS_LIBRARY_GCOV_H

#include "base/error.h"
#include "store/store.h"

#include <stdbool.h>
#include <sys/types.h>

struct gcov {
    char *directory;    // or NULL; visible to trials
    char *variables[2]; // "GCOV_PREFIX=…" for trials, and for reference runs
    pid_t owner;
};
_must_check_ struct error *gcov_open(struct gcov *gcov);
void gcov_close(struct gcov *gcov);

// The environment with what makes libgcov write there, in *list, which is made larger and whose
// entries stay with their owners. A workload that says itself where to gets its own back.
_must_check_ struct error *gcov_environment(const struct gcov *gcov, char *const *environment,
                                            bool reference, const char ***list,
                                            char *const **ret_environment);

// Adds what was counted to the campaign in the store: nothing if no target counts, or without gcov.
_must_check_ struct error *gcov_save(const struct gcov *gcov, struct store *store,
                                     int64_t campaign);

// One `gcov --stdout` of one data file. Lines get the mark `after` or `before`.
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
