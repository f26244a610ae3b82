// SPDX-License-Identifier: GPL-3.0-or-later
// Execution counts of programs built with `ordeal cc --counters`: plain data, little-endian,
// versioned. There are two ELF sections, and files:
//
//   ordeal_counts  the counters: whole pages, one blob per module, loaded and writable
//   ordeal_blocks  what they count: one blob per module, not loaded
//   NAME.counts    the section ordeal_counts of one linked file, as processes left it that mapped
//                  this file in place of the section; then a page with the linked file's path
//
// A blob of counters is a struct counts_header, uint64_t counters[], zeros up to the next page. A
// blob of blocks is a struct blocks_header, blocks_function[], blocks_block[], blocks_line[],
// strings.
#ifndef ORDEAL_MUTATE_COUNTS_H
#define ORDEAL_MUTATE_COUNTS_H

#include <stdint.h>

#define COUNTS_SECTION  "ordeal_counts"
#define BLOCKS_SECTION  "ordeal_blocks"
#define COUNTS_VARIABLE "ORDEAL_COUNTERS" // names the directory of the files
#define COUNTS_ENDING   ".counts"
#define COUNTS_MAGIC    0x4344524fu // "ORDC"
#define BLOCKS_MAGIC    0x4244524fu // "ORDB"
#define COUNTS_VERSION  1u
#define COUNTS_PAGE     4096u

struct counts_header {
    uint32_t magic, version;
    uint64_t size; // of the blob, a multiple of COUNTS_PAGE
    uint64_t key;  // of the module; its blob of blocks has the same
    uint64_t counters;
};

struct blocks_header {
    uint32_t magic, version;
    uint32_t size;                              // of the blob
    uint32_t functions, blocks, lines, strings; // how many; bytes of strings
    uint32_t reserved;
    uint64_t key;
};

struct blocks_function {
    uint64_t id;     // as in the map
    uint32_t blocks; // they follow those of the function before
    uint32_t reserved;
};

struct blocks_block {      // the n-th of the module has the n-th counter
    uint32_t instructions; // 0: nothing leads there, not counted
    uint32_t lines;        // they follow those of the block before
};

struct blocks_line {
    uint32_t file; // string
    uint32_t line;
};

#endif
