// See module.h.
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

Dwarf *dwarf_module_dwarf(struct dwarf_module *module)
{
    if (!module->dwarf_looked_for) {
        module->dwarf_looked_for = true;
        Elf *elf = elf_with_dwarf(module);
        if (elf != NULL)
            module->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
    }
    return module->dwarf;
}
