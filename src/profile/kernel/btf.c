// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the types in section .BTF. The section is foreign bytes: every number in it is checked
// where it is used.
#include "profile/kernel/btf.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/map.h"
#include "elf/symbols.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DEPTH 16 // nested structures
#define MAGIC      0xeb9f
#define MOST_STEPS 32    // typedefs and qualifiers of a type
#define MOST_LOOKS 20000 // members looked at for one offset

enum kind { // of types, as the format numbers them
    KIND_INT = 1,
    KIND_POINTER,
    KIND_ARRAY,
    KIND_STRUCTURE,
    KIND_UNION,
    KIND_ENUM,
    KIND_FORWARD,
    KIND_TYPEDEF,
    KIND_VOLATILE,
    KIND_CONST,
    KIND_RESTRICT,
    KIND_FUNCTION,
    KIND_PROTOTYPE,
    KIND_VARIABLE,
    KIND_SECTION,
    KIND_FLOAT,
    KIND_DECLARATION_TAG,
    KIND_TYPE_TAG,
    KIND_ENUM64,
};

struct header {
    uint16_t magic;
    uint8_t version, flags;
    uint32_t size, types, types_size, strings, strings_size;
};

struct record {
    uint32_t name, info, size_or_type;
};

struct member {
    uint32_t name, type,
        place; // in bits; upper byte is the width of a bit field in some structures
};

struct btf {
    const unsigned char *types;
    uint32_t types_size;
    const char *strings;
    uint32_t strings_size;
    ARRAY(uint32_t) places; // by type - 1: where its record begins
    struct map names;       // structures and functions, by the name's hash
};

void btf_close(struct btf *btf)
{
    if (btf == NULL)
        return;
    ARRAY_DEINIT(&btf->places);
    map_deinit(&btf->names);
    free(btf);
}

static const unsigned char *section(const struct elf_object *object, size_t *ret_size)
{
    Elf *elf = elf_object_handle(object);
    size_t names;
    Elf_Scn *found = NULL;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    while ((found = elf_nextscn(elf, found)) != NULL) {
        GElf_Shdr header;
        const char *name =
            gelf_getshdr(found, &header) != NULL ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (name == NULL || strcmp(name, ".BTF") != 0)
            continue;
        Elf_Data *data = elf_rawdata(found, NULL);
        if (data == NULL || data->d_buf == NULL)
            return NULL;
        *ret_size = data->d_size;
        return data->d_buf;
    }
    return NULL;
}

static unsigned kind_of(const struct record *record)
{
    return record->info >> 24 & 0x1f;
}

static uint32_t count_of(const struct record *record)
{
    return record->info & 0xffff;
}

// The size of the data behind a record; UINT64_MAX if its kind is unknown.
static uint64_t rest_size(const struct record *record)
{
    uint64_t count = count_of(record);
    switch (kind_of(record)) {
    case KIND_INT:
    case KIND_VARIABLE:
    case KIND_DECLARATION_TAG:
        return 4;
    case KIND_ARRAY:
        return 12;
    case KIND_STRUCTURE:
    case KIND_UNION:
    case KIND_SECTION:
    case KIND_ENUM64:
        return count * 12;
    case KIND_ENUM:
    case KIND_PROTOTYPE:
        return count * 8;
    case KIND_POINTER:
    case KIND_FORWARD:
    case KIND_TYPEDEF:
    case KIND_VOLATILE:
    case KIND_CONST:
    case KIND_RESTRICT:
    case KIND_FUNCTION:
    case KIND_FLOAT:
    case KIND_TYPE_TAG:
        return 0;
    default:
        return UINT64_MAX;
    }
}

static struct error *read_places(struct btf *btf)
{
    for (uint64_t at = 0; at + sizeof(struct record) <= btf->types_size;) {
        struct record record;
        memcpy(&record, btf->types + at, sizeof record);
        uint64_t rest = rest_size(&record);
        if (rest > btf->types_size - at - sizeof record)
            return NULL;
        uint32_t *place = ARRAY_ADD(&btf->places);
        if (place == NULL)
            return error_no_memory();
        *place = (uint32_t)at;
        at += sizeof record + rest;
    }
    return NULL;
}

// The record of a type, all zero if there is none. The data behind it is within the section.
static struct record record_of(const struct btf *btf, uint32_t type)
{
    struct record record = {0};
    if (type != 0 && type <= btf->places.count)
        memcpy(&record, btf->types + btf->places.items[type - 1], sizeof record);
    return record;
}

static const unsigned char *rest_of(const struct btf *btf, uint32_t type)
{
    return btf->types + btf->places.items[type - 1] + sizeof(struct record);
}

static const char *string_at(const struct btf *btf, uint32_t offset)
{
    if (offset >= btf->strings_size ||
        memchr(btf->strings + offset, '\0', btf->strings_size - offset) == NULL)
        return "";
    return btf->strings + offset;
}

static bool has_name(unsigned kind)
{
    return kind == KIND_STRUCTURE || kind == KIND_UNION || kind == KIND_FUNCTION;
}

static struct error *index_names(struct btf *btf)
{
    for (uint32_t type = 1; type <= btf->places.count; type++) {
        struct record record = record_of(btf, type);
        const char *name = string_at(btf, record.name);
        if (has_name(kind_of(&record)) && *name != '\0')
            TRY(map_put(&btf->names, hash_text(name), type));
    }
    return NULL;
}

static void btf_closep(struct btf **btf)
{
    btf_close(*btf);
}

struct error *btf_open(const struct elf_object *object, struct btf **ret_btf)
{
    size_t size = 0;
    const unsigned char *bytes = section(object, &size);
    struct header header;
    *ret_btf = NULL;
    if (bytes == NULL || size < sizeof header || size > UINT32_MAX)
        return NULL;
    memcpy(&header, bytes, sizeof header);
    if (header.magic != MAGIC || header.size > size || header.types > size - header.size ||
        header.types_size > size - header.size - header.types ||
        header.strings > size - header.size ||
        header.strings_size > size - header.size - header.strings)
        return NULL;
    _cleanup_(btf_closep) struct btf *btf = calloc(1, sizeof *btf);
    if (btf == NULL)
        return error_no_memory();
    btf->types = bytes + header.size + header.types;
    btf->types_size = header.types_size;
    btf->strings = (const char *)bytes + header.size + header.strings;
    btf->strings_size = header.strings_size;
    TRY(read_places(btf));
    TRY(index_names(btf));
    *ret_btf = TAKE(btf);
    return NULL;
}

struct sought {
    const struct btf *btf;
    const char *name;
    size_t size;
    bool function;
};

static bool is_sought(const void *data, uint32_t type)
{
    const struct sought *sought = data;
    struct record record = record_of(sought->btf, type);
    const char *found = string_at(sought->btf, record.name);
    return (kind_of(&record) == KIND_FUNCTION) == sought->function &&
           strlen(found) == sought->size && memcmp(found, sought->name, sought->size) == 0;
}

static uint32_t find(const struct btf *btf, const char *name, size_t size, bool function)
{
    const struct sought sought = {btf, name, size, function};
    uint32_t type = map_find_equal(&btf->names, hash_bytes(name, size), is_sought, &sought);
    return type != MAP_NONE ? type : 0;
}

uint32_t btf_structure(const struct btf *btf, const char *name)
{
    return find(btf, name, strlen(name), false);
}

// Strips typedefs and qualifiers.
static uint32_t plain(const struct btf *btf, uint32_t type)
{
    for (int steps = 0; steps < MOST_STEPS; steps++) {
        struct record record = record_of(btf, type);
        switch (kind_of(&record)) {
        case KIND_TYPEDEF:
        case KIND_VOLATILE:
        case KIND_CONST:
        case KIND_RESTRICT:
        case KIND_TYPE_TAG:
            type = record.size_or_type;
            break;
        default:
            return type;
        }
    }
    return 0;
}

static bool is_structure(const struct btf *btf, uint32_t type)
{
    struct record record = record_of(btf, type);
    return kind_of(&record) == KIND_STRUCTURE || kind_of(&record) == KIND_UNION;
}

static uint32_t pointed(const struct btf *btf, uint32_t type)
{
    struct record record = record_of(btf, plain(btf, type));
    if (kind_of(&record) != KIND_POINTER)
        return 0;
    uint32_t target = plain(btf, record.size_or_type);
    return is_structure(btf, target) ? target : 0;
}

static uint32_t prototype(const struct btf *btf, const char *function, size_t name_size)
{
    uint32_t found = find(btf, function, name_size, true);
    uint32_t type = record_of(btf, found).size_or_type;
    struct record record = record_of(btf, type);
    return found != 0 && kind_of(&record) == KIND_PROTOTYPE ? type : 0;
}

uint32_t btf_parameter(const struct btf *btf, const char *function, size_t name_size,
                       unsigned index)
{
    uint32_t type = prototype(btf, function, name_size);
    struct record record = record_of(btf, type);
    if (type == 0 || index >= count_of(&record))
        return 0;
    uint32_t parameter[2];
    memcpy(parameter, rest_of(btf, type) + index * sizeof parameter, sizeof parameter);
    return pointed(btf, parameter[1]);
}

uint32_t btf_result(const struct btf *btf, const char *function, size_t name_size)
{
    uint32_t type = prototype(btf, function, name_size);
    return type != 0 ? pointed(btf, record_of(btf, type).size_or_type) : 0;
}

// The offset of a member in bytes. False for bit fields.
static bool member_at(const struct btf *btf, uint32_t structure, uint32_t index,
                      struct member *ret_member, uint64_t *ret_place)
{
    bool fields = record_of(btf, structure).info >> 31 != 0;
    memcpy(ret_member, rest_of(btf, structure) + index * sizeof *ret_member, sizeof *ret_member);
    *ret_place = (fields ? ret_member->place & 0xffffff : ret_member->place) / 8;
    return !fields || ret_member->place >> 24 == 0;
}

uint64_t btf_offset(const struct btf *btf, uint32_t structure, const char *name)
{
    struct record record = record_of(btf, structure);
    if (!is_structure(btf, structure))
        return UINT64_MAX;
    for (uint32_t i = 0; i < count_of(&record); i++) {
        struct member member;
        uint64_t place;
        if (member_at(btf, structure, i, &member, &place) &&
            strcmp(string_at(btf, member.name), name) == 0)
            return place;
    }
    return UINT64_MAX;
}

static uint32_t look_into(const struct btf *btf, uint32_t structure, uint64_t offset,
                          unsigned depth, unsigned *looks)
{
    struct record record = record_of(btf, structure);
    for (uint32_t i = 0; i < count_of(&record) && *looks < MOST_LOOKS; i++) {
        struct member member;
        uint64_t place;
        ++*looks;
        if (!member_at(btf, structure, i, &member, &place))
            continue;
        uint32_t type = plain(btf, member.type), found = 0;
        if (place == offset)
            found = pointed(btf, type);
        if (found == 0 && place <= offset && is_structure(btf, type) &&
            offset - place < record_of(btf, type).size_or_type && depth < MOST_DEPTH)
            found = look_into(btf, type, offset - place, depth + 1, looks);
        if (found != 0)
            return found;
    }
    return 0;
}

uint32_t btf_pointer_at(const struct btf *btf, uint32_t structure, uint64_t offset)
{
    unsigned looks = 0;
    return is_structure(btf, structure) ? look_into(btf, structure, offset, 0, &looks) : 0;
}
