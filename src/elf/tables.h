// SPDX-License-Identifier: GPL-3.0-or-later
// Dynamic symbols, relocations, and bytes by address: for analyses that need more of an object than
// its imports. The callbacks `found` may return an error, which ends the iteration and is returned.
#ifndef ORDEAL_ELF_TABLES_H
#define ORDEAL_ELF_TABLES_H

#include "elf/object.h"

struct elf_dynamic_symbol {
    const char *name;
    const char *version; // or NULL
    uint64_t value, size;
    unsigned type; // STT_*
    bool defined, local;
    bool hidden_version; // new programs are not linked to this version
};
_must_check_ struct error *
elf_each_dynamic_symbol(const struct elf_object *object,
                        struct error *(*found)(void *data, const struct elf_dynamic_symbol *),
                        void *data);

struct elf_relocation {
    uint64_t address; // of what is relocated
    uint32_t type;    // R_X86_64_*
    int64_t addend;
    struct elf_dynamic_symbol symbol; // name NULL: none
};
_must_check_ struct error *
elf_each_relocation(const struct elf_object *object,
                    struct error *(*found)(void *data, const struct elf_relocation *), void *data);

// The bytes of the file from a link-time address to the end of its segment, or NULL. They stay
// until the object is closed or elf_object_forget_bytes() is called; then they are read again on
// demand.
const unsigned char *elf_object_bytes(const struct elf_object *object, uint64_t address,
                                      size_t *ret_size);
// The same, but NULL if the program may change them.
const unsigned char *elf_object_constant(const struct elf_object *object, uint64_t address,
                                         size_t *ret_size);
void elf_object_forget_bytes(struct elf_object *object);

#endif
