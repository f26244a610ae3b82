// SPDX-License-Identifier: GPL-3.0-or-later
// Where functions begin and end according to the unwind tables: what is left to go by in a stripped
// file, and more exact than symbols in any.
#ifndef ORDEAL_ELF_FRAMES_H
#define ORDEAL_ELF_FRAMES_H

#include "elf/object.h"

struct elf_frame {
    uint64_t start, end; // link-time code addresses
    bool part;           // begins with a frame already set up: a split-off part of another function
};

// Calls `found` for every entry of .eh_frame that the table in .eh_frame_hdr leads to. Entries that
// make no sense are left out. Nothing to do if there is no such table.
_must_check_ struct error *
elf_each_frame(const struct elf_object *object,
               struct error *(*found)(void *data, const struct elf_frame *), void *data);

#endif
