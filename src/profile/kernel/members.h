// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the member of a structure through which an indirect call of a kernel goes.
#ifndef ORDEAL_PROFILE_KERNEL_MEMBERS_H
#define ORDEAL_PROFILE_KERNEL_MEMBERS_H

#include "base/array.h"
#include "elf/symbols.h"
#include "flow/image.h"
#include "profile/kernel/btf.h"

#define MEMBERS_VARIABLES 3

struct members_range { // addresses of a variable; empty if the image does not have it
    uint64_t start, end;
};

struct members {
    const struct flow_image *image;
    const struct btf *btf;
    struct members_range variables[MEMBERS_VARIABLES]; // hold pointers to structures
    uint32_t variable_structures[MEMBERS_VARIABLES];
    uint32_t file, socket; // structures; a file of a socket points to the socket
    uint64_t file_private; // offset of that pointer
    unsigned steps;
    unsigned char *seen;     // by block: visited while following one pointer
    ARRAY(uint32_t) visited; // the blocks that are marked in `seen`
};
// Image and types must outlive it; the symbols need not.
_must_check_ struct error *members_init(struct members *members, const struct flow_image *image,
                                        const struct elf_symbols *symbols, const struct btf *btf);
void members_deinit(struct members *members);

// The member that the indirect call or jump at the end of a block uses. False if unknown.
bool members_called(struct members *members, uint32_t block, uint32_t *ret_structure,
                    uint64_t *ret_offset);

struct members_range members_range(const struct elf_symbols *symbols, const char *name);
bool members_is_named(const struct flow_function *function, const char *name);

#endif
