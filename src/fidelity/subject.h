// SPDX-License-Identifier: GPL-3.0-or-later
// Programs and libraries built with `ordeal cc --counters`: their blocks, lines and fault
// candidates, and which counter belongs to which block. A zeroed struct is empty;
// fidelity_subject_deinit() frees what it owns.
#ifndef ORDEAL_FIDELITY_SUBJECT_H
#define ORDEAL_FIDELITY_SUBJECT_H

#include "base/array.h"
#include "base/error.h"
#include "mutate/image.h"

struct fidelity_block {
    uint32_t instructions;
    size_t first_line, lines;           // in subject.block_lines
    size_t first_candidate, candidates; // in subject.candidates
    bool present; // as far as can be known, neither optimiser nor linker dropped it
};

struct fidelity_candidate {
    size_t type, block;
    size_t image, number; // candidate `number` of subject.images[image]
    bool live;            // it has a clone, so it can be enabled
};

struct fidelity_module { // one compiled source file
    uint64_t key;
    size_t first_counter, counters; // in subject.counter_blocks
};

struct fidelity_line {
    const char *file;
    uint32_t line;
    size_t number; // number of the distinct line
};

struct fidelity_subject {
    ARRAY(struct image) images;
    ARRAY(struct fidelity_module) modules;
    ARRAY(size_t) counter_blocks; // the block that a counter counts; SIZE_MAX: none
    ARRAY(struct fidelity_block) blocks;
    ARRAY(struct fidelity_line) block_lines;
    ARRAY(struct fidelity_candidate) candidates; // sorted by block
    ARRAY(const char *) types;                   // sorted
    size_t lines;                                // distinct
};

void fidelity_subject_deinit(struct fidelity_subject *subject);
// Adds a linked file. An error if it has no counters.
_must_check_ struct error *fidelity_subject_add(struct fidelity_subject *subject, const char *path);
// The same for an image that is already open. Takes it over.
_must_check_ struct error *fidelity_subject_take(struct fidelity_subject *subject,
                                                 struct image *image);
// Call it when all files are added: numbers lines and types.
_must_check_ struct error *fidelity_subject_finish(struct fidelity_subject *subject);
// The index of the module with this key, or SIZE_MAX.
size_t fidelity_module_by_key(const struct fidelity_subject *subject, uint64_t key);

#endif
