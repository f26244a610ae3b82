// SPDX-License-Identifier: GPL-3.0-or-later
// Faults of the model (mutate/model.h) in machine code: where a linked program or library has them,
// and which bytes make them. Neither sources nor debug information are read.
#ifndef ORDEAL_MUTATE_BINARY_BINARY_H
#define ORDEAL_MUTATE_BINARY_BINARY_H

#include "base/arena.h"
#include "base/array.h"
#include "flow/image.h"
#include "mutate/model.h"

#define BINARY_PATCH 16 // bytes

struct binary_patch { // replaces `size` bytes at a link-time address
    uint64_t address;
    uint8_t size;
    unsigned char before[BINARY_PATCH], after[BINARY_PATCH];
};

struct binary_fault {
    enum model_kind kind;
    uint32_t function;         // of the image
    uint64_t address;          // of the first instruction that is affected
    unsigned parameter;        // WPFV, WAEP: which argument, from 1; 0 for other types
    const char *replacement;   // WPFV, WAEP, WVAV; "" for other types
    const char *detail;        // what is affected; "" if there is nothing to say
    struct binary_patch patch; // size 0: there is no room for the fault
    bool dropped;              // it cannot be, as other functions show
};

struct binary_faults {
    struct arena arena;               // owns the texts
    ARRAY(struct binary_fault) items; // by function, then by type and place
    size_t functions;                 // that were looked at
    size_t understood;                // of them, those that were reconstructed
    size_t optimised; // of them, those of which only calls and conditions were looked for
};

// Finds the faults of an image. Functions that are not understood have none.
_must_check_ struct error *binary_find(const struct flow_image *image,
                                       struct binary_faults *ret_faults);
void binary_faults_deinit(struct binary_faults *faults);

#endif
