// SPDX-License-Identifier: GPL-3.0-or-later
// A map from names to numbers, where a name may have several numbers: the queries that ask for it.
#ifndef ORDEAL_ELF_NAMES_H
#define ORDEAL_ELF_NAMES_H

#include "base/array.h"
#include "base/map.h"

#include <stdint.h>

struct elf_name {
    const char *text; // not copied
    size_t size;
    uint32_t number, next; // next: entry of the same name, 0 = none
};

struct elf_names {
    ARRAY(struct elf_name) entries;
    struct map by_text; // to the first entry of a name
};

// Zero-initialized, it is empty. The texts must outlive it.
void elf_names_deinit(struct elf_names *names);
_must_check_ struct error *elf_names_add(struct elf_names *names, const char *text, size_t size,
                                         uint32_t number);

// Every entry of a name in turn: start with NULL, ends with NULL.
const struct elf_name *elf_names_next(const struct elf_names *names, const struct elf_name *last,
                                      const char *text, size_t size);

#endif
