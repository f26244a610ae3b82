// SPDX-License-Identifier: GPL-3.0-or-later
// The coverage file: blocks of code whose execution is to be noted, and bytes to be put in place of
// others. One shared mapping for a whole campaign, or for a trial, made by the controller; regions
// name it. Targets put a breakpoint on every block that no process has reached yet.
#ifndef ORDEAL_WIRE_COVERAGE_H
#define ORDEAL_WIRE_COVERAGE_H

#include "wire/region.h"

#include <stdint.h>

#define WIRE_COVERAGE_MAGIC 0x5643524fu // "ORCV"

struct wire_coverage {
    uint32_t magic, version; // WIRE_VERSION
    uint64_t size;
    uint32_t module_count, block_count;
    uint32_t phase; // what `reached` is set to; not 0
    uint32_t reserved;
    uint64_t modules; // offset of struct wire_coverage_module[module_count]
    uint64_t blocks;  // offset of struct wire_coverage_block[block_count]
};

struct wire_coverage_module {
    uint32_t first, count; // blocks, by address
    uint32_t loaded;       // by a process; written by targets
    uint32_t reserved;     // blocks follow, and are aligned
    char path[WIRE_MODULE_PATH];
};

enum wire_block {
    WIRE_BLOCK_PUT = 1,   // `put` replaces the code there
    WIRE_BLOCK_QUIET = 2, // no breakpoint
    WIRE_BLOCK_COUNT = 4, // `put` is a jump, `reached` counts how often it is taken
};
#define WIRE_BLOCK_BYTES 5
#define WIRE_BLOCK_MOST  1000 // counting ends here, since it takes time

struct wire_coverage_block {
    uint64_t address;      // link-time
    uint32_t code;         // its first four bytes, to check that it is the same file
    uint32_t reached;      // phase in which it was first executed, or a count; written by targets
    uint32_t flags;        // enum wire_block
    unsigned char put[12]; // WIRE_BLOCK_BYTES
};

#endif
