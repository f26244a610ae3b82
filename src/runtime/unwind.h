// SPDX-License-Identifier: GPL-3.0-or-later
// How to get from one frame to the next: the rows that cfi.c computes and unwind.c walks by.
#ifndef ORDEAL_RUNTIME_UNWIND_H
#define ORDEAL_RUNTIME_UNWIND_H

#include "runtime/runtime.h"

// Registers a callee must save, as struct walk keeps them.
enum { RBX, RBP, R12, R13, R14, R15, SAVED };

#define ROW_VALID  1 // the rest holds
#define ROW_END    2 // outermost frame
#define ROW_SIGNAL 4 // the kernel's signal frame

#define ROW_ON_STACK SAVED // cfa_base: the stack pointer

struct row {
    int32_t cfa_offset;
    int16_t saved[SAVED]; // offset from the CFA, where the bit of saved_mask is set
    uint8_t saved_mask;
    uint8_t cfa_base; // number of a saved register, or ROW_ON_STACK
    uint8_t flags;
};

#define UNWIND_ROWS 1024
#define UNWIND_BUSY 1

struct cached_row {
    uint64_t pc; // 0 free, UNWIND_BUSY being written
    struct row row;
};
extern struct cached_row unwind_rows[UNWIND_ROWS];

static inline struct cached_row *unwind_entry(uint64_t pc)
{
    return &unwind_rows[(pc ^ pc >> 10) % UNWIND_ROWS];
}

// The row that covers an address; flags 0 when it is not known.
struct row unwind_row(uint64_t pc);

#endif
