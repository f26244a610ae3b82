// SPDX-License-Identifier: GPL-3.0-or-later
// Rewrites the import slots of modules: finds the references that the plan names, learns where they
// were bound to, and points them at stubs. Everything here runs under the loader's lock or before
// main.
#include "runtime/slots.h"

#include "runtime/cache.h"
#include "runtime/function.h"
#include "runtime/hooks.h"
#include "runtime/journal.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "runtime/streams.h"
#include "runtime/symbol.h"
#include "runtime/system.h"
#include "wire/names.h"

#include <linux/mman.h>

// A PLT slot the loader has not bound yet still points back into its own module.
static bool is_unbound(const struct module *module, const Elf64_Sym *symbol, void *value)
{
    uintptr_t address = (uintptr_t)value;
    return module->low <= address && address < module->high &&
           !(symbol->st_shndx != SHN_UNDEF && module->bias + symbol->st_value == address);
}

static bool is_function(const Elf64_Sym *symbol)
{
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    return type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE;
}

static uint32_t flags_at(const struct module *module, const void *address)
{
    for (uint32_t i = 0; i < module->header_count; i++) {
        const Elf64_Phdr *header = &module->headers[i];
        uintptr_t start = module->bias + header->p_vaddr;
        if (header->p_type == PT_LOAD && (uintptr_t)address - start < header->p_memsz)
            return header->p_flags;
    }
    return 0;
}

// Keeps the last answer: references of a module mostly stand close together.
static uint32_t place_flags(const struct module *module, const void *place)
{
    static const struct module *last;
    static uintptr_t page;
    static uint32_t flags;
    if (last != module || (uintptr_t)place / 4096 != page) {
        flags = flags_at(module, place);
        last = module;
        page = (uintptr_t)place / 4096;
    }
    return flags;
}

bool bind_is_code(const void *address)
{
    const struct module *owner = module_at((uintptr_t)address);
    return owner == NULL || (flags_at(owner, address) & PF_X) != 0;
}

// Pages that the loader made read-only become writable with the first write, since most modules
// need none.
static bool opened;

static bool open_sealed(const struct module *module)
{
    size_t size = module->relro_high - module->relro_low;
    if (!opened &&
        system_failed(SYSTEM_3(__NR_mprotect, module->relro_low, size, PROT_READ | PROT_WRITE))) {
        journal_note(WIRE_NOTE_DISARMED, module->path);
        return false;
    }
    opened = true;
    return true;
}

// A place may be in a page that must not be written: text relocations.
void bind_write(const struct module *module, void **place, void *value)
{
    uint32_t flags = place_flags(module, place);
    if ((uintptr_t)place - module->relro_low < module->relro_high - module->relro_low &&
        !open_sealed(module))
        return;
    if ((flags & PF_W) != 0) {
        *place = value;
        return;
    }
    uintptr_t page = (uintptr_t)place & ~4095ul;
    size_t size = ((uintptr_t)(place + 1) - page + 4095) & ~4095ul;
    int executable = (flags & PF_X) != 0 ? PROT_EXEC : 0;
    if (system_failed(SYSTEM_3(__NR_mprotect, page, size, PROT_READ | PROT_WRITE | executable)))
        return;
    *place = value;
    SYSTEM_3(__NR_mprotect, page, size, PROT_READ | executable);
}

// Symbol versions that the current module needs of the C library: a bit for each of the first 64.
static uint64_t system_versions;

static void note_system_versions(const struct module *module)
{
    system_versions = 0;
    const Elf64_Verneed *need = module->versions != NULL ? module->needed_versions : NULL;
    for (; need != NULL; need = (const Elf64_Verneed *)((const char *)need + need->vn_next)) {
        const Elf64_Vernaux *name = (const Elf64_Vernaux *)((const char *)need + need->vn_aux);
        bool is_system = wire_is_system(module->strings + need->vn_file);
        for (uint16_t i = 0; is_system && i < need->vn_cnt; i++) {
            if ((name->vna_other & 0x7fff) < 64)
                system_versions |= 1ull << (name->vna_other & 63);
            name = (const Elf64_Vernaux *)((const char *)name + name->vna_next);
        }
        if (need->vn_next == 0)
            break;
    }
}

// Whether the symbol comes from the C library, by its version: cheaper than a look-up.
static bool is_of_system(const struct module *module, uint32_t symbol)
{
    uint16_t version = module->versions != NULL ? module->versions[symbol] & 0x7fff : 0;
    return version < 64 && (system_versions >> version & 1) != 0;
}

static bool is_inside(const struct module *module, const void *address)
{
    return (uintptr_t)address - module->low < module->high - module->low;
}

// An import of interest, in a word: the number of its relocation (those of the PLT come after the
// others), whether rules want it, whether a hook does. It follows from the module's file and the
// plan.
#define IMPORT_NUMBER 0x0fffffffu
#define IMPORT_WANTED 28 // enum wanted, two bits
#define IMPORT_HOOKED 0x40000000u

static const Elf64_Rela *import_at(const struct module *module, size_t number)
{
    if (number < module->relocation_count)
        return &module->relocations[number];
    number -= module->relocation_count;
    return number < module->plt_relocation_count ? &module->plt_relocations[number] : NULL;
}

// Whether a relocation stores the address of what may be a function.
static bool is_import(const struct module *module, const Elf64_Rela *relocation)
{
    uint32_t type = (uint32_t)ELF64_R_TYPE(relocation->r_info);
    return (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
            (type == R_X86_64_64 && relocation->r_addend == 0)) &&
           is_function(&module->symbols[ELF64_R_SYM(relocation->r_info)]);
}

static uint32_t import_of(const struct module *module, const Elf64_Rela *relocation,
                          uint32_t number)
{
    if (!is_import(module, relocation))
        return 0;
    uint32_t index = (uint32_t)ELF64_R_SYM(relocation->r_info);
    const char *name = module->strings + module->symbols[index].st_name;
    bool hooked = hook_find(name) != NULL;
    enum wanted wanted = function_wanted(name);
    if (wanted == WANTED_OUTSIDE && is_of_system(module, index))
        wanted = WANTED_NOT;
    if (!hooked && wanted == WANTED_NOT)
        return 0;
    return number | (uint32_t)wanted << IMPORT_WANTED | (hooked ? IMPORT_HOOKED : 0);
}

// What the loader would bind it to, and the number of that symbol.
static void *resolve(struct module *module, uint32_t index, const char *name, uint32_t *number)
{
    struct symbol_found found = {NULL, 0};
    struct symbol_query query = {
        .name = name, .version = symbol_version(module, index), .found = &found};
    void *real = symbol_find(module, query);
    *number = real != NULL ? symbol_number(&found) : 0;
    return real;
}

// Puts the symbol's number into the import if it was looked up. An import from shared memory is
// trusted only to be of interest. If rules want the name but none applies to the function after
// all, the import is no longer wanted - provided that this is the same in every process that has
// the module under the same key.
static void bind_import(struct module *module, struct import *import, enum slot_rules rules)
{
    const Elf64_Rela *relocation = import_at(module, import->what & IMPORT_NUMBER);
    enum wanted wanted = (enum wanted)(import->what >> IMPORT_WANTED & 3);
    if (relocation == NULL || !is_import(module, relocation) || wanted > WANTED)
        return;
    bool plt = ELF64_R_TYPE(relocation->r_info) == R_X86_64_JUMP_SLOT;
    uint32_t index = (uint32_t)ELF64_R_SYM(relocation->r_info);
    const Elf64_Sym *symbol = &module->symbols[index];
    const char *name = module->strings + symbol->st_name;
    void **place = (void **)(module->bias + relocation->r_offset);
    const struct hook *hook = (import->what & IMPORT_HOOKED) != 0 ? hook_find(name) : NULL;
    void *real = *place;
    if (real == NULL)
        return;           // an undefined weak reference; the program tests for it
    bool is_code = false; // known without a look
    if (plt && is_unbound(module, symbol, real)) {
        real = import->symbol != 0 ? symbol_numbered(import->symbol, name) : NULL;
        is_code = real != NULL;
        if (!is_code)
            real = resolve(module, index, name, &import->symbol);
        if (real == NULL) {
            if (ELF64_ST_BIND(symbol->st_info) != STB_WEAK)
                module->unresolved = name; // its library may come later
            return;
        }
    }
    if (wanted == WANTED_NOT || module->ignored ||
        (wanted == WANTED_OUTSIDE && is_inside(module, real)))
        rules = SLOT_NO_RULES;
    void *replacement =
        is_code || bind_is_code(real) ? slot_replacement(name, real, rules, hook) : NULL;
    if ((replacement == NULL || (hook != NULL && replacement == hook->replacement)) &&
        cache_knows_targets(module))
        import->what &= ~(3u << IMPORT_WANTED);
    if (replacement != NULL)
        bind_write(module, place, replacement);
}

// Looks at all imports and puts those of interest into the cache. Not if the module was bound
// before, since some imports have their stubs already; nor if there was no room for all.
static void bind_anew(struct module *module)
{
    static struct import interesting[1024];
    size_t total = module->relocation_count + module->plt_relocation_count;
    bool kept = runtime.calls != NULL && !module->ignored && !module->bound;
    uint32_t count = 0, room = kept ? 1024 : 0;
    note_system_versions(module);
    for (size_t i = 0; i < total && i < IMPORT_NUMBER; i++) {
        struct import import = {import_of(module, import_at(module, i), (uint32_t)i), 0};
        if (import.what == 0)
            continue;
        bind_import(module, &import, SLOT_RULES);
        if ((import.what & ~IMPORT_NUMBER) == 0)
            continue;
        if (count < room)
            interesting[count] = import;
        count++;
    }
    if (kept && count <= room && !runtime.out_of_room)
        cache_imports_put(module, interesting, count);
}

void bind_module(struct module *module)
{
    uint32_t count;
    enum slot_rules rules;
    module->unresolved = NULL;
    if (module->symbols == NULL || module->strings == NULL)
        return;
    opened = false;
    const struct import *imports = cache_imports_find(module, &count, &rules);
    for (uint32_t i = 0; imports != NULL && i < count; i++) {
        struct import import = imports[i];
        bind_import(module, &import, rules);
    }
    if (imports == NULL)
        bind_anew(module);
    stream_write_bind(module);
    if (opened)
        SYSTEM_3(__NR_mprotect, module->relro_low, module->relro_high - module->relro_low,
                 PROT_READ);
}

void bind_report_unresolved(void)
{
    for (size_t i = 0; i < runtime.modules->count; i++)
        if (runtime.modules->modules[i]->unresolved != NULL)
            journal_note(WIRE_NOTE_UNRESOLVED_SYMBOL, runtime.modules->modules[i]->unresolved);
}
