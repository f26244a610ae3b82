// SPDX-License-Identifier: GPL-3.0-or-later
// Functions without names. A stripped file still has unwind tables that tell where functions begin,
// and a hash of their code tells them apart, also in another build of the file.
#ifndef ORDEAL_DWARF_NAMELESS_H
#define ORDEAL_DWARF_NAMELESS_H

#include "base/array.h"
#include "base/error.h"
#include "elf/object.h"

#include <stdint.h>

struct nameless_function {
    uint64_t start, end; // link-time addresses
    uint32_t hash;       // of its code without distances; 0: not yet computed
};
struct nameless_functions {
    ARRAY(struct nameless_function) items; // by start
    bool loaded;
};
void nameless_functions_deinit(struct nameless_functions *functions);
// The function that contains the address, with its hash, or NULL. Reads the unwind tables of the
// file when it is first called.
const struct nameless_function *nameless_functions_find(struct nameless_functions *functions,
                                                        const struct elf_object *object,
                                                        uint64_t address);

#endif
