// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the frame description of an address in a module's .eh_frame: by the index in .eh_frame_hdr,
// or, without one, by reading them all. Reads stay inside the module.
#include "runtime/module.h"
#include "runtime/system.h"
#include "runtime/unwind.h"
#include "runtime/unwind/table.h"

// A pointer in one of the DW_EH_PE encodings; `base` serves the data-relative ones.
static uint64_t table_encoded(struct table *table, uint8_t encoding, uint64_t base)
{
    uint64_t start = (uint64_t)table->at, value;
    switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c:
        value = table_fixed(table, 8);
        break;
    case 0x02:
        value = table_fixed(table, 2);
        break;
    case 0x03:
        value = table_fixed(table, 4);
        break;
    case 0x0a:
        value = (uint64_t)(int16_t)table_fixed(table, 2);
        break;
    case 0x0b:
        value = (uint64_t)(int32_t)table_fixed(table, 4);
        break;
    default:
        table->failed = true;
        return 0;
    }
    if ((encoding & 0x70) == 0x10)
        value += start;
    else if ((encoding & 0x70) == 0x30)
        value += base;
    return value;
}

static bool has_index(const struct module *module)
{
    const unsigned char *header = module->eh_frame_header;
    return header != NULL && header[0] == 1 && header[3] == 0x3b;
}

// The description that may cover pc, by the header's sorted table.
static const unsigned char *find_in_index(const struct module *module, uint64_t pc)
{
    const unsigned char *header = module->eh_frame_header;
    struct table table = {header + 4, (const unsigned char *)module->high, false};
    table_encoded(&table, header[1], (uint64_t)header);
    uint64_t count = table_encoded(&table, header[2], (uint64_t)header);
    if (table.failed || count == 0 || (uint64_t)(table.end - table.at) / 8 < count)
        return NULL;
    const int32_t *entries = (const int32_t *)table.at;
    uint64_t low = 0, high = count;
    while (high - low > 1) {
        uint64_t middle = (low + high) / 2;
        if ((uint64_t)(header + entries[2 * middle]) <= pc)
            low = middle;
        else
            high = middle;
    }
    const unsigned char *description = header + entries[2 * low + 1];
    return description >= (const unsigned char *)module->low && description < table.end - 8
               ? description
               : NULL;
}

static bool read_common(const struct module *module, const unsigned char *common,
                        struct description *out, uint8_t *ret_encoding, bool *ret_augmented)
{
    struct table table = {common, (const unsigned char *)module->high, false};
    if (common < (const unsigned char *)module->low)
        return false;
    uint64_t length = table_fixed(&table, 4);
    if (length == 0xffffffff || (uint64_t)(table.end - table.at) < length)
        return false;
    table.end = table.at + length;
    table_fixed(&table, 4);
    uint64_t version = table_fixed(&table, 1);
    const char *augmentation = (const char *)table.at;
    while (table_fixed(&table, 1) != 0 && !table.failed)
        ;
    out->code_align = table_uleb(&table);
    out->data_align = table_sleb(&table);
    if (version == 1)
        table_fixed(&table, 1);
    else
        table_uleb(&table);
    *ret_encoding = 0;
    *ret_augmented = augmentation[0] == 'z';
    if (*ret_augmented) {
        uint64_t size = table_uleb(&table);
        struct table data = table;
        for (const char *c = augmentation + 1; *c != '\0' && !data.failed; c++) {
            if (*c == 'R')
                *ret_encoding = (uint8_t)table_fixed(&data, 1);
            else if (*c == 'L')
                table_fixed(&data, 1);
            else if (*c == 'P')
                table_encoded(&data, (uint8_t)table_fixed(&data, 1), 0);
            else if (*c == 'S')
                out->signal = true;
        }
        table_skip(&table, size);
    }
    out->initial = table;
    return !table.failed;
}

static bool read_description(const struct module *module, const unsigned char *entry, uint64_t pc,
                             struct description *out)
{
    uint8_t encoding;
    bool augmented;
    struct table table = {entry, (const unsigned char *)module->high, false};
    uint64_t length = table_fixed(&table, 4);
    if (length == 0xffffffff || length < 8 || (uint64_t)(table.end - table.at) < length)
        return false;
    table.end = table.at + length;
    const unsigned char *common = table.at;
    uint64_t back = table_fixed(&table, 4);
    common -= back;
    *out = (struct description){.signal = false};
    if (back == 0 || !read_common(module, common, out, &encoding, &augmented))
        return false;
    out->start = table_encoded(&table, encoding, 0);
    out->size = table_encoded(&table, encoding & 0x0f, 0);
    if (augmented)
        table_skip(&table, table_uleb(&table));
    out->rules = table;
    out->pc = pc;
    return !table.failed && pc - out->start < out->size;
}

// The descriptions of a module without an index; NULL if there are none. A header tells, too. It is
// read now and not when the module is found: that would cost every process a page of each module.
static const unsigned char *all_of(const struct module *module)
{
    const unsigned char *header = module->eh_frame_header;
    if (header == NULL || header[0] != 1)
        return module->eh_frame;
    struct table table = {header + 4, (const unsigned char *)module->high, false};
    uint64_t place = table_encoded(&table, header[1], (uint64_t)header);
    return !table.failed && place >= module->low && place < module->high
               ? (const unsigned char *)place
               : NULL;
}

// Without an index every description is read until one covers pc. The row that is made of it is
// cached, so this happens once for each address.
static bool find_in_all(const struct module *module, uint64_t pc, struct description *out)
{
    struct table table = {all_of(module), (const unsigned char *)module->high, false};
    while (table.at != NULL && !table.failed) {
        const unsigned char *entry = table.at;
        uint64_t length = table_fixed(&table, 4);
        if (length == 0 || length == 0xffffffff)
            return false;
        table_skip(&table, length);
        if (!table.failed && read_description(module, entry, pc, out))
            return true;
    }
    return false;
}

bool description_find(const struct module *module, uint64_t pc, struct description *ret_description)
{
    if (!has_index(module))
        return find_in_all(module, pc, ret_description);
    const unsigned char *entry = find_in_index(module, pc);
    return entry != NULL && read_description(module, entry, pc, ret_description);
}

// Where .eh_frame is, by the section headers of the module's file. *ret_place is untouched if there
// is none.
static void find_section(const struct module *module, const unsigned char *file, uint64_t size,
                         const unsigned char **ret_place)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)file;
    uint64_t headers_size = module->header_count * sizeof(Elf64_Phdr);
    if (size < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff % 8 != 0 ||
        header->e_shoff > size || (size - header->e_shoff) / sizeof(Elf64_Shdr) < header->e_shnum ||
        header->e_shstrndx >= header->e_shnum)
        return;
    // Another file may have its name by now.
    if (header->e_phnum != module->header_count || header->e_phoff > size ||
        size - header->e_phoff < headers_size ||
        memcmp(file + header->e_phoff, module->headers, headers_size) != 0)
        return;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(file + header->e_shoff),
                     *names = &sections[header->e_shstrndx];
    static const char name[] = ".eh_frame";
    if (names->sh_offset > size || size - names->sh_offset < names->sh_size)
        return;
    for (uint32_t i = 0; i < header->e_shnum; i++) {
        const Elf64_Shdr *section = &sections[i];
        uint64_t address = module->bias + section->sh_addr;
        if ((section->sh_flags & SHF_ALLOC) != 0 && section->sh_name < names->sh_size &&
            names->sh_size - section->sh_name >= sizeof name &&
            memcmp(file + names->sh_offset + section->sh_name, name, sizeof name) == 0 &&
            address >= module->low && address < module->high)
            *ret_place = (const unsigned char *)address;
    }
}

void unwind_find_table(struct module *module)
{
    uint64_t size;
    if (module->eh_frame_header != NULL)
        return;
    const unsigned char *file = system_map_file(module_path(module), &size);
    if (file == NULL)
        return;
    find_section(module, file, size, &module->eh_frame);
    SYSTEM_2(__NR_munmap, file, size);
}
