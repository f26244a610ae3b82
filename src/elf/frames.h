// SPDX-License-Identifier: GPL-3.0-or-later
// Where functions begin and end according to the unwind tables. In a stripped file they are all
// there is, and in any file they are more exact than symbols.
#ifndef ORDEAL_ELF_FRAMES_H
#define ORDEAL_ELF_FRAMES_H

#include "elf/object.h"

struct elf_frame {
    uint64_t start, end; // link-time code addresses
    bool part;           // its frame is set up at its beginning: it was split off from a function
};

// Calls `found` for every entry of .eh_frame that the table in .eh_frame_hdr lists. Broken entries
// are skipped. A file without such a table has none. Stops at the first error of `found` and
// returns it.
_must_check_ struct error *
elf_each_frame(const struct elf_object *object,
               struct error *(*found)(void *data, const struct elf_frame *), void *data);

#endif
