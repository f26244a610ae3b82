// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the address that the loader would bind a name and version to, for references it has not
// bound yet and for dlsym() with RTLD_DEFAULT and RTLD_NEXT.
#include "runtime/symbol.h"

#include "runtime/module.h"
#include "runtime/runtime.h"
#include "runtime/system.h"

// The version string of a definition, or NULL for the unversioned ones.
static const char *defined_version(const struct module *module, uint16_t index)
{
    const Elf64_Verdef *definition = module->defined_versions;
    while (definition != NULL) {
        if (definition->vd_ndx == index) {
            const Elf64_Verdaux *name =
                (const Elf64_Verdaux *)((const char *)definition + definition->vd_aux);
            return module->strings + name->vda_name;
        }
        if (definition->vd_next == 0)
            break;
        definition = (const Elf64_Verdef *)((const char *)definition + definition->vd_next);
    }
    return NULL;
}

const char *symbol_version(const struct module *module, uint32_t symbol)
{
    if (module->versions == NULL)
        return NULL;
    uint16_t index = module->versions[symbol] & 0x7fff;
    if (index < 2)
        return NULL;
    const Elf64_Verneed *need = module->needed_versions;
    while (need != NULL) {
        const Elf64_Vernaux *name = (const Elf64_Vernaux *)((const char *)need + need->vn_aux);
        for (uint16_t i = 0; i < need->vn_cnt; i++) {
            if ((name->vna_other & 0x7fff) == index)
                return module->strings + name->vna_name;
            name = (const Elf64_Vernaux *)((const char *)name + name->vna_next);
        }
        if (need->vn_next == 0)
            break;
        need = (const Elf64_Verneed *)((const char *)need + need->vn_next);
    }
    return defined_version(module, index);
}

static bool version_fits(const struct module *module, uint32_t symbol, const char *wanted)
{
    if (module->versions == NULL)
        return true;
    uint16_t entry = module->versions[symbol];
    bool hidden = (entry & 0x8000) != 0;
    uint16_t index = entry & 0x7fff;
    if (index == 0)
        return false;
    if (wanted == NULL)
        return !hidden;
    if (index == 1)
        return true; // unversioned definition: serves any reference
    const char *version = defined_version(module, index);
    return version != NULL && text_equal(version, wanted);
}

static bool is_offered(const Elf64_Sym *symbol)
{
    unsigned bind = ELF64_ST_BIND(symbol->st_info), type = ELF64_ST_TYPE(symbol->st_info);
    return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
           (bind == STB_GLOBAL || bind == STB_WEAK || bind == STB_GNU_UNIQUE) && type != STT_TLS;
}

static bool is_code(const Elf64_Sym *symbol)
{
    unsigned type = ELF64_ST_TYPE(symbol->st_info);
    return type == STT_FUNC || type == STT_GNU_IFUNC;
}

static bool is_definition(const struct module *module, uint32_t index, struct symbol_query query)
{
    const Elf64_Sym *symbol = &module->symbols[index];
    return is_offered(symbol) && text_equal(module->strings + symbol->st_name, query.name) &&
           version_fits(module, index, query.version);
}

static uint32_t gnu_hash(const char *name)
{
    uint32_t hash = 5381;
    for (; *name != '\0'; name++)
        hash = hash * 33 + (unsigned char)*name;
    return hash;
}

static uint32_t find_gnu(const struct module *module, struct symbol_query query)
{
    const uint32_t *table = module->gnu_hash;
    uint32_t buckets = table[0], first = table[1], words = table[2], shift = table[3];
    const uint64_t *filter = (const uint64_t *)&table[4];
    const uint32_t *bucket = (const uint32_t *)&filter[words];
    const uint32_t *chain = &bucket[buckets];
    uint32_t hash = query.hash != 0 ? query.hash : gnu_hash(query.name);
    if (buckets == 0 || words == 0)
        return 0;
    uint64_t word = filter[hash / 64 & (words - 1)];
    if ((word >> hash % 64 & word >> (hash >> shift) % 64 & 1) == 0)
        return 0;
    uint32_t index = bucket[hash % buckets];
    if (index < first)
        return 0;
    for (;; index++) {
        uint32_t entry = chain[index - first];
        if (((entry ^ hash) & ~1u) == 0 && is_definition(module, index, query))
            return index;
        if ((entry & 1) != 0)
            return 0;
    }
}

static uint32_t find_sysv(const struct module *module, struct symbol_query query)
{
    const uint32_t *table = module->sysv_hash;
    uint32_t hash = 0;
    for (const char *c = query.name; *c != '\0'; c++) {
        hash = (hash << 4) + (unsigned char)*c;
        hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
    }
    if (table[0] == 0)
        return 0;
    const uint32_t *chain = &table[2 + table[0]];
    for (uint32_t index = table[2 + hash % table[0]]; index != 0; index = chain[index])
        if (is_definition(module, index, query))
            return index;
    return 0;
}

static void *address_of(const struct module *module, uint32_t index)
{
    const Elf64_Sym *symbol = &module->symbols[index];
    void *address = (void *)(module->bias + symbol->st_value);
    if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
        address = ((void *(*)(void))address)();
    return address;
}

void *symbol_in(const struct module *module, struct symbol_query query)
{
    uint32_t index = 0;
    if (module->symbols == NULL || module->strings == NULL)
        return NULL;
    if (module->gnu_hash != NULL)
        index = find_gnu(module, query);
    else if (module->sysv_hash != NULL)
        index = find_sysv(module, query);
    if (index == 0)
        return NULL;
    if (query.found != NULL)
        *query.found = (struct symbol_found){module, index};
    return address_of(module, index);
}

#define NUMBER_BITS 24 // of the symbol's index; above it is the module's place in the loader's list

uint32_t symbol_number(const struct symbol_found *found)
{
    uint32_t place = 1;
    const struct module *module = runtime.program;
    for (; module != NULL && module != found->module; module = module->later)
        place++;
    if (module == NULL || !module->startup || place >= 1u << (32 - NUMBER_BITS) ||
        found->index >= 1u << NUMBER_BITS)
        return 0;
    return place << NUMBER_BITS | found->index;
}

// Whether a symbol table has that many entries. Its size is not known: mostly the strings come
// behind it, and it ends with the module.
static bool is_in_table(const struct module *module, uint32_t index)
{
    const Elf64_Sym *symbol = &module->symbols[index];
    uintptr_t strings = (uintptr_t)module->strings, symbols = (uintptr_t)module->symbols,
              end = strings > symbols && strings < module->high ? strings : module->high;
    return (uintptr_t)(symbol + 1) <= end &&
           (module->versions == NULL ||
            (uintptr_t)(module->versions + index + 1) <= module->high) &&
           strings + symbol->st_name < module->high;
}

// The number comes from shared memory: everything about it is checked, except which version of the
// name it is.
void *symbol_numbered(uint32_t number, const char *name)
{
    const struct module *module = runtime.program;
    uint32_t index = number & ((1u << NUMBER_BITS) - 1);
    for (uint32_t place = number >> NUMBER_BITS; place > 1 && module != NULL; place--)
        module = module->later;
    if (number >> NUMBER_BITS == 0 || module == NULL || !module->startup ||
        module == runtime.self || module->symbols == NULL || module->strings == NULL ||
        !is_in_table(module, index) || !is_offered(&module->symbols[index]) ||
        !is_code(&module->symbols[index]) ||
        !text_equal(module->strings + module->symbols[index].st_name, name))
        return NULL;
    return address_of(module, index);
}

// Scopes. The global scope is everything loaded at start or opened with RTLD_GLOBAL, in the
// loader's order. A late module also has the scope of the module it was opened with.

static void *find_global(struct symbol_query query)
{
    for (const struct module *module = runtime.program; module != NULL; module = module->later) {
        if (module == runtime.self || !(module->startup || module->global))
            continue;
        void *address = symbol_in(module, query);
        if (address != NULL)
            return address;
    }
    return NULL;
}

static struct module *module_needed(const char *name)
{
    const struct module_set *set = runtime.modules;
    for (size_t i = 0; i < set->count; i++)
        if ((set->modules[i]->soname != NULL && text_equal(set->modules[i]->soname, name)) ||
            text_equal(text_base(set->modules[i]->path), text_base(name)))
            return set->modules[i];
    return NULL;
}

static void scope_add(struct module_set *scope, struct module *module)
{
    for (size_t i = 0; i < scope->count; i++)
        if (scope->modules[i] == module)
            return;
    scope->modules[scope->count++] = module;
}

static const struct module_set *scope_of(struct module *root)
{
    if (root->scope != NULL)
        return root->scope;
    struct module_set *scope =
        arena_new(sizeof *scope + (runtime.modules->count + 1) * sizeof scope->modules[0]);
    if (scope == NULL)
        return NULL;
    scope->count = 0;
    scope_add(scope, root);
    for (size_t i = 0; i < scope->count; i++) {
        const struct module *module = scope->modules[i];
        for (const Elf64_Dyn *entry = module->dynamic; entry->d_tag != DT_NULL; entry++) {
            struct module *needed = entry->d_tag == DT_NEEDED
                                        ? module_needed(module->strings + entry->d_un.d_val)
                                        : NULL;
            if (needed != NULL)
                scope_add(scope, needed);
        }
    }
    root->scope = scope;
    return scope;
}

// From the first member after `after`, or from the beginning.
static void *find_local(const struct module *from, const struct module *after,
                        struct symbol_query query)
{
    const struct module_set *scope = from->root != NULL ? scope_of(from->root) : NULL;
    for (size_t i = 0; scope != NULL && i < scope->count; i++) {
        if (after != NULL) {
            if (scope->modules[i] == after)
                after = NULL;
            continue;
        }
        void *address = symbol_in(scope->modules[i], query);
        if (address != NULL)
            return address;
    }
    return NULL;
}

void *symbol_find(const struct module *from, struct symbol_query query)
{
    query.hash = gnu_hash(query.name);
    void *address = from->symbolic ? symbol_in(from, query) : NULL;
    if (address == NULL && from->deep)
        address = find_local(from, NULL, query);
    if (address == NULL)
        address = find_global(query);
    if (address == NULL)
        address = find_local(from, NULL, query);
    return address;
}

// The next two are called outside the loader's lock, so they look only at modules that cannot go
// away meanwhile: those loaded at start, or those that the caller itself keeps loaded.
static void *find_startup(const struct module *first, struct symbol_query query)
{
    for (const struct module *module = first; module != NULL; module = module->later) {
        if (!module->startup)
            break;
        void *address = module != runtime.self ? symbol_in(module, query) : NULL;
        if (address != NULL)
            return address;
    }
    return NULL;
}

void *symbol_find_at_start(struct symbol_query query)
{
    return find_startup(runtime.program, query);
}

void *symbol_find_after(const struct module *from, struct symbol_query query)
{
    if (from->root != NULL)
        return find_local(from, from, query);
    return find_startup(from->later, query);
}

void *symbol_programs_plt(const char *name)
{
    const struct module *program = runtime.program;
    if (program == NULL || program->bias != 0)
        return NULL;
    for (size_t i = 0; i < program->plt_relocation_count; i++) {
        const Elf64_Sym *symbol =
            &program->symbols[ELF64_R_SYM(program->plt_relocations[i].r_info)];
        if (symbol->st_shndx == SHN_UNDEF && symbol->st_value != 0 &&
            text_equal(program->strings + symbol->st_name, name))
            return (void *)symbol->st_value;
    }
    return NULL;
}
