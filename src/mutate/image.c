// SPDX-License-Identifier: GPL-3.0-or-later
// Opens an image: its ELF headers and the three sections that the pass wrote. All of it is foreign
// bytes, so it is read through cursors, and every number is checked before it is used.
#include "mutate/image.h"

#include "base/cleanup.h"
#include "base/cursor.h"
#include "mutate/image-map.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_FILE ((size_t)4 << 30)

struct error *image_broken(const struct image *image, const char *section, size_t offset,
                           const char *what)
{
    return error_new("%s: %s in section %s at byte %zu", image->path, what, section, offset);
}

// ---- ELF ----

static struct error *read_segments(struct image *image, const Elf64_Ehdr *header)
{
    struct cursor cursor = {(unsigned char *)image->bytes.data, image->bytes.size, 0, false};
    cursor_bytes(&cursor, header->e_phoff);
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr row;
        cursor_copy(&cursor, &row, sizeof row);
        if (cursor.failed)
            return error_new("%s: the table of segments is cut off", image->path);
        if (row.p_type != PT_LOAD)
            continue;
        if (row.p_offset > image->bytes.size || row.p_filesz > image->bytes.size - row.p_offset)
            return error_new("%s: segment %u is cut off", image->path, i);
        struct image_segment *segment = ARRAY_ADD(&image->segments);
        if (segment == NULL)
            return error_no_memory();
        *segment = (struct image_segment){row.p_vaddr, row.p_offset, row.p_filesz, row.p_paddr,
                                          (row.p_flags & PF_X) != 0};
    }
    return NULL;
}

struct sections {
    struct cursor map, mark, twin;
    uint64_t twin_address;
};

static bool read_row(const struct image *image, const Elf64_Ehdr *header, unsigned index,
                     Elf64_Shdr *ret_row)
{
    struct cursor cursor = {(unsigned char *)image->bytes.data, image->bytes.size, 0, false};
    cursor_bytes(&cursor, header->e_shoff);
    cursor_bytes(&cursor, (size_t)index * sizeof *ret_row);
    cursor_copy(&cursor, ret_row, sizeof *ret_row);
    return !cursor.failed;
}

static struct error *take_section(const struct image *image, const Elf64_Shdr *row,
                                  const char *name, struct cursor *ret_bytes)
{
    if (row->sh_type == SHT_NOBITS || row->sh_offset > image->bytes.size ||
        row->sh_size > image->bytes.size - row->sh_offset)
        return error_new("%s: section %s is cut off", image->path, name);
    if ((row->sh_flags & SHF_COMPRESSED) != 0)
        return error_new("%s: section %s is compressed", image->path, name);
    *ret_bytes = (struct cursor){(unsigned char *)image->bytes.data + row->sh_offset, row->sh_size,
                                 0, false};
    return NULL;
}

// The last one of that name; *ret_address stays as it is if there is none.
static struct error *find_section(const struct image *image, const Elf64_Ehdr *header,
                                  const char *name, struct cursor *ret_bytes, uint64_t *ret_address)
{
    Elf64_Shdr row, names;
    if (header->e_shnum == 0)
        return NULL;
    if (!read_row(image, header, header->e_shstrndx, &names) ||
        names.sh_offset > image->bytes.size || names.sh_size > image->bytes.size - names.sh_offset)
        return error_new("%s: the table of sections is cut off", image->path);
    const char *texts = image->bytes.data + names.sh_offset;
    for (unsigned i = 0; i < header->e_shnum; i++) {
        if (!read_row(image, header, i, &row))
            return error_new("%s: the table of sections is cut off", image->path);
        if (row.sh_name >= names.sh_size ||
            memchr(texts + row.sh_name, '\0', names.sh_size - row.sh_name) == NULL)
            return error_new("%s: section %u has no name", image->path, i);
        if (strcmp(texts + row.sh_name, name) != 0)
            continue;
        TRY(take_section(image, &row, name, ret_bytes));
        *ret_address = row.sh_addr;
    }
    return NULL;
}

static struct error *read_header(const struct image *image, Elf64_Ehdr *ret_header)
{
    struct cursor cursor = {(unsigned char *)image->bytes.data, image->bytes.size, 0, false};
    cursor_copy(&cursor, ret_header, sizeof *ret_header);
    if (cursor.failed || memcmp(ret_header->e_ident, ELFMAG, SELFMAG) != 0)
        return error_new("%s is not an ELF file", image->path);
    if (ret_header->e_ident[EI_CLASS] != ELFCLASS64 || ret_header->e_machine != EM_X86_64)
        return error_new("%s is not for x86-64", image->path);
    if (ret_header->e_type != ET_EXEC && ret_header->e_type != ET_DYN)
        return error_new("%s is not linked yet; faults are listed and enabled in programs and "
                         "shared libraries",
                         image->path);
    if (ret_header->e_phentsize != sizeof(Elf64_Phdr) ||
        (ret_header->e_shnum != 0 && ret_header->e_shentsize != sizeof(Elf64_Shdr)))
        return error_new("%s has tables of an unknown layout", image->path);
    return NULL;
}

// ---- entries ----

// Skips endbr64, which comes first where indirect jumps are guarded.
static uint64_t skip_guard(const struct image *image, uint64_t address)
{
    static const unsigned char guard[] = {0xf3, 0x0f, 0x1e, 0xfa};
    const unsigned char *code = image_code(image, address, sizeof guard);
    return code != NULL && memcmp(code, guard, sizeof guard) == 0 ? address + sizeof guard
                                                                  : address;
}

// Whether an entry has a prefix: it names the function, and its jump leads to the twin.
static bool has_prefix(const struct image *image, uint64_t place, uint64_t twin, uint64_t function)
{
    struct entry_prefix prefix;
    const unsigned char *code = image_code(image, place - sizeof prefix, sizeof prefix);
    if (code == NULL)
        return false;
    memcpy(&prefix, code, sizeof prefix);
    return prefix.function == function && prefix.jump == JUMP &&
           place + (uint64_t)(int64_t)prefix.distance == twin;
}

// The five bytes end with the two that become a short jump; those before them do not change.
static struct image_entry with_prefix(const struct image *image, uint64_t place, uint64_t begin)
{
    struct image_entry entry = {
        .address = begin + 2 - MARK_NOP_SIZE,
        .begin = begin,
        .first = place - sizeof(struct entry_prefix) + offsetof(struct entry_prefix, first),
    };
    const unsigned char *code = image_code(image, entry.address, MARK_NOP_SIZE);
    if (code == NULL)
        return entry;
    unsigned char *last = entry.leads + MARK_NOP_SIZE - 2;
    memcpy(entry.leads, code, MARK_NOP_SIZE);
    memcpy(entry.idle, code, MARK_NOP_SIZE);
    last[0] = SHORT_JUMP;
    last[1] = (unsigned char)(place - MARK_NOP_SIZE - (begin + 2));
    if (memcmp(code, entry.leads, MARK_NOP_SIZE) == 0)
        memcpy(entry.idle + MARK_NOP_SIZE - 2, image_code(image, entry.first, 2), 2);
    return entry;
}

static struct image_entry with_nop(uint64_t place, uint64_t begin, uint64_t twin)
{
    struct image_entry entry = {.address = begin,
                                .begin = begin,
                                .idle = {ENTRY_NOP, (unsigned char)(twin - place)},
                                .leads = {JUMP}};
    int32_t distance = (int32_t)(twin - begin - MARK_NOP_SIZE);
    memcpy(entry.leads + 1, &distance, sizeof distance);
    return entry;
}

static struct error *read_twins(struct image *image, struct sections *sections)
{
    struct cursor *cursor = &sections->twin;
    while (cursor->at < cursor->size) {
        uint64_t place = sections->twin_address + cursor->at;
        size_t at = cursor->at;
        struct twin_row row;
        cursor_copy(cursor, &row, sizeof row);
        if (cursor->failed)
            return image_broken(image, TWIN_SECTION, at, "a row is cut off");
        uint64_t entry = place + (uint64_t)(int64_t)row.entry;
        if (row.function == 0) {
            image->variable = entry;
            continue;
        }
        size_t function = image_function_by_id(image, row.function);
        if (function == SIZE_MAX)
            return image_broken(image, TWIN_SECTION, at, "a row of an unknown function");
        struct image_entry *added = ARRAY_ADD(&image->entries);
        if (added == NULL)
            return error_no_memory();
        uint64_t twin = place + 4 + (uint64_t)(int64_t)row.twin, begin = skip_guard(image, entry);
        *added = has_prefix(image, entry, twin, row.function) ? with_prefix(image, entry, begin)
                                                              : with_nop(entry, begin, twin);
        added->twin = twin;
        added->function = function;
        if (image_code(image, added->address, MARK_NOP_SIZE) == NULL ||
            image_code(image, added->twin, 1) == NULL)
            return image_broken(image, TWIN_SECTION, at, "a row that leads out of the code");
    }
    return NULL;
}

// ---- the whole ----

static struct error *parse(struct image *image)
{
    Elf64_Ehdr header;
    struct sections sections = {0};
    TRY(read_header(image, &header));
    TRY(read_segments(image, &header));
    TRY(image_take_note(image));
    uint64_t unused;
    TRY(find_section(image, &header, MAP_SECTION, &sections.map, &unused));
    TRY(find_section(image, &header, MARK_SECTION, &sections.mark, &unused));
    TRY(find_section(image, &header, TWIN_SECTION, &sections.twin, &sections.twin_address));
    TRY(image_read_map(image, &sections.map));
    TRY(image_read_marks(image, &sections.mark));
    return read_twins(image, &sections);
}

struct error *image_section(const struct image *image, const char *name, struct cursor *ret_bytes)
{
    Elf64_Ehdr header;
    uint64_t address;
    TRY(read_header(image, &header));
    return find_section(image, &header, name, ret_bytes, &address);
}

struct error *image_parse(const char *path, struct buffer *bytes, struct image *ret_image)
{
    struct image image = {.path = strdup(path), .bytes = *bytes};
    *bytes = (struct buffer){0};
    struct error *error = image.path != NULL ? parse(&image) : error_no_memory();
    if (error != NULL)
        image_close(&image);
    else
        *ret_image = image;
    return error;
}

struct error *image_open(const char *path, struct image *ret_image)
{
    struct buffer bytes = {0};
    TRY(buffer_read_regular(path, LARGEST_FILE, &bytes));
    return image_parse(path, &bytes, ret_image);
}

void image_close(struct image *image)
{
    free(image->path);
    buffer_deinit(&image->bytes);
    for (size_t i = 0; i < image->maps.count; i++)
        free(image->maps.items[i]);
    ARRAY_DEINIT(&image->maps);
    ARRAY_DEINIT(&image->segments);
    ARRAY_DEINIT(&image->functions);
    ARRAY_DEINIT(&image->candidates);
    ARRAY_DEINIT(&image->left_out);
    ARRAY_DEINIT(&image->edges);
    ARRAY_DEINIT(&image->markers);
    ARRAY_DEINIT(&image->targets);
    ARRAY_DEINIT(&image->entries);
    free(image->by_id);
    image_patches_deinit(&image->changes);
    image_patches_deinit(&image->noted);
    arena_deinit(&image->texts);
    *image = (struct image){0};
}

unsigned char *image_code(const struct image *image, uint64_t address, size_t size)
{
    for (size_t i = 0; i < image->segments.count; i++) {
        const struct image_segment *segment = &image->segments.items[i];
        if (segment->code && address >= segment->address &&
            address - segment->address <= segment->file_size &&
            size <= segment->file_size - (address - segment->address))
            return (unsigned char *)image->bytes.data + segment->offset +
                   (address - segment->address);
    }
    return NULL;
}
