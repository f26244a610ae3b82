// SPDX-License-Identifier: GPL-3.0-or-later
// Mutants that need no build: faults that `ordeal cc` has put into programs and libraries. With a
// sandbox, a run gets the file with a fault switched on. Without one, the runtime switches it on in
// the memory of every process, which takes time at the start of each.
#ifndef ORDEAL_MUTATE_SCORE_BUILT_IN_H
#define ORDEAL_MUTATE_SCORE_BUILT_IN_H

#include "mutate/level.h"

#include <stdbool.h>
#include <stddef.h>

struct built_in;
// For a set of the level `ir`, which it uses. One serves one process at a time; forked children
// each have a copy.
_must_check_ struct error *built_in_new(const struct mutate_set *set,
                                        struct built_in **ret_mutants);
void built_in_free(struct built_in *mutants);

// The content of a candidate's file with the fault switched on.
_must_check_ struct error *built_in_content(struct built_in *mutants, size_t number,
                                            struct buffer *ret_content);

// How to start a run with the runtime; valid until built_in_end().
struct built_in_run {
    char *const *environment;
    const char *const *visible; // files, as for sandbox_run()
};
// Prepares a run with the fault of a candidate; SIZE_MAX: without one, to see what is executed.
_must_check_ struct error *built_in_prepare(struct built_in *mutants, size_t number,
                                            char *const *command, struct built_in_run *ret_run);
// Just before the start. The run sees the directory `to` as `from`; `root` is sandbox_root().
_must_check_ struct error *built_in_begin(struct built_in *mutants, const char *from,
                                          const char *to, const char *root);
// When all processes are gone.
_must_check_ struct error *built_in_end(struct built_in *mutants);

// After a run without a fault.
bool built_in_loaded(const struct built_in *mutants); // one of the files was loaded
bool built_in_reached(const struct built_in *mutants, size_t number);
void built_in_forget(struct built_in *mutants); // what was reached; not what was loaded

#endif
