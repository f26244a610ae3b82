// SPDX-License-Identifier: GPL-3.0-or-later
// The files that traced processes have mapped as code, and what is known about that code. Files are
// opened once; processes that map the same file share them.
#ifndef ORDEAL_TRACER_CODE_H
#define ORDEAL_TRACER_CODE_H

#include "base/array.h"
#include "elf/go-table.h"
#include "observe/tracer.h"
#include "wire/region.h"

#include <stdbool.h>
#include <stdint.h>

struct code_range { // link-time addresses that a query of the plan names
    uint32_t query;
    uint64_t low, high;
};

struct code_file {
    char *path;
    uint64_t device, inode;
    void *elf, *unwind_table; // Elf and Dwarf_CFI; NULL: there is none
    int file;
    void *image;       // of a file that is none: the kernel's code in every process
    bool is_go, loads; // `loads`: it is the dynamic loader, or the C library
    struct go_table go;
    uint32_t index; // in the region's table of modules
    bool resolved;  // `ranges` are known
    ARRAY(struct code_range) ranges;
};

struct code_mapping {
    uint64_t start, end, bias; // link-time address + bias = address
    struct code_file *code;
};

// The code of one process, as it was when an address in it was last asked for and not known.
struct address_space {
    struct code_files *files;
    ARRAY(struct code_mapping) mappings;
    bool is_go; // its program is
};
void address_space_clear(struct address_space *space); // it executes another program
// The mapping of an address; NULL: it is no code.
const struct code_mapping *address_space_find(struct address_space *space,
                                              const struct tracer_task *task, uint64_t address);

struct code_files {
    struct wire_region *region;
    size_t region_size; // bytes that are mapped
    ARRAY(struct code_file *) items;
};
void code_files_release(struct code_files *files);
// Whether a frame is at a place that a query of the plan names. Asks the controller once for each
// file.
bool code_matches(struct code_files *files, struct code_file *code, uint64_t offset,
                  uint32_t query);

#endif
