// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the imports and exports of an object: the dynamic symbol table, the relocations that use it
// and the version tables. The length of the symbol table is stated nowhere and has to be worked
// out.
#include "base/cleanup.h"
#include "base/hash.h"
#include "elf/internal.h"

#include <inttypes.h>
#include <string.h>

#define VERSION_HIDDEN 0x8000

// DT_GNU_HASH does not state the number of symbols. The last one is at the end of the last chain.
static uint64_t count_by_gnu_hash(const struct elf_object *object)
{
    uint64_t address = object->dynamic.gnu_hash;
    Elf_Data *data =
        elf_object_data(object, address, elf_object_available(object, address) & ~3ull, ELF_T_WORD);
    if (data == NULL || data->d_size < 16)
        return 0;
    const uint32_t *words = data->d_buf;
    uint64_t word_count = data->d_size / 4;
    uint64_t bucket_count = words[0], first = words[1];
    uint64_t bloom = (uint64_t)words[2] * (object->facts.class_bits / 32);
    uint64_t buckets = 4 + bloom, chains = buckets + bucket_count;
    if (chains > word_count)
        return 0;
    uint64_t last = 0;
    for (uint64_t i = 0; i < bucket_count; i++)
        if (words[buckets + i] > last)
            last = words[buckets + i];
    if (last < first)
        return first;
    for (uint64_t at = chains + (last - first); at < word_count; at++, last++)
        if ((words[at] & 1) != 0)
            return last + 1;
    return 0;
}

static uint64_t count_by_hash(const struct elf_object *object)
{
    Elf_Data *data = elf_object_data(object, object->dynamic.hash, 8, ELF_T_WORD);
    return data != NULL ? ((const uint32_t *)data->d_buf)[1] : 0;
}

static uint64_t count_by_section(const struct elf_object *object)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(object->elf, section)) != NULL) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) != NULL && header.sh_type == SHT_DYNSYM &&
            header.sh_addr == object->dynamic.symbols)
            return header.sh_size / gelf_fsize(object->elf, ELF_T_SYM, 1, EV_CURRENT);
    }
    return 0;
}

// One table of relocations, REL or RELA.
struct relocations {
    Elf_Data *data;
    bool addend;
    int count;
};

static struct error *open_relocations(const struct elf_object *object, uint64_t address,
                                      uint64_t size, bool addend, struct relocations *ret)
{
    *ret = (struct relocations){.addend = addend};
    if (address == 0 || size == 0)
        return NULL;
    Elf_Type type = addend ? ELF_T_RELA : ELF_T_REL;
    ret->data = elf_object_data(object, address, size, type);
    if (ret->data == NULL)
        return elf_object_broken(object,
                                 "the relocations (0x%" PRIx64 " bytes at address 0x%" PRIx64
                                 ") are not in the file",
                                 size, address);
    uint64_t count = size / gelf_fsize(object->elf, type, 1, EV_CURRENT);
    ret->count = count < INT32_MAX ? (int)count : INT32_MAX;
    return NULL;
}

static bool read_relocation(const struct relocations *relocations, int index, uint64_t *ret_info)
{
    if (relocations->addend) {
        GElf_Rela entry;
        if (gelf_getrela(relocations->data, index, &entry) == NULL)
            return false;
        *ret_info = entry.r_info;
    } else {
        GElf_Rel entry;
        if (gelf_getrel(relocations->data, index, &entry) == NULL)
            return false;
        *ret_info = entry.r_info;
    }
    return true;
}

// Whether a relocation stores the address of a function, for a call or in a pointer.
static bool takes_address(const struct elf_object *object, uint64_t type)
{
    return object->header.e_machine != EM_X86_64 || type == R_X86_64_JUMP_SLOT ||
           type == R_X86_64_GLOB_DAT || type == R_X86_64_64;
}

struct uses {
    struct relocations tables[3];
    unsigned char *bits; // by symbol
    uint64_t count;      // symbols
};

static void uses_deinit(struct uses *uses)
{
    free(uses->bits);
}

static struct error *uses_open(const struct elf_object *object, struct uses *uses)
{
    const struct elf_dynamic *dynamic = &object->dynamic;
    TRY(open_relocations(object, dynamic->rela, dynamic->rela_size, true, &uses->tables[0]));
    TRY(open_relocations(object, dynamic->rel, dynamic->rel_size, false, &uses->tables[1]));
    TRY(open_relocations(object, dynamic->plt, dynamic->plt_size, dynamic->plt_kind != DT_REL,
                         &uses->tables[2]));
    return NULL;
}

// The highest symbol that a relocation uses. Without hash table and sections, the symbol table is
// known to be at least that long.
static uint64_t uses_highest(const struct uses *uses)
{
    uint64_t highest = 0, info;
    for (size_t t = 0; t < 3; t++)
        for (int i = 0; i < uses->tables[t].count; i++)
            if (read_relocation(&uses->tables[t], i, &info) && GELF_R_SYM(info) > highest)
                highest = GELF_R_SYM(info);
    return highest;
}

static struct error *uses_mark(const struct elf_object *object, struct uses *uses)
{
    uses->bits = calloc(1, uses->count / 8 + 1);
    if (uses->bits == NULL)
        return error_no_memory();
    uint64_t info;
    for (size_t t = 0; t < 3; t++)
        for (int i = 0; i < uses->tables[t].count; i++) {
            if (!read_relocation(&uses->tables[t], i, &info))
                break;
            uint64_t symbol = GELF_R_SYM(info);
            if (symbol < uses->count && takes_address(object, GELF_R_TYPE(info)))
                uses->bits[symbol / 8] |= 1 << symbol % 8;
        }
    return NULL;
}

static bool uses_has(const struct uses *uses, uint64_t symbol)
{
    return (uses->bits[symbol / 8] >> symbol % 8 & 1) != 0;
}

static struct error *note_version(struct elf_object *object, uint64_t index, uint64_t name)
{
    index &= ~(uint64_t)VERSION_HIDDEN;
    const char *text = elf_object_string(object, name);
    if (text == NULL)
        return elf_object_broken(
            object, "version %" PRIu64 " has its name outside the string table", index);
    while (object->versions.count <= index)
        if (ARRAY_ADD(&object->versions) == NULL)
            return error_no_memory();
    object->versions.items[index] = text;
    return NULL;
}

// Copies one record of a version table, with a bounds check. The tables are chains of offsets and
// look the same in both ELF classes.
static bool read_record(const Elf_Data *data, uint64_t at, void *record, size_t size)
{
    if (at > data->d_size || size > data->d_size - at)
        return false;
    memcpy(record, (const char *)data->d_buf + at, size);
    return true;
}

static struct error *load_needed_versions(struct elf_object *object, const Elf_Data *data)
{
    uint64_t at = 0;
    uint64_t left = data->d_size / sizeof(Elf64_Vernaux); // a limit, as records may form a ring
    for (uint64_t i = 0; i < object->dynamic.verneed_count; i++) {
        Elf64_Verneed need;
        if (!read_record(data, at, &need, sizeof need))
            return elf_object_broken(object, "needed versions end at record %" PRIu64, i);
        uint64_t aux_at = at + need.vn_aux;
        for (unsigned j = 0; j < need.vn_cnt; j++) {
            Elf64_Vernaux aux;
            if (left-- == 0 || !read_record(data, aux_at, &aux, sizeof aux))
                return elf_object_broken(object, "needed versions end in record %" PRIu64, i);
            TRY(note_version(object, aux.vna_other, aux.vna_name));
            if (aux.vna_next == 0)
                break;
            aux_at += aux.vna_next;
        }
        if (need.vn_next == 0)
            break;
        at += need.vn_next;
    }
    return NULL;
}

static struct error *load_defined_versions(struct elf_object *object, const Elf_Data *data)
{
    uint64_t at = 0;
    for (uint64_t i = 0; i < object->dynamic.verdef_count; i++) {
        Elf64_Verdef definition;
        Elf64_Verdaux aux;
        if (!read_record(data, at, &definition, sizeof definition) ||
            !read_record(data, at + definition.vd_aux, &aux, sizeof aux))
            return elf_object_broken(object, "defined versions end at record %" PRIu64, i);
        if ((definition.vd_flags & VER_FLG_BASE) == 0) {
            object->defines_versions = true;
            TRY(note_version(object, definition.vd_ndx, aux.vda_name));
        }
        if (definition.vd_next == 0)
            break;
        at += definition.vd_next;
    }
    return NULL;
}

static bool native_order(const struct elf_object *object)
{
    return object->header.e_ident[EI_DATA] == ELFDATA2LSB;
}

static Elf_Data *version_data(const struct elf_object *object, uint64_t address)
{
    return elf_object_data(object, address, elf_object_available(object, address), ELF_T_BYTE);
}

struct error *elf_object_load_versions(struct elf_object *object)
{
    const struct elf_dynamic *dynamic = &object->dynamic;
    if (!native_order(object))
        return NULL;
    if (dynamic->verneed != 0 && dynamic->verneed_count != 0) {
        Elf_Data *data = version_data(object, dynamic->verneed);
        if (data == NULL)
            return elf_object_broken(
                object, "the needed versions (address 0x%" PRIx64 ") are not in the file",
                dynamic->verneed);
        TRY(load_needed_versions(object, data));
    }
    if (dynamic->verdef != 0 && dynamic->verdef_count != 0) {
        Elf_Data *data = version_data(object, dynamic->verdef);
        if (data == NULL)
            return elf_object_broken(
                object, "the defined versions (address 0x%" PRIx64 ") are not in the file",
                dynamic->verdef);
        TRY(load_defined_versions(object, data));
    }
    return NULL;
}

static const char *symbol_version(const struct elf_object *object, const Elf_Data *versym,
                                  uint64_t symbol)
{
    uint16_t index;
    if (versym == NULL || !read_record(versym, symbol * 2, &index, sizeof index))
        return NULL;
    index &= (uint16_t)~VERSION_HIDDEN;
    return index >= 2 && index < object->versions.count ? object->versions.items[index] : NULL;
}

static bool is_function(const GElf_Sym *symbol)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    return type == STT_FUNC || type == STT_GNU_IFUNC;
}

static bool is_data(const GElf_Sym *symbol)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    return type == STT_OBJECT || type == STT_TLS || type == STT_COMMON || type == STT_SECTION ||
           type == STT_FILE;
}

static struct error *add_symbol(struct elf_object *object, const struct uses *uses, uint64_t index,
                                const GElf_Sym *symbol, const char *name, const char *version)
{
    if (symbol->st_shndx == SHN_UNDEF) {
        if (is_data(symbol) || (!uses_has(uses, index) && !is_function(symbol)))
            return NULL;
        struct elf_import *import = ARRAY_ADD(&object->imports);
        if (import == NULL)
            return error_no_memory();
        *import = (struct elf_import){name, version, GELF_ST_BIND(symbol->st_info) == STB_WEAK};
        return NULL;
    }
    unsigned visibility = GELF_ST_VISIBILITY(symbol->st_other);
    if (is_data(symbol) || GELF_ST_BIND(symbol->st_info) == STB_LOCAL || visibility == STV_HIDDEN ||
        visibility == STV_INTERNAL)
        return NULL;
    struct elf_export *export = ARRAY_ADD(&object->exports);
    if (export == NULL)
        return error_no_memory();
    *export = (struct elf_export){name, version};
    return NULL;
}

static struct error *index_exports(struct elf_object *object)
{
    TRY(map_reserve(&object->exports_by_name, object->exports.count));
    for (size_t i = 0; i < object->exports.count; i++) {
        const char *name = object->exports.items[i].name;
        TRY(map_put(&object->exports_by_name, hash_text(name), (uint32_t)i));
    }
    return NULL;
}

static uint64_t count_symbols(const struct elf_object *object, const struct uses *uses)
{
    uint64_t count = count_by_section(object);
    if (count == 0 && object->dynamic.hash != 0)
        count = count_by_hash(object);
    if (count == 0) {
        uint64_t hashed = object->dynamic.gnu_hash != 0 ? count_by_gnu_hash(object) : 0;
        uint64_t used = uses_highest(uses) + 1;
        count = hashed > used ? hashed : used;
    }
    return count;
}

static struct error *load_symbols(struct elf_object *object, struct uses *uses)
{
    uint64_t address = object->dynamic.symbols;
    uint64_t size = gelf_fsize(object->elf, ELF_T_SYM, 1, EV_CURRENT);
    if (uses->count > elf_object_available(object, address) / size || uses->count > INT32_MAX)
        return elf_object_broken(object,
                                 "the dynamic symbol table (%" PRIu64
                                 " symbols at address 0x%" PRIx64 ") is not in the file",
                                 uses->count, address);
    Elf_Data *data = elf_object_data(object, address, uses->count * size, ELF_T_SYM);
    if (data == NULL)
        return elf_object_broken(object, "cannot read the dynamic symbol table: %s",
                                 elf_errmsg(-1));
    Elf_Data *versym = NULL;
    if (object->dynamic.versym != 0 && object->versions.count != 0)
        versym = elf_object_data(object, object->dynamic.versym, uses->count * 2, ELF_T_BYTE);
    for (uint64_t i = 1; i < uses->count; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) == NULL)
            return elf_object_broken(object, "cannot read dynamic symbol %" PRIu64, i);
        const char *name = elf_object_string(object, symbol.st_name);
        if (name == NULL)
            return elf_object_broken(
                object, "dynamic symbol %" PRIu64 " has its name outside the string table", i);
        if (*name != '\0')
            TRY(add_symbol(object, uses, i, &symbol, name, symbol_version(object, versym, i)));
    }
    return NULL;
}

Elf_Data *elf_object_dynamic_symbols(const struct elf_object *object, int *ret_count)
{
    struct uses uses = {0};
    _cleanup_error_ struct error *error = uses_open(object, &uses);
    if (error != NULL || object->dynamic.symbols == 0 || !native_order(object))
        return NULL;
    uint64_t size = gelf_fsize(object->elf, ELF_T_SYM, 1, EV_CURRENT);
    uint64_t count = count_symbols(object, &uses);
    if (count == 0 || count > INT32_MAX)
        return NULL;
    *ret_count = (int)count;
    return elf_object_data(object, object->dynamic.symbols, count * size, ELF_T_SYM);
}

struct error *elf_object_load_symbols(struct elf_object *object, bool bare)
{
    // A file with another byte order cannot run here. Its facts are enough to say so.
    if (!bare && object->dynamic.symbols != 0 && native_order(object)) {
        _cleanup_(uses_deinit) struct uses uses = {0};
        TRY(uses_open(object, &uses));
        uses.count = count_symbols(object, &uses);
        if (uses.count > object->file_size)
            return elf_object_broken(object, "claims %" PRIu64 " dynamic symbols", uses.count);
        TRY(uses_mark(object, &uses));
        if (uses.count != 0)
            TRY(load_symbols(object, &uses));
    }
    return index_exports(object);
}

size_t elf_object_import_count(const struct elf_object *object)
{
    return object->imports.count;
}

const struct elf_import *elf_object_import(const struct elf_object *object, size_t index)
{
    return &object->imports.items[index];
}

struct sought {
    const struct elf_object *object;
    const char *name, *version;
};

// As for the loader, a library without versions satisfies any version.
static bool satisfies(const void *data, uint32_t index)
{
    const struct sought *sought = data;
    const struct elf_export *export = &sought->object->exports.items[index];
    return strcmp(export->name, sought->name) == 0 &&
           (sought->version == NULL || !sought->object->defines_versions ||
            (export->version != NULL && strcmp(export->version, sought->version) == 0));
}

bool elf_object_exports(const struct elf_object *object, const char *name, const char *version)
{
    const struct sought sought = {object, name, version};
    return map_find_equal(&object->exports_by_name, hash_text(name), satisfies, &sought) !=
           MAP_NONE;
}
