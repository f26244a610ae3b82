// SPDX-License-Identifier: GPL-3.0-or-later
// Programs and libraries built with `ordeal cc --counters`: their blocks, lines and fault
// candidates, and which counter counts what.
#ifndef ORDEAL_FIDELITY_SUBJECT_H
#define ORDEAL_FIDELITY_SUBJECT_H

#include "base/array.h"
#include "base/error.h"
#include "mutate/image.h"

struct fidelity_block {
    uint32_t instructions;
    size_t first_line, lines;           // of subject.block_lines
    size_t first_candidate, candidates; // of subject.candidates
    bool present; // neither optimiser nor linker has dropped it, as far as can be told
};

struct fidelity_candidate {
    size_t type, block;
    size_t image, number; // the candidate of one of subject.images
    bool live;            // there is a clone with it, so that it can be enabled
};

struct fidelity_module { // one compiled source file
    uint64_t key;
    size_t first_counter, counters; // of subject.counter_blocks
};

struct fidelity_line {
    const char *file;
    uint32_t line;
    size_t number; // of the distinct line
};

struct fidelity_subject {
    ARRAY(struct image) images;
    ARRAY(struct fidelity_module) modules;
    ARRAY(size_t) counter_blocks; // SIZE_MAX: counts nothing
    ARRAY(struct fidelity_block) blocks;
    ARRAY(struct fidelity_line) block_lines;
    ARRAY(struct fidelity_candidate) candidates; // by block
    ARRAY(const char *) types;                   // sorted
    size_t lines;                                // distinct
};

void fidelity_subject_deinit(struct fidelity_subject *subject);
// Adds a linked file; one that has no counters is refused.
_must_check_ struct error *fidelity_subject_add(struct fidelity_subject *subject, const char *path);
// The same of an image that is open already, which becomes the subject's.
_must_check_ struct error *fidelity_subject_take(struct fidelity_subject *subject,
                                                 struct image *image);
// When all are added: lines and types get their numbers.
_must_check_ struct error *fidelity_subject_finish(struct fidelity_subject *subject);
// SIZE_MAX if there is none.
size_t fidelity_module_by_key(const struct fidelity_subject *subject, uint64_t key);

#endif
