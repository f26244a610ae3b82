// SPDX-License-Identifier: GPL-3.0-or-later
// Which member of which structure an indirect call of a kernel goes through.
#ifndef ORDEAL_PROFILE_KERNEL_MEMBERS_H
#define ORDEAL_PROFILE_KERNEL_MEMBERS_H

#include "base/array.h"
#include "elf/symbols.h"
#include "flow/image.h"
#include "profile/btf.h"

#define MEMBERS_VARIABLES 3

struct members_range { // of a variable; end == start: the image does not have it
    uint64_t start, end;
};

struct members {
    const struct flow_image *image;
    const struct btf *btf;
    struct members_range variables[MEMBERS_VARIABLES]; // hold pointers to structures
    uint32_t variable_structures[MEMBERS_VARIABLES];
    uint32_t file, socket; // structures; a socket is what is private to its file
    uint64_t file_private; // where
    unsigned steps;
    unsigned char *seen;     // by block: met while following one pointer
    ARRAY(uint32_t) visited; // the blocks that are
};
// Image and types must outlive it.
_must_check_ struct error *members_init(struct members *members, const struct flow_image *image,
                                        const struct elf_symbols *symbols, const struct btf *btf);
void members_deinit(struct members *members);

// Of the indirect call or jump a block ends with. False if that cannot be told.
bool members_called(struct members *members, uint32_t block, uint32_t *ret_structure,
                    uint64_t *ret_offset);

struct members_range members_range(const struct elf_symbols *symbols, const char *name);
bool members_is_named(const struct flow_function *function, const char *name);

#endif
