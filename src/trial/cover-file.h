// SPDX-License-Identifier: GPL-3.0-or-later
// The coverage file of a campaign (layout: wire/coverage.h), from the controller's side.
#ifndef ORDEAL_TRIAL_COVER_FILE_H
#define ORDEAL_TRIAL_COVER_FILE_H

#include "base/error.h"
#include "wire/coverage.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct cover_file {
    int file;
    char *path, *directory;
    struct wire_coverage *map;
    size_t size, block_count;
    uint64_t modules, blocks; // as they were made: a target may write over the others
    size_t module_count;
    pid_t owner; // a forked child must leave its parent's file alone
};
// Blocks of one module stand together, by address.
_must_check_ struct error *cover_file_create(const struct wire_coverage_module *modules,
                                             size_t module_count,
                                             const struct wire_coverage_block *blocks,
                                             size_t block_count, struct cover_file *ret_file);
void cover_file_close(struct cover_file *file);

// What blocks that are reached from now on are marked with; not 0.
void cover_file_set_phase(const struct cover_file *file, uint32_t phase);
// The phase in which a block was reached; 0: in none.
uint32_t cover_file_reached(const struct cover_file *file, size_t block);
// Whether a process has loaded a module.
bool cover_file_loaded(const struct cover_file *file, size_t module);
// Before targets start: they know what is below the directory `to` as below `from`.
void cover_file_moved(const struct cover_file *file, const char *from, const char *to);

#endif
