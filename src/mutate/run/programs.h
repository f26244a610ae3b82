// SPDX-License-Identifier: GPL-3.0-or-later
// Programs and libraries of a workload that have software faults inside (`ordeal cc`), and what to
// patch in them to switch a fault on or to find out what is executed. For a single command, plain
// files do, too.
#ifndef ORDEAL_MUTATE_RUN_PROGRAMS_H
#define ORDEAL_MUTATE_RUN_PROGRAMS_H

#include "base/array.h"
#include "base/error.h"
#include "base/words.h"
#include "mutate/image.h"
#include "trial/cover-file.h"
#include "wire/coverage.h"

#include <stdbool.h>
#include <stddef.h>

struct ir_program {
    struct image image;
    char *path;           // without links
    const char *name;     // for people: from the working directory on, where it is below that
    ARRAY(char *) others; // links to it, and its other names
    bool loaded;          // a process of the profiling run loaded it
    bool *executed;       // by candidate: its block was executed in that run
};

void ir_program_deinit(struct ir_program *program);
// Opens one file, with the links to it in the same directory. Fails if it has no faults inside.
_must_check_ struct error *ir_program_open(const char *path, struct ir_program *ret_program);
// The same of a file that is open already; takes over the image, also before an error.
_must_check_ struct error *ir_program_of(struct image *image, struct ir_program *ret_program);

// Makes one of its other names its name; `directory` is the working directory.
void ir_program_use_name(struct ir_program *program, const char *directory, size_t other);

struct ir_programs {
    ARRAY(struct ir_program) items;
    bool automatic; // found by search, not named by the user
    bool cut;       // there were too many files to look at all of them
};
void ir_programs_deinit(struct ir_programs *programs);
// Opens the files in `named`, relative to the working directory. If it is NULL, finds the command's
// program and everything below the working directory. Fails if there are no faults in any of them,
// or one of them cannot be used.
_must_check_ struct error *ir_programs_find(const char *directory, const struct words *command,
                                            const struct words *named,
                                            struct ir_programs *ret_programs);

struct ir_block {
    struct wire_coverage_block wire;
    size_t marker; // of the image; SIZE_MAX: an entry
};
struct ir_blocks { // of one program, by address
    ARRAY(struct ir_block) items;
};
void ir_blocks_deinit(struct ir_blocks *blocks);
// Patches that make all twins run, without faults, and note which blocks are executed.
_must_check_ struct error *ir_blocks_of_all(const struct image *image, struct ir_blocks *blocks);
// Patches that enable these candidates and count their executions.
// Entries of functions that are not in `blocks`: their twins are executed, too.
_must_check_ struct error *ir_blocks_add_entries(const struct image *image,
                                                 struct ir_blocks *blocks);
_must_check_ struct error *ir_blocks_of_faults(struct image *image, const size_t *candidates,
                                               size_t count, struct ir_blocks *blocks);

struct ir_part { // what to patch in a program
    const struct ir_program *program;
    const struct ir_blocks *blocks;
};
// Makes the coverage file, which the caller closes with cover_file_close().
_must_check_ struct error *ir_file_create(const struct ir_part *parts, size_t count,
                                          struct cover_file *ret_file);
// Notes that a block was executed: all candidates of its marker count as executed.
void ir_program_mark_executed(struct ir_program *program, const struct ir_block *block);

#endif
