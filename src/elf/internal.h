// SPDX-License-Identifier: GPL-3.0-or-later
// The inside of struct elf_object, and what the files of this room share to read it.
#ifndef ORDEAL_ELF_INTERNAL_H
#define ORDEAL_ELF_INTERNAL_H

#include "base/array.h"
#include "base/map.h"
#include "elf/object.h"

#include <gelf.h>

// The entries of PT_DYNAMIC that matter here. Addresses are link-time; 0 = absent.
struct elf_dynamic {
    uint64_t strings, strings_size;
    uint64_t symbols;
    uint64_t hash, gnu_hash;
    uint64_t rela, rela_size, rel, rel_size;
    uint64_t plt, plt_size, plt_kind;
    uint64_t versym, verneed, verneed_count, verdef, verdef_count;
    uint64_t flags_1;
    uint64_t soname, rpath, runpath; // offsets in the string table; 0 = absent
};

struct elf_export {
    const char *name;
    const char *version; // or NULL
};

// The first part of the file that is there but could not be read: the disk failed, or memory was
// short. Then whatever is missing says nothing about the file.
struct elf_unread {
    bool any;
    uint64_t offset, size;
    int code; // as in errno
};

struct elf_object {
    char *path;
    int file;
    Elf *elf;
    uint64_t file_size;
    GElf_Ehdr header;
    struct elf_facts facts;
    ARRAY(GElf_Phdr) segments;
    unsigned char **segment_bytes; // by segment; NULL until it is first needed
    struct elf_dynamic dynamic;
    const char *strings; // the dynamic string table
    uint64_t strings_size;
    ARRAY(const char *) needed;
    const char *rpath, *runpath;
    ARRAY(const char *) versions; // by version index; NULL where there is none
    bool defines_versions;
    ARRAY(struct elf_import) imports;
    ARRAY(struct elf_export) exports;
    struct map exports_by_name; // by the name's hash
    char build_id[2 * 64 + 1];
    struct elf_unread *unread; // set by readers, to whom the rest is constant
};

// A new error about broken content, with the name of the file.
__attribute__((format(printf, 2, 3))) _must_check_ struct error *
elf_object_broken(const struct elf_object *object, const char *format, ...);

// Notes that a part of the file could not be read, unless there was one before or the part is not
// in the file at all.
void elf_object_note_unread(const struct elf_object *object, uint64_t offset, uint64_t size,
                            int code);
// The content of the file at an offset, in libelf's form for `type`. NULL if it cannot be read,
// which is noted. It belongs to the object.
Elf_Data *elf_object_chunk(const struct elf_object *object, uint64_t offset, uint64_t size,
                           Elf_Type type);
// The content of the file at a link-time address: at least `size` bytes, in libelf's form for
// `type`. NULL if it is not in the file, or cannot be read, which is noted. It belongs to the
// object.
Elf_Data *elf_object_data(const struct elf_object *object, uint64_t address, uint64_t size,
                          Elf_Type type);
// The bytes of a segment, read at the first call. NULL if they are not in the file or cannot be
// read, which is noted. They belong to the object. Several threads may call this.
const unsigned char *elf_object_segment(const struct elf_object *object, size_t number);
// How many bytes of the file there are from a link-time address to the end of its segment.
uint64_t elf_object_available(const struct elf_object *object, uint64_t address);

// A string of the dynamic string table, or NULL if it is not wholly inside.
const char *elf_object_string(const struct elf_object *object, uint64_t offset);

// Fills imports and exports from the dynamic symbol table; leaves them empty if `bare`.
_must_check_ struct error *elf_object_load_symbols(struct elf_object *object, bool bare);
// The dynamic symbol table as libelf data, or NULL if it is not in the file.
Elf_Data *elf_object_dynamic_symbols(const struct elf_object *object, int *ret_count);
// Fills `versions` from DT_VERNEED and DT_VERDEF.
_must_check_ struct error *elf_object_load_versions(struct elf_object *object);

#endif
