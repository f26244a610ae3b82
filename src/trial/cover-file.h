// SPDX-License-Identifier: GPL-3.0-or-later
// The coverage file of a campaign, as the controller sees it (layout: wire/coverage.h). It tells
// the runtime which blocks of which modules to watch or patch. Every job slot has a copy of its own
// for its targets, which can only read it. What they reach they mark in the region of their trial,
// from where it is added here.
#ifndef ORDEAL_TRIAL_COVER_FILE_H
#define ORDEAL_TRIAL_COVER_FILE_H

#include "base/error.h"
#include "wire/coverage.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct cover_file {
    struct wire_coverage *own; // shared with forked children, not with targets
    uint32_t *loaded;          // by module; behind `own`
    size_t size, room;         // of the file; of the memory
};
// Blocks of one module must stand together, sorted by address.
// cover_file_add_stops() adds faults, in the order of struct wire_stop.
_must_check_ struct error *cover_file_create(const struct wire_coverage_module *modules,
                                             size_t module_count,
                                             const struct wire_coverage_block *blocks,
                                             size_t block_count, struct cover_file *ret_file);
_must_check_ struct error *cover_file_add_stops(struct cover_file *file,
                                                const struct wire_stop *stops, size_t count);
void cover_file_close(struct cover_file *file);

// How many marks a region needs.
uint32_t cover_file_marks(const struct cover_file *file);
uint32_t cover_file_stops(const struct cover_file *file);
// The marks of a fault among those of a trial.
const uint32_t *cover_file_stop(const struct cover_file *file, const uint32_t *marks, size_t stop);
// Its enum wire_state_read.
uint32_t cover_file_read(const struct cover_file *file, size_t stop);
// Adds the marks of a trial. Blocks that were not reached before get the number `phase`, which must
// not be 0. False, and nothing is added, if the marks cannot be true.
_must_check_ bool cover_file_add(const struct cover_file *file, const uint32_t *marks, size_t count,
                                 uint32_t phase);

// The phase in which a block was reached, or how often a block that counts was; 0: it was not.
uint32_t cover_file_reached(const struct cover_file *file, size_t block);
// Whether a process has loaded a module.
bool cover_file_loaded(const struct cover_file *file, size_t module);
// Call it before targets start. Targets know the directory `to` as `from`, so modules' paths below
// `to` are changed.
void cover_file_map_path(const struct cover_file *file, const char *from, const char *to);

// A copy in a file, for targets.
struct cover_copy {
    int file;
    char *path, *directory; // NULL: there is none
    pid_t owner;            // a forked child must leave its parent's file alone
};
// Makes the file, unless this process has made it already.
_must_check_ struct error *cover_copy_make(struct cover_copy *copy);
void cover_copy_close(struct cover_copy *copy); // removes it
// Writes everything, with what was added meanwhile. Call it before targets start.
_must_check_ struct error *cover_copy_write(const struct cover_copy *copy,
                                            const struct cover_file *file);

#endif
