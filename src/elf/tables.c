// SPDX-License-Identifier: GPL-3.0-or-later
// Iterates over dynamic symbols and relocations, and gives access to bytes by address. No count or
// offset of the file is trusted.
#include "elf/tables.h"

#include "base/cleanup.h"
#include "elf/internal.h"

#include <string.h>

#define VERSION_HIDDEN 0x8000

struct table {
    const struct elf_object *object;
    Elf_Data *symbols, *versym;
    int count;
};

static bool table_open(const struct elf_object *object, struct table *ret_table)
{
    *ret_table = (struct table){.object = object};
    ret_table->symbols = elf_object_dynamic_symbols(object, &ret_table->count);
    if (ret_table->symbols == NULL)
        return false;
    if (object->dynamic.versym != 0 && object->versions.count != 0)
        ret_table->versym = elf_object_data(object, object->dynamic.versym,
                                            (uint64_t)ret_table->count * 2, ELF_T_BYTE);
    return true;
}

static void set_version(const struct table *table, int index, struct elf_dynamic_symbol *symbol)
{
    uint16_t version;
    if (table->versym == NULL || (size_t)index * 2 + 2 > table->versym->d_size)
        return;
    memcpy(&version, (const char *)table->versym->d_buf + (size_t)index * 2, sizeof version);
    symbol->hidden_version = (version & VERSION_HIDDEN) != 0;
    version &= (uint16_t)~VERSION_HIDDEN;
    if (version >= 2 && version < table->object->versions.count)
        symbol->version = table->object->versions.items[version];
}

static bool table_read(const struct table *table, int index, struct elf_dynamic_symbol *ret_symbol)
{
    GElf_Sym symbol;
    if (index <= 0 || index >= table->count || gelf_getsym(table->symbols, index, &symbol) == NULL)
        return false;
    const char *name = elf_object_string(table->object, symbol.st_name);
    if (name == NULL || *name == '\0')
        return false;
    *ret_symbol = (struct elf_dynamic_symbol){.name = name,
                                              .value = symbol.st_value,
                                              .size = symbol.st_size,
                                              .type = GELF_ST_TYPE(symbol.st_info),
                                              .local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL,
                                              .defined = symbol.st_shndx != SHN_UNDEF};
    set_version(table, index, ret_symbol);
    return true;
}

struct error *elf_each_dynamic_symbol(const struct elf_object *object,
                                      struct error *(*found)(void *data,
                                                             const struct elf_dynamic_symbol *),
                                      void *data)
{
    struct table table;
    bool opened = table_open(object, &table);
    TRY(elf_object_check(object));
    if (!opened)
        return NULL;
    for (int i = 1; i < table.count; i++) {
        struct elf_dynamic_symbol symbol;
        if (table_read(&table, i, &symbol))
            TRY(found(data, &symbol));
    }
    return NULL;
}

static struct error *each_of(const struct table *table, uint64_t address, uint64_t size,
                             struct error *(*found)(void *data, const struct elf_relocation *),
                             void *data)
{
    Elf_Data *relocations = address != 0 && size != 0
                                ? elf_object_data(table->object, address, size, ELF_T_RELA)
                                : NULL;
    if (relocations == NULL)
        return elf_object_check(table->object);
    GElf_Rela entry;
    for (int i = 0; gelf_getrela(relocations, i, &entry) != NULL; i++) {
        struct elf_relocation relocation = {.address = entry.r_offset,
                                            .type = (uint32_t)GELF_R_TYPE(entry.r_info),
                                            .addend = entry.r_addend};
        uint64_t symbol = GELF_R_SYM(entry.r_info);
        if (symbol < INT32_MAX)
            table_read(table, (int)symbol, &relocation.symbol);
        TRY(found(data, &relocation));
    }
    return NULL;
}

struct error *elf_each_relocation(const struct elf_object *object,
                                  struct error *(*found)(void *data, const struct elf_relocation *),
                                  void *data)
{
    struct table table;
    table_open(object, &table); // there may be relocations without symbols
    const struct elf_dynamic *dynamic = &object->dynamic;
    TRY(each_of(&table, dynamic->rela, dynamic->rela_size, found, data));
    if (dynamic->plt_kind != DT_REL)
        TRY(each_of(&table, dynamic->plt, dynamic->plt_size, found, data));
    return NULL;
}

static const unsigned char *segment_bytes(const struct elf_object *object, uint64_t address,
                                          bool constant, size_t *ret_size)
{
    for (size_t i = 0; i < object->segments.count; i++) {
        const GElf_Phdr *segment = &object->segments.items[i];
        if (segment->p_type != PT_LOAD || address < segment->p_vaddr ||
            address - segment->p_vaddr >= segment->p_filesz)
            continue;
        if (constant && (segment->p_flags & PF_W) != 0)
            return NULL;
        const unsigned char *bytes = elf_object_segment(object, i);
        if (bytes == NULL)
            return NULL;
        *ret_size = segment->p_filesz - (address - segment->p_vaddr);
        return bytes + (address - segment->p_vaddr);
    }
    return NULL;
}

const unsigned char *elf_object_bytes(const struct elf_object *object, uint64_t address,
                                      size_t *ret_size)
{
    return segment_bytes(object, address, false, ret_size);
}

const unsigned char *elf_object_constant(const struct elf_object *object, uint64_t address,
                                         size_t *ret_size)
{
    return segment_bytes(object, address, true, ret_size);
}
