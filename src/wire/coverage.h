// SPDX-License-Identifier: GPL-3.0-or-later
// The coverage file: blocks of code whose first execution is to be noted. One shared mapping for a
// whole campaign, made by the controller; regions name it. Targets put a breakpoint on every block
// that nobody has reached yet.
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
    char path[WIRE_MODULE_PATH];
};

struct wire_coverage_block {
    uint64_t address; // link-time
    uint32_t code;    // its first four bytes, to make sure that it is the same file
    uint32_t reached; // phase in which it was first executed; written by targets
};

#endif
