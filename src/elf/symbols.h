// SPDX-License-Identifier: GPL-3.0-or-later
// The symbols of a module by address and name: from .symtab, also that of a separate debug file,
// and from the dynamic symbol table.
#ifndef ORDEAL_ELF_SYMBOLS_H
#define ORDEAL_ELF_SYMBOLS_H

#include "base/array.h"
#include "elf/object.h"

#include <libelf.h>

enum elf_symbol_kind {
    ELF_SYMBOL_FUNCTION,
    ELF_SYMBOL_LABEL,  // in code, but its type is not stated
    ELF_SYMBOL_OBJECT, // data
};

struct elf_symbol {
    const char *name;    // belongs to the Elf handle it came from
    size_t name_size;    // without "@VERSION"
    uint64_t start, end; // a code symbol without a size reaches to the next one
    enum elf_symbol_kind kind;
    unsigned rank; // among symbols at one address the lowest is the best to show
};

struct elf_symbols {
    ARRAY(struct elf_symbol) code; // by start
    ARRAY(struct elf_symbol) data; // unordered
    uint64_t *reach;               // highest end of code[0..i]
};

// `debug` is the separate debug file or NULL. Both must outlive the symbols.
_must_check_ struct error *elf_symbols_load(const struct elf_object *object, Elf *debug,
                                            struct elf_symbols *ret_symbols);
void elf_symbols_deinit(struct elf_symbols *symbols);

// The best code symbol that covers a link-time address, or NULL.
const struct elf_symbol *elf_symbols_find(const struct elf_symbols *symbols, uint64_t address);

// libelf's handle of an object, for libdw. Stays the object's.
Elf *elf_object_handle(const struct elf_object *object);
const char *elf_object_path(const struct elf_object *object);

// Lowest and highest link-time address of its segments: [lo, hi). False if it loads nothing.
bool elf_object_extent(const struct elf_object *object, uint64_t *ret_lo, uint64_t *ret_hi);
// The same of those that hold code.
bool elf_object_code_extent(const struct elf_object *object, uint64_t *ret_lo, uint64_t *ret_hi);

// Up to `size` bytes of executable code at a link-time address; how many there are in *ret_size.
// NULL if the address is not in code.
const unsigned char *elf_object_code(const struct elf_object *object, uint64_t address, size_t size,
                                     size_t *ret_size);

#endif
