// SPDX-License-Identifier: GPL-3.0-or-later
// Names addresses. A module is opened at its first address, and its DWARF when an address first
// needs it. A module that cannot be read is remembered as unreadable.
#include "dwarf/symbolizer.h"

#include "base/cleanup.h"
#include "dwarf/demangle.h"
#include "dwarf/inlined.h"
#include "dwarf/lines.h"
#include "dwarf/module.h"
#include "dwarf/nameless.h"
#include "elf/go-table.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

struct inlined { // an answer, kept for the next time
    uint64_t address;
    char *name;       // or NULL
    bool asked;       // the programmer wanted it inlined
    const char *file; // of the call, if the code is of a system header; else NULL
    unsigned line;
};

struct known_module {
    char *path;
    struct dwarf_module *module;       // NULL: cannot be read
    const struct elf_symbols *symbols; // NULL: cannot be read
    char **names;                      // by code symbol, made when needed
    bool is_go;
    struct go_table go;
    bool units_loaded;
    struct dwarf_units units;
    ARRAY(struct inlined) inlined; // by address
    struct nameless_functions nameless;
};

struct dwarf_symbolizer {
    ARRAY(struct known_module *) modules;
    struct error *shortage; // the first one, or NULL
};

struct error *dwarf_symbolizer_new(struct dwarf_symbolizer **ret_symbolizer)
{
    struct dwarf_symbolizer *symbolizer = calloc(1, sizeof *symbolizer);
    if (symbolizer == NULL)
        return error_no_memory();
    *ret_symbolizer = symbolizer;
    return NULL;
}

static void known_module_free(struct known_module *known)
{
    if (known == NULL)
        return;
    for (size_t i = 0; known->names != NULL && i < known->symbols->code.count; i++)
        free(known->names[i]);
    free(known->names);
    for (size_t i = 0; i < known->inlined.count; i++)
        free(known->inlined.items[i].name);
    ARRAY_DEINIT(&known->inlined);
    nameless_functions_deinit(&known->nameless);
    dwarf_units_deinit(&known->units);
    dwarf_module_close(known->module);
    free(known->path);
    free(known);
}

void dwarf_symbolizer_free(struct dwarf_symbolizer *symbolizer)
{
    if (symbolizer == NULL)
        return;
    for (size_t i = 0; i < symbolizer->modules.count; i++)
        known_module_free(symbolizer->modules.items[i]);
    ARRAY_DEINIT(&symbolizer->modules);
    error_free(symbolizer->shortage);
    free(symbolizer);
}

static struct error *try_load(struct known_module *known)
{
    TRY(dwarf_module_open(known->path, &known->module));
    TRY(dwarf_module_symbols(known->module, &known->symbols));
    known->is_go = elf_object_go_table(dwarf_module_object(known->module), &known->go);
    size_t count = known->symbols->code.count;
    known->names = count != 0 ? calloc(count, sizeof *known->names) : NULL;
    return count == 0 || known->names != NULL ? NULL : error_no_memory();
}

// For a report, an unreadable module is one without names.
static void load_module(struct dwarf_symbolizer *symbolizer, struct known_module *known)
{
    struct error *error = try_load(known);
    if (error != NULL && symbolizer->shortage == NULL && error_is_shortage(error))
        symbolizer->shortage = error;
    else
        error_free(error);
}

// libdw says only that it found nothing.
static void note_lack_of_memory(struct dwarf_symbolizer *symbolizer)
{
    if (symbolizer->shortage == NULL)
        symbolizer->shortage = error_no_memory();
}

struct error *dwarf_symbolizer_check(const struct dwarf_symbolizer *symbolizer)
{
    if (symbolizer->shortage != NULL)
        return error_new("%s", error_message(symbolizer->shortage));
    for (size_t i = 0; i < symbolizer->modules.count; i++)
        if (symbolizer->modules.items[i]->module != NULL)
            TRY(elf_object_check(dwarf_module_object(symbolizer->modules.items[i]->module)));
    return NULL;
}

static struct known_module *add_module(struct dwarf_symbolizer *symbolizer, const char *path)
{
    struct known_module *known = calloc(1, sizeof *known);
    if (known == NULL)
        return NULL;
    known->path = strdup(path);
    struct known_module **item = known->path != NULL ? ARRAY_ADD(&symbolizer->modules) : NULL;
    if (item == NULL) {
        known_module_free(known);
        return NULL;
    }
    *item = known;
    load_module(symbolizer, known);
    return known;
}

static struct known_module *find_module(struct dwarf_symbolizer *symbolizer, const char *path)
{
    for (size_t i = 0; i < symbolizer->modules.count; i++)
        if (strcmp(symbolizer->modules.items[i]->path, path) == 0)
            return symbolizer->modules.items[i];
    return add_module(symbolizer, path);
}

static const char *symbol_name(struct known_module *known, const struct elf_symbol *symbol)
{
    if (known->names == NULL)
        return NULL;
    char **name = &known->names[symbol - known->symbols->code.items];
    if (*name == NULL) {
        *name = strndup(symbol->name, symbol->name_size);
        char *demangled = *name != NULL ? dwarf_demangle(*name, true) : NULL;
        if (demangled != NULL) {
            free(*name);
            *name = demangled;
        }
    }
    return *name;
}

static void find_symbol(struct known_module *known, uint64_t address,
                        struct dwarf_position *position)
{
    if (known->symbols == NULL)
        return;
    const struct elf_symbol *symbol = elf_symbols_find(known->symbols, address);
    if (symbol == NULL)
        return;
    position->symbol = symbol_name(known, symbol);
    position->symbol_offset = address - symbol->start;
}

static Dwarf *load_units(struct known_module *known)
{
    Dwarf *dwarf = dwarf_module_dwarf(known->module);
    if (dwarf != NULL && !known->units_loaded) {
        known->units_loaded = true;
        error_free(dwarf_units_load(dwarf, &known->units));
    }
    return dwarf;
}

static void find_line(struct known_module *known, uint64_t address, struct dwarf_position *position)
{
    Dwarf *dwarf = load_units(known);
    if (dwarf == NULL)
        return;
    Dwarf_Line *row = dwarf_units_find_line(&known->units, dwarf, address);
    int line;
    if (row == NULL || dwarf_lineno(row, &line) != 0 || line <= 0)
        return;
    position->file = dwarf_linesrc(row, NULL, NULL);
    position->line = (unsigned)line;
}

// A new string, or NULL.
static char *source_name(Dwarf_Die *die)
{
    Dwarf_Attribute storage;
    const char *mangled = dwarf_formstring(dwarf_attr_integrate(die, DW_AT_linkage_name, &storage));
    char *name = mangled != NULL ? dwarf_demangle(mangled, true) : NULL;
    if (name != NULL)
        return name;
    const char *plain = dwarf_diename(die);
    return plain != NULL ? strdup(plain) : NULL;
}

static bool is_system_header(const char *file)
{
    return file != NULL && strncmp(file, "/usr/include/", 13) == 0;
}

// The scopes that contain an address, innermost first. dwarf_getscopes() alone would continue with
// the scopes where an inlined function is defined.
static int containing(Dwarf_Die *unit, uint64_t address, Dwarf_Die **ret_scopes)
{
    Dwarf_Die *scopes = NULL;
    int count = dwarf_getscopes(unit, address, &scopes);
    if (count > 0) {
        Dwarf_Die innermost = scopes[0];
        free(scopes);
        count = dwarf_getscopes_die(&innermost, ret_scopes);
    }
    return count;
}

// The innermost inlined function that is no wrapper in a system header (<bits/stdio2.h>). Such a
// wrapper stands for a call in the source, and the bug is not in it.
static struct inlined find_inlined(struct known_module *known, uint64_t address)
{
    struct inlined result = {.address = address};
    struct dwarf_position position = {0};
    Dwarf *dwarf = load_units(known);
    Dwarf_Die unit, *scopes = NULL;
    if (dwarf == NULL || !dwarf_units_find(&known->units, dwarf, address, &unit))
        return result;
    find_line(known, address, &position);
    const char *file = position.file;
    int count = containing(&unit, address, &scopes);
    for (int i = 0; i < count; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag == DW_TAG_inlined_subroutine && is_system_header(file)) {
            const char *from = dwarf_inlined_call(&unit, &scopes[i], &result.line);
            file = from != NULL ? from : file;
            result.file = file;
        } else if (tag == DW_TAG_inlined_subroutine) {
            result.name = source_name(&scopes[i]);
            result.asked = dwarf_inlined_asked(&scopes[i]);
            break;
        } else if (tag == DW_TAG_subprogram) {
            break;
        }
    }
    free(scopes);
    return result;
}

static size_t place_of(const struct known_module *known, uint64_t address)
{
    size_t low = 0, high = known->inlined.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (known->inlined.items[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Kept, because finding scopes needs a walk through the unit, and campaigns ask for the same
// addresses again and again.
static const struct inlined *look_up(struct known_module *known, uint64_t address)
{
    size_t place = place_of(known, address), count = known->inlined.count;
    if (place < count && known->inlined.items[place].address == address)
        return &known->inlined.items[place];
    if (ARRAY_ADD(&known->inlined) == NULL)
        return NULL;
    struct inlined *entry = &known->inlined.items[place];
    memmove(entry + 1, entry, (count - place) * sizeof *entry);
    *entry = find_inlined(known, address);
    return entry;
}

static const struct inlined *inlined_at(struct dwarf_symbolizer *symbolizer,
                                        const char *module_path, uint64_t address)
{
    struct known_module *known = find_module(symbolizer, module_path);
    return known != NULL && known->module != NULL ? look_up(known, address) : NULL;
}

const char *dwarf_symbolizer_inlined(struct dwarf_symbolizer *symbolizer, const char *module_path,
                                     uint64_t address)
{
    const struct inlined *entry = inlined_at(symbolizer, module_path, address);
    return entry != NULL ? entry->name : NULL;
}

bool dwarf_symbolizer_inline_asked(struct dwarf_symbolizer *symbolizer, const char *module_path,
                                   uint64_t address)
{
    const struct inlined *entry = inlined_at(symbolizer, module_path, address);
    return entry != NULL && entry->asked;
}

struct error *dwarf_symbolizer_inlined_calls(struct dwarf_symbolizer *symbolizer,
                                             const char *module_path, dwarf_call_found *found,
                                             void *context)
{
    struct known_module *known = find_module(symbolizer, module_path);
    return known != NULL && known->module != NULL
               ? dwarf_inlined_calls(known->module, found, context)
               : NULL;
}

// Go's own table, which is there without symbols and DWARF.
static bool find_go(const struct known_module *known, uint64_t address,
                    struct dwarf_position *position)
{
    struct go_function function;
    if (!known->is_go || !go_table_find(&known->go, address, &function))
        return false;
    position->symbol = function.name;
    position->symbol_offset = address - function.entry;
    if (!go_table_line(&known->go, &function, address, &position->file, &position->line))
        position->file = NULL;
    return true;
}

struct dwarf_position dwarf_symbolizer_find(struct dwarf_symbolizer *symbolizer,
                                            const char *module_path, uint64_t address)
{
    struct dwarf_position position = {0};
    errno = 0;
    struct known_module *known = find_module(symbolizer, module_path);
    if (known == NULL)
        note_lack_of_memory(symbolizer);
    if (known == NULL || known->module == NULL)
        return position;
    if (find_go(known, address, &position))
        return position;
    find_symbol(known, address, &position);
    find_line(known, address, &position);
    if (position.file == NULL)
        position.line = 0;
    const struct inlined *entry = is_system_header(position.file) ? look_up(known, address) : NULL;
    if (entry != NULL && entry->file != NULL) {
        position.file = entry->file;
        position.line = entry->line;
    }
    if (errno == ENOMEM)
        note_lack_of_memory(symbolizer);
    return position;
}

bool dwarf_symbolizer_code(struct dwarf_symbolizer *symbolizer, const char *module_path,
                           uint64_t address, struct dwarf_code *ret_code)
{
    struct known_module *known = find_module(symbolizer, module_path);
    const struct nameless_function *found =
        known != NULL && known->module != NULL
            ? nameless_functions_find(&known->nameless, dwarf_module_object(known->module), address)
            : NULL;
    if (found == NULL)
        return false;
    *ret_code = (struct dwarf_code){.hash = found->hash, .offset = address - found->start};
    return true;
}
