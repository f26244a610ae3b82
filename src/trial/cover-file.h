// SPDX-License-Identifier: GPL-3.0-or-later
// The coverage file of a campaign, as the controller sees it (layout: wire/coverage.h). It tells
// the runtime which blocks of which modules to watch or patch, and targets note there what they
// reached.
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
    uint64_t modules, blocks; // offsets as they were made: targets may overwrite those in the file
    size_t module_count;
    pid_t owner; // a forked child must leave its parent's file alone
};
// Makes and maps the file. Blocks of one module must stand together, sorted by address. The caller
// ends it with cover_file_close(), which removes the file.
_must_check_ struct error *cover_file_create(const struct wire_coverage_module *modules,
                                             size_t module_count,
                                             const struct wire_coverage_block *blocks,
                                             size_t block_count, struct cover_file *ret_file);
void cover_file_close(struct cover_file *file);

// Sets the number that blocks get when they are reached from now on. It must not be 0.
void cover_file_set_phase(const struct cover_file *file, uint32_t phase);
// The phase in which a block was reached; 0: it was not.
uint32_t cover_file_reached(const struct cover_file *file, size_t block);
// Whether a process has loaded a module.
bool cover_file_loaded(const struct cover_file *file, size_t module);
// Call it before targets start. Targets know the directory `to` as `from`, so modules' paths below
// `to` are rewritten.
void cover_file_map_path(const struct cover_file *file, const char *from, const char *to);

#endif
