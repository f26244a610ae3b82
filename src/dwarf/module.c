// SPDX-License-Identifier: GPL-3.0-or-later
// Opens a module file, its symbols and its DWARF, each when it is first needed.
#include "dwarf/module.h"

#include "base/cleanup.h"
#include "dwarf/debug-file.h"

#include <gelf.h>
#include <string.h>

struct dwarf_module {
    struct elf_object *object;
    struct elf_symbols symbols;
    bool symbols_loaded;
    bool debug_looked_for, dwarf_looked_for;
    struct dwarf_debug_file debug;
    Dwarf *dwarf;
    ARRAY(char *) copies; // of sections, see end_strings()
};

struct error *dwarf_module_open(const char *path, struct dwarf_module **ret_module)
{
    struct dwarf_module *module = calloc(1, sizeof *module);
    if (module == NULL)
        return error_no_memory();
    module->debug.file = -1;
    struct error *error = elf_object_open_bare(path, &module->object);
    if (error != NULL) {
        dwarf_module_close(module);
        return error;
    }
    *ret_module = module;
    return NULL;
}

void dwarf_module_close(struct dwarf_module *module)
{
    if (module == NULL)
        return;
    if (module->dwarf != NULL)
        dwarf_end(module->dwarf);
    elf_symbols_deinit(&module->symbols);
    dwarf_debug_file_close(&module->debug);
    elf_object_close(module->object);
    for (size_t i = 0; i < module->copies.count; i++)
        free(module->copies.items[i]);
    ARRAY_DEINIT(&module->copies);
    free(module);
}

const struct elf_object *dwarf_module_object(const struct dwarf_module *module)
{
    return module->object;
}

static Elf *debug_file(struct dwarf_module *module)
{
    if (!module->debug_looked_for) {
        module->debug_looked_for = true;
        module->debug = dwarf_debug_file_find(module->object);
    }
    return module->debug.elf;
}

static bool has_symbol_table(Elf *elf)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) != NULL && header.sh_type == SHT_SYMTAB)
            return true;
    }
    return false;
}

struct error *dwarf_module_symbols(struct dwarf_module *module,
                                   const struct elf_symbols **ret_symbols)
{
    if (!module->symbols_loaded) {
        Elf *own = elf_object_handle(module->object);
        Elf *debug = has_symbol_table(own) ? NULL : debug_file(module);
        TRY(elf_symbols_load(module->object, debug, &module->symbols));
        module->symbols_loaded = true;
    }
    *ret_symbols = &module->symbols;
    return NULL;
}

static Elf *elf_with_dwarf(struct dwarf_module *module)
{
    if (elf_object_facts(module->object)->has_debug_info)
        return elf_object_handle(module->object);
    return debug_file(module);
}

static bool holds_strings(const char *section)
{
    return strcmp(section, ".debug_str") == 0 || strcmp(section, ".debug_line_str") == 0 ||
           strcmp(section, ".debug_info") == 0 || strcmp(section, ".debug_types") == 0;
}

static bool end_section(struct dwarf_module *module, Elf_Data *data)
{
    const char *bytes = data->d_buf;
    if (bytes == NULL || data->d_size == 0 || bytes[data->d_size - 1] == '\0')
        return true;
    char **copy = ARRAY_ADD(&module->copies);
    if (copy == NULL || (*copy = malloc(data->d_size + 1)) == NULL)
        return false;
    memcpy(*copy, bytes, data->d_size);
    (*copy)[data->d_size] = '\0';
    data->d_buf = *copy;
    return true;
}

// libdw returns strings of .debug_info without looking for their end. Nearly always the last byte
// of the section is zero. If it is not, the section is replaced by a copy with a zero at the end.
static bool end_strings(struct dwarf_module *module)
{
    Elf *elf = dwarf_getelf(module->dwarf);
    Elf_Scn *section = NULL;
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return false;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        const char *name = NULL;
        if (gelf_getshdr(section, &header) != NULL)
            name = elf_strptr(elf, names, header.sh_name);
        if (name == NULL || !holds_strings(name))
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        if (data != NULL && !end_section(module, data))
            return false;
    }
    return true;
}

// libdw takes a section that it cannot read for one that is not there. So all are read before.
static void read_sections(struct dwarf_module *module, Elf *elf)
{
    Elf_Scn *section = NULL;
    size_t names;
    if (elf == NULL || elf_getshdrstrndx(elf, &names) != 0)
        return;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        const char *name = NULL;
        if (gelf_getshdr(section, &header) != NULL)
            name = elf_strptr(elf, names, header.sh_name);
        if (name != NULL && strncmp(name, ".debug_", 7) == 0)
            elf_object_section(module->object, elf, section);
    }
}

static void open_dwarf(struct dwarf_module *module)
{
    Elf *elf = elf_with_dwarf(module);
    read_sections(module, elf);
    module->dwarf = elf != NULL ? dwarf_begin_elf(elf, DWARF_C_READ, NULL) : NULL;
    if (module->dwarf != NULL && !end_strings(module)) {
        dwarf_end(module->dwarf);
        module->dwarf = NULL;
    }
}

Dwarf *dwarf_module_dwarf(struct dwarf_module *module)
{
    if (!module->dwarf_looked_for) {
        module->dwarf_looked_for = true;
        open_dwarf(module);
    }
    return module->dwarf;
}

bool dwarf_module_has_dwarf(struct dwarf_module *module)
{
    return elf_with_dwarf(module) != NULL;
}

// Decompresses the section if need be, as libdw would.
static bool section_mentions(Elf_Scn *section, const GElf_Shdr *header, const char *text)
{
    if ((header->sh_flags & SHF_COMPRESSED) != 0 && elf_compress(section, 0, 0) < 0)
        return true;
    Elf_Data *data = elf_getdata(section, NULL);
    return data != NULL && data->d_buf != NULL &&
           memmem(data->d_buf, data->d_size, text, strlen(text) + 1) != NULL;
}

// Only the shortest names are in .debug_info. It is the largest section, and decompressing it for
// longer names would cost more than it saves.
static bool may_hold(const char *section, bool compressed, enum dwarf_text kind, const char *text)
{
    if (kind == DWARF_TEXT_FILE)
        return strcmp(section, ".debug_line_str") == 0 || strcmp(section, ".debug_line") == 0;
    return strcmp(section, ".debug_str") == 0 ||
           (strcmp(section, ".debug_info") == 0 && (!compressed || strlen(text) < 4));
}

bool dwarf_module_mentions(struct dwarf_module *module, enum dwarf_text kind, const char *text)
{
    Elf *elf = elf_with_dwarf(module);
    size_t names;
    if (elf == NULL || elf_getshdrstrndx(elf, &names) != 0)
        return false;
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        const char *name = NULL;
        if (gelf_getshdr(section, &header) != NULL)
            name = elf_strptr(elf, names, header.sh_name);
        if (name == NULL)
            continue;
        // The strings are in another file, so the answer is unknown.
        if (strcmp(name, ".gnu_debugaltlink") == 0 || strncmp(name, ".zdebug_", 8) == 0 ||
            strcmp(name, ".debug_addr") == 0)
            return true;
        if (may_hold(name, (header.sh_flags & SHF_COMPRESSED) != 0, kind, text) &&
            section_mentions(section, &header, text))
            return true;
    }
    return false;
}
