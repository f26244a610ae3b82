// SPDX-License-Identifier: GPL-3.0-or-later
// Programs and libraries of a workload that have software faults inside (`ordeal cc`), and what is
// to be put into them to switch a fault on or to learn what is executed.
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
    bool loaded;          // in the run that was looked at
    bool *executed;       // in that run; by candidate
};

void ir_program_deinit(struct ir_program *program);
// One file by itself, and links to it that are beside it.
_must_check_ struct error *ir_program_open(const char *path, struct ir_program *ret_program);

// One of its other names becomes its name; `directory` is the working directory.
void ir_program_call(struct ir_program *program, const char *directory, size_t other);

struct ir_programs {
    ARRAY(struct ir_program) items;
    bool automatic; // nobody named them
    bool cut;       // there were too many files to look at all
};
void ir_programs_deinit(struct ir_programs *programs);
// Those that `named` has, relative to the working directory; or, NULL, the command's program and
// whatever is below the working directory.
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
// All twins take over, without faults, and note what of them is executed.
_must_check_ struct error *ir_blocks_of_all(const struct image *image, struct ir_blocks *blocks);
// These faults are on, and counted.
_must_check_ struct error *ir_blocks_of_faults(struct image *image, const size_t *candidates,
                                               size_t count, struct ir_blocks *blocks);

struct ir_part { // what is put into a program
    const struct ir_program *program;
    const struct ir_blocks *blocks;
};
_must_check_ struct error *ir_file_create(const struct ir_part *parts, size_t count,
                                          struct cover_file *ret_file);
// All faults of an executed block count as executed.
void ir_take_block(struct ir_program *program, const struct ir_block *block);

#endif
