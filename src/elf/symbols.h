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
    const char *name;    // belongs to the Elf handle that it was read from
    size_t name_size;    // without "@VERSION"
    uint64_t start, end; // a code symbol without a size ends at the next one
    enum elf_symbol_kind kind;
    unsigned rank; // of symbols at one address, the one with the lowest rank is shown
};

struct elf_symbols {
    ARRAY(struct elf_symbol) code; // by start
    ARRAY(struct elf_symbol) data; // unordered
    uint64_t *reach;               // by index i: the highest end of code[0..i]
};

// `debug` is the separate debug file or NULL. Both must outlive the symbols.
_must_check_ struct error *elf_symbols_load(const struct elf_object *object, Elf *debug,
                                            struct elf_symbols *ret_symbols);
void elf_symbols_deinit(struct elf_symbols *symbols);

// The best code symbol that covers a link-time address, or NULL.
const struct elf_symbol *elf_symbols_find(const struct elf_symbols *symbols, uint64_t address);

// libelf's handle of an object, for libdw. It belongs to the object.
Elf *elf_object_handle(const struct elf_object *object);
// The content of a section of the object, or of its debug file `elf`. NULL if it has none or cannot
// be read. Of the object itself, the latter is noted for elf_object_check().
Elf_Data *elf_object_section(const struct elf_object *object, Elf *elf, Elf_Scn *section);
const char *elf_object_path(const struct elf_object *object);

// The link-time addresses of all segments: [lo, hi). False if none is loaded.
bool elf_object_extent(const struct elf_object *object, uint64_t *ret_lo, uint64_t *ret_hi);
// The same for segments with code.
bool elf_object_code_extent(const struct elf_object *object, uint64_t *ret_lo, uint64_t *ret_hi);

// Up to `size` bytes of code at a link-time address; *ret_size says how many. NULL if the address
// is not in code. They belong to the object.
const unsigned char *elf_object_code(const struct elf_object *object, uint64_t address, size_t size,
                                     size_t *ret_size);

#endif
