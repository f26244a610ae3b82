// SPDX-License-Identifier: GPL-3.0-or-later
// The coverage file: blocks of code whose execution is to be noted, bytes to be put in place of
// others, and faults in registers and memory that are injected at addresses. One file for a whole
// campaign, or for a trial, which the controller writes and targets only read; regions name it.
// Targets put a breakpoint on every block that no trial has reached yet. What they reach they mark
// in their region: see wire_region.marks.
#ifndef ORDEAL_WIRE_COVERAGE_H
#define ORDEAL_WIRE_COVERAGE_H

#include "wire/region.h"
#include "wire/state.h"

#include <stdint.h>

#define WIRE_COVERAGE_MAGIC 0x5643524fu // "ORCV"

struct wire_coverage {
    uint32_t magic, version; // WIRE_VERSION
    uint64_t size;
    uint32_t module_count, block_count;
    uint64_t modules; // offset of struct wire_coverage_module[module_count]
    uint64_t blocks;  // offset of struct wire_coverage_block[block_count]
    uint64_t stops;   // offset of struct wire_stop[stop_count]
    uint32_t stop_count, reserved;
};

struct wire_coverage_module {
    uint32_t first, count; // blocks, by address
    char path[WIRE_MODULE_PATH];
};

enum wire_block {
    WIRE_BLOCK_PUT = 1,   // `put` replaces the code there
    WIRE_BLOCK_QUIET = 2, // no breakpoint
    WIRE_BLOCK_COUNT = 4, // `put` is a jump, the mark counts how often it is taken
    WIRE_BLOCK_STOP = 8,  // faults are injected there, and it has no mark
};
#define WIRE_BLOCK_BYTES 5
#define WIRE_BLOCK_MOST  1000 // counting ends here, since it takes time

struct wire_coverage_block {
    uint64_t address;      // link-time
    uint32_t code;         // its first four bytes, to check that it is the same file
    uint32_t reached;      // not 0: by an earlier trial
    uint32_t flags;        // enum wire_block
    unsigned char put[12]; // WIRE_BLOCK_BYTES
};

// A fault that is injected once, where its block begins: by block, then by count. Of the fault's
// fields those for the tracer mean nothing here.
struct wire_stop {
    uint32_t block, reserved;
    struct wire_state_fault fault;
};

enum wire_stop_state {
    WIRE_STOP_NOT_REACHED,
    WIRE_STOP_TAKEN, // and nothing became of it: see enum wire_state_problem
    WIRE_STOP_SAME,
    WIRE_STOP_INJECTED,
    WIRE_STOP_ACTIVATED, // likewise, and the next instruction reads it
};

// The marks of a fault, after those of the blocks.
enum wire_stop_mark {
    WIRE_STOP_STATE,       // enum wire_stop_state
    WIRE_STOP_INJECTED_US, // microseconds since wire_region.start_ns
    WIRE_STOP_MARKS
};

#endif
