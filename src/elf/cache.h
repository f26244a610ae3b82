// SPDX-License-Identifier: GPL-3.0-or-later
// /etc/ld.so.cache: where the loader looks a library up by name.
#ifndef ORDEAL_ELF_CACHE_H
#define ORDEAL_ELF_CACHE_H

#include "base/array.h"

struct elf_cache {
    struct buffer file;
    size_t start; // of the new-format header within the file
    unsigned count;
};

// A cache that is missing or makes no sense is empty, as it is for the loader.
_must_check_ struct error *elf_cache_load(const char *path, struct elf_cache *ret_cache);
void elf_cache_deinit(struct elf_cache *cache);

// The path of an x86-64 library, or NULL. Belongs to the cache.
const char *elf_cache_find(const struct elf_cache *cache, const char *name);

#endif
