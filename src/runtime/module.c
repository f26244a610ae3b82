// SPDX-License-Identifier: GPL-3.0-or-later
// The modules of the process: what is loaded, where, and under which number the controller knows
// it.
#include "runtime/module.h"

#include "runtime/cache.h"
#include "runtime/evaluate.h"
#include "runtime/journal.h"
#include "runtime/record.h"
#include "runtime/runtime.h"
#include "runtime/signals.h"
#include "runtime/slots.h"
#include "runtime/system.h"
#include "runtime/unwind.h"
#include "wire/names.h"
#include "wire/traits.h"

#include <linux/fcntl.h>
#include <linux/mman.h>

struct module *module_at(uintptr_t address)
{
    const struct module_set *set = atomic_load(&runtime.modules);
    size_t low = 0, high = set != NULL ? set->count : 0;
    while (low < high) {
        size_t middle = (low + high) / 2;
        struct module *module = set->modules[middle];
        if (address < module->low)
            high = middle;
        else if (address >= module->high)
            low = middle + 1;
        else
            return module;
    }
    return NULL;
}

// Reading a module: from its headers to pointers into it.

static bool read_headers(struct module *module)
{
    module->low = UINTPTR_MAX;
    for (uint32_t i = 0; i < module->header_count; i++) {
        const Elf64_Phdr *header = &module->headers[i];
        uintptr_t start = module->bias + header->p_vaddr;
        uintptr_t end = start + header->p_memsz;
        if (header->p_type == PT_LOAD) {
            if (start < module->low)
                module->low = start;
            if (end > module->high)
                module->high = end;
        } else if (header->p_type == PT_GNU_RELRO) {
            module->relro_low = start & ~4095ul;
            module->relro_high = end & ~4095ul;
        } else if (header->p_type == PT_GNU_EH_FRAME) {
            module->eh_frame_header = (const unsigned char *)start;
        }
    }
    return module->low < module->high;
}

// The loader relocates these pointers in place, but not in the vDSO.
static const void *dynamic_pointer(const struct module *module, uint64_t value)
{
    return (const void *)(value < module->low ? module->bias + value : value);
}

// A copy that outlives the module's mapping.
static const char *keep_text(const char *text)
{
    size_t size = text_length(text) + 1;
    char *copy = arena_new(size);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

static void read_dynamic(struct module *module)
{
    uint64_t soname = 0, relative = 0;
    for (const Elf64_Dyn *entry = module->dynamic; entry->d_tag != DT_NULL; entry++) {
        uint64_t value = entry->d_un.d_val;
        const void *pointer = dynamic_pointer(module, value);
        switch (entry->d_tag) {
        case DT_SYMTAB:
            module->symbols = pointer;
            break;
        case DT_STRTAB:
            module->strings = pointer;
            break;
        case DT_STRSZ:
            module->strings_size = value;
            break;
        case DT_GNU_HASH:
            module->gnu_hash = pointer;
            break;
        case DT_HASH:
            module->sysv_hash = pointer;
            break;
        case DT_VERSYM:
            module->versions = pointer;
            break;
        case DT_VERNEED:
            module->needed_versions = pointer;
            break;
        case DT_VERDEF:
            module->defined_versions = pointer;
            break;
        case DT_RELA:
            module->relocations = pointer;
            break;
        case DT_RELASZ:
            module->relocation_count = value / sizeof(Elf64_Rela);
            break;
        case DT_RELACOUNT:
            relative = value;
            break;
        case DT_JMPREL:
            module->plt_relocations = pointer;
            break;
        case DT_PLTRELSZ:
            module->plt_relocation_count = value / sizeof(Elf64_Rela);
            break;
        case DT_SONAME:
            soname = value;
            break;
        case DT_SYMBOLIC:
            module->symbolic = true;
            break;
        case DT_FLAGS:
            module->symbolic |= (value & DF_SYMBOLIC) != 0;
            break;
        default:
            break;
        }
    }
    // The first relocations are relative: they name no symbol.
    if (relative <= module->relocation_count) {
        module->relocations += relative;
        module->relocation_count -= relative;
    }
    if (soname != 0 && module->strings != NULL)
        module->soname = keep_text(module->strings + soname);
}

static bool has_dynamic(const struct module *module)
{
    for (uint32_t i = 0; i < module->header_count; i++)
        if (module->headers[i].p_type == PT_DYNAMIC &&
            module->bias + module->headers[i].p_vaddr == (uintptr_t)module->dynamic)
            return true;
    return false;
}

// The program headers need not follow the ELF header: tools that rewrite files move them.
static bool headers_at(struct module *module, uintptr_t address)
{
    Elf64_Ehdr header;
    if (!system_peek((const void *)address, &header, sizeof header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(Elf64_Phdr))
        return false;
    module->headers = (const Elf64_Phdr *)(address + header.e_phoff);
    module->header_count = header.e_phnum;
    size_t size = header.e_phnum * sizeof(Elf64_Phdr);
    // Mostly on the page that was read just now.
    bool near = header.e_phoff <= 4096 && address % 4096 + header.e_phoff + size <= 4096;
    return (near || system_can_read(module->headers, size)) && has_dynamic(module);
}

// Asks the loader, if the headers are not at the file offset that the ELF header gives.
static int headers_of(struct dl_phdr_info *info, size_t size, void *context)
{
    struct module *module = context;
    (void)size;
    module->headers = info->dlpi_phdr;
    module->header_count = info->dlpi_phnum;
    return info->dlpi_addr == module->bias && has_dynamic(module);
}

// The kernel puts the auxiliary vector behind the environment.
uint64_t auxiliary_value(uint64_t kind)
{
    static const uint64_t *vector;
    const uint64_t *word = atomic_load(&vector);
    if (word == NULL) {
        word = (const uint64_t *)runtime.environment;
        while (*word++ != 0)
            ;
        atomic_store(&vector, word);
    }
    for (; word[0] != AT_NULL; word += 2)
        if (word[0] == kind)
            return word[1];
    return 0;
}

// Asks the kernel for the program's headers. If the loader was started by name, they are the
// loader's.
static bool headers_from_kernel(struct module *module)
{
    module->headers = (const Elf64_Phdr *)auxiliary_value(AT_PHDR);
    module->header_count = (uint32_t)auxiliary_value(AT_PHNUM);
    return module->headers != NULL && has_dynamic(module);
}

static bool find_headers(struct module *module, bool program)
{
    if (program && headers_from_kernel(module))
        return true;
    return headers_at(module, module->bias) ||
           (dl_iterate_phdr != NULL && dl_iterate_phdr(headers_of, module) != 0);
}

// The controller has noted what is executed under the path that most trials begin with.
static const char *program_in_region(void)
{
    const char *asked = (const char *)auxiliary_value(AT_EXECFN);
    const void *headers = (const void *)auxiliary_value(AT_PHDR);
    if (runtime.region->program == 0 || asked == NULL || headers == NULL)
        return NULL;
    const char *path = region_at(runtime.region->program);
    uint64_t size = auxiliary_value(AT_PHNUM) * sizeof(Elf64_Phdr);
    if (!text_equal(path, asked) ||
        wire_fingerprint(headers, size) != runtime.region->program_fingerprint)
        return NULL;
    return path + text_length(path) + 1;
}

static struct module *program_module; // the program's, once it was read

// A new process pays more for its first access below /proc than for all else at its start, so the
// program's file is looked for only when it is needed and not known.
static void find_program_path(char *path, size_t room)
{
    const char *path_in_region = program_in_region(),
               *asked = (const char *)auxiliary_value(AT_EXECFN);
    if (path_in_region != NULL) {
        text_copy(path, room, path_in_region);
        return;
    }
    if (program_module != NULL && cache_program_find(program_module, asked, path, room))
        return;
    long size = SYSTEM_3(__NR_readlink, "/proc/self/exe", path, room - 1);
    path[system_failed(size) ? 0 : size] = '\0';
    if (program_module != NULL)
        cache_program_put(program_module, asked, path);
}

// If the loader was started by name, the program is its argument. Several threads may do this at
// once: all write the same.
const char *program_path(void)
{
    static uint32_t ready;
    char path[WIRE_MODULE_PATH];
    if (atomic_load(&ready) != 0)
        return runtime.program_path;
    find_program_path(path, sizeof path);
    if (path[0] == '\0')
        text_copy(path, sizeof path,
                  auxiliary_value(AT_EXECFN) != 0 ? (char *)auxiliary_value(AT_EXECFN) : "");
    if (runtime.arguments[0] != NULL && text_starts(text_base(path), "ld-linux"))
        text_copy(path, sizeof path, runtime.arguments[0]);
    memcpy(runtime.program_path, path, text_length(path) + 1);
    atomic_store(&ready, 1);
    return runtime.program_path;
}

const char *module_path(const struct module *module)
{
    return module->path == runtime.program_path ? program_path() : module->path;
}

static struct module *module_read(struct link_map *map, bool program)
{
    struct module *module = arena_new(sizeof *module);
    if (module == NULL)
        return NULL;
    module->map = map;
    module->bias = map->l_addr;
    module->dynamic = map->l_ld;
    module->region_index = WIRE_FRAME_UNKNOWN;
    if (!find_headers(module, program) || !read_headers(module) || module->dynamic == NULL)
        return NULL;
    module->path = program ? runtime.program_path : keep_text(map->l_name);
    if (module->path == NULL)
        return NULL;
    module->fingerprint =
        wire_fingerprint(module->headers, module->header_count * sizeof(Elf64_Phdr));
    if (program)
        program_module = module;
    read_dynamic(module);
    unwind_find_table(module);
    return module;
}

// The set.

static bool is_exempt(const struct module *module)
{
    return module->low <= (uintptr_t)&runtime && (uintptr_t)&runtime < module->high;
}

static bool is_launcher(const char *name)
{
    return text_equal(name, WIRE_LAUNCHER) || text_equal(name, WIRE_LAUNCHER ".bin");
}

// The launcher may be a script that runs the launcher: the kernel says what was started.
static bool runs_launcher(void)
{
    static uint8_t known; // 1 + the answer; every module asks
    if (known == 0) {
        const char *asked = (const char *)auxiliary_value(AT_EXECFN);
        known = 1 + (is_launcher(text_base(program_path())) ||
                     (asked != NULL && is_launcher(text_base(asked))));
    }
    return known == 2;
}

// Faults in a sanitizer or the like say nothing about the program.
static bool is_ignored(const char *name)
{
    if ((runtime.plan->uses & WIRE_USE_SANITIZERS) != 0)
        return false;
    if (runs_launcher())
        return true;
    for (size_t i = 0; i < WIRE_SANITIZERS; i++)
        if (text_starts(name, wire_sanitizers[i]))
            return true;
    return false;
}

static bool is_of(const struct module *module, const struct link_map *map)
{
    return module->alive && module->map == map && module->bias == map->l_addr &&
           module->dynamic == map->l_ld;
}

static struct module *find_in_set(const struct module_set *set, const struct link_map *map)
{
    for (size_t i = 0; set != NULL && i < set->count; i++)
        if (is_of(set->modules[i], map))
            return set->modules[i];
    return NULL;
}

struct module *module_of(const struct link_map *map)
{
    return find_in_set(runtime.modules, map);
}

static void set_insert(struct module_set *set, struct module *module)
{
    size_t at = set->count++;
    for (; at > 0 && set->modules[at - 1]->low > module->low; at--)
        set->modules[at] = set->modules[at - 1];
    set->modules[at] = module;
}

static struct module *module_new(struct link_map *map, bool startup)
{
    struct module *module = module_read(map, startup && map->l_prev == NULL);
    if (module == NULL)
        return NULL;
    module->startup = startup;
    module->fresh = !startup;
    if (is_exempt(module)) {
        module->exempt = true;
        runtime.self = module;
    }
    const char *name = text_base(module->path);
    module->exempt |= text_starts(name, "linux-vdso") || text_starts(name, "ld-linux") ||
                      plugin_owns(module->path);
    module->ignored = is_ignored(name);
    module->system = wire_is_system(name);
    return module;
}

// Programs that load and unload a plug-in for hours must not make us grow: a module that is loaded
// again at its place gets its old record, with the controller's answer.
static struct module *unloaded;

static struct module *module_again(const struct link_map *map)
{
    for (struct module **link = &unloaded; *link != NULL; link = &(*link)->next) {
        struct module *module = *link;
        if (module->bias != map->l_addr || module->dynamic != map->l_ld ||
            !text_equal(module->path, map->l_name) ||
            module->fingerprint !=
                wire_fingerprint(module->headers, module->header_count * sizeof(Elf64_Phdr)))
            continue;
        *link = module->next;
        module->map = (struct link_map *)map;
        module->bound = false;
        module->build = 0;
        module->unrelocated = false;
        module->fresh = true;
        module->scope = NULL;
        return module;
    }
    return NULL;
}

// Four sets, used one after the other. A reader would have to sleep through three changes to see
// its set rewritten, and would then find a module of another place, never a bad pointer.
static struct module_set *set_for(size_t count)
{
    static struct module_set *sets[4];
    static size_t rooms[4];
    static uint32_t uses;
    uint32_t i = uses++ % 4;
    if (rooms[i] < count) {
        sets[i] = arena_new(sizeof *sets[i] + 2 * count * sizeof sets[i]->modules[0]);
        rooms[i] = sets[i] != NULL ? 2 * count : 0;
    }
    if (sets[i] != NULL)
        sets[i]->count = 0;
    return sets[i];
}

void module_scan(bool startup)
{
    static uint32_t scans;
    const struct module_set *old = runtime.modules;
    size_t count = 0;
    for (struct link_map *map = _r_debug.r_map; map != NULL; map = map->l_next)
        count++;
    struct module_set *set = set_for(count);
    if (set == NULL)
        return;
    scans++;
    bool lost = false, returned = false;
    struct module **link = &runtime.program;
    for (struct link_map *map = _r_debug.r_map; map != NULL; map = map->l_next) {
        struct module *module = find_in_set(old, map);
        if (module == NULL) {
            module = module_again(map);
            returned |= module != NULL;
        }
        if (module == NULL)
            module = module_new(map, startup);
        if (module == NULL)
            continue;
        module->alive = true;
        module->seen = scans;
        set_insert(set, module);
        atomic_store(link, module);
        link = &module->later;
    }
    atomic_store(link, (struct module *)NULL);
    atomic_store(&runtime.modules, set);
    for (size_t i = 0; old != NULL && i < old->count; i++) {
        struct module *module = old->modules[i];
        if (module->seen == scans || !module->alive)
            continue;
        module->alive = false;
        module->next = unloaded;
        unloaded = module;
        lost = true;
    }
    if (lost) {
        unwind_forget();
        record_forget();
    } else if (returned) {
        unwind_renew(); // its variables can be read again
    }
}

bool module_is_named(const struct module *module, const char *pattern)
{
    const char *names[] = {text_base(module_path(module)), module->soname};
    for (size_t i = 0; i < 2; i++) {
        const char *name = names[i];
        if (name == NULL)
            continue;
        if (text_glob(pattern, name))
            return true;
        // "libc" stands for "libc.so.6", "libfoo" for "libfoo-1.2.so".
        char stem[256];
        text_copy(stem, sizeof stem, name);
        for (char *c = stem; *c != '\0'; c++)
            if (text_starts(c, ".so")) {
                *c = '\0';
                break;
            }
        if (text_glob(pattern, stem))
            return true;
    }
    return text_glob(pattern, module_path(module));
}

// The region's table.

static uint32_t module_register(const char *path, uint64_t fingerprint)
{
    struct wire_module *table = region_at(runtime.region->modules);
    for (uint32_t i = 0; i < WIRE_MODULES; i++) {
        struct wire_module *entry = &table[i]; // in order, so that few pages are touched
        // Read before it is written: the kernel then maps neighbouring pages, too.
        if (atomic_load(&entry->state) == WIRE_MODULE_FREE &&
            atomic_swap_if(&entry->state, WIRE_MODULE_FREE, WIRE_MODULE_CLAIMED)) {
            entry->fingerprint = fingerprint;
            text_copy(entry->path, sizeof entry->path, path);
            atomic_store(&entry->state, WIRE_MODULE_REGISTERED);
            if (atomic_load(&entry->waiters) != 0)
                system_wake(&entry->state);
            return (uint32_t)(entry - table);
        }
        // Another process may be filling it in. If it died doing so, go on to the next.
        for (int tries = 0; atomic_load(&entry->state) == WIRE_MODULE_CLAIMED && tries < 20;
             tries++) {
            atomic_store(&entry->waiters, 1);
            system_wait(&entry->state, WIRE_MODULE_CLAIMED, 5);
        }
        if (entry->fingerprint == fingerprint && text_equal(entry->path, path))
            return (uint32_t)(entry - table);
    }
    return WIRE_FRAME_UNKNOWN;
}

void path_absolute(const char *path, char *target, size_t room)
{
    if (path[0] == '/' || text_base(path) == path) {
        text_copy(target, room, path);
        return;
    }
    long length = SYSTEM_2(__NR_getcwd, target, room);
    size_t at = system_failed(length) ? 0 : (size_t)length - 1;
    if (at + 2 < room) {
        target[at++] = '/';
        text_copy(target + at, room - at, text_starts(path, "./") ? path + 2 : path);
    }
}

void module_put_path(const struct module *module, char *path, size_t room)
{
    path_absolute(module_path(module), path, room);
}

uint32_t module_index(struct module *module)
{
    if (module->region_index == WIRE_FRAME_UNKNOWN) {
        char path[WIRE_MODULE_PATH];
        module_put_path(module, path, sizeof path);
        module->region_index = module_register(path, module->fingerprint);
    }
    return module->region_index;
}

// Asks the controller where the plan's queries and variables are in this module, and waits for the
// answer.
static void module_resolve(struct module *module)
{
    module->resolved = true;
    if (runtime.plan->query_count + runtime.plan->variable_count == 0)
        return;
    uint32_t index = module_index(module);
    if (index == WIRE_FRAME_UNKNOWN) {
        journal_note(WIRE_NOTE_MODULES_FULL, module->path);
        return;
    }
    struct wire_module *entry = (struct wire_module *)region_at(runtime.region->modules) + index;
    if (atomic_swap_if(&entry->state, WIRE_MODULE_REGISTERED, WIRE_MODULE_WANTED)) {
        atomic_add(&runtime.region->requests, 1);
        system_wake(&runtime.region->requests);
    }
    uint32_t timeout = runtime.region->answer_timeout_ms;
    while (atomic_load(&entry->state) == WIRE_MODULE_WANTED)
        if (!system_wait(&entry->state, WIRE_MODULE_WANTED, timeout)) {
            journal_note(WIRE_NOTE_NO_ANSWER, module->path);
            return;
        }
    if (atomic_load(&entry->state) == WIRE_MODULE_RESOLVED)
        query_take(module, region_at(entry->resolution));
    else
        journal_note(WIRE_NOTE_RESOLUTION_FAILED, module->path);
}

void module_bind_all(void)
{
    const struct module_set *set = runtime.modules;
    bool changed = false;
    for (size_t i = 0; i < set->count; i++) {
        struct module *module = set->modules[i];
        if (module->unrelocated || module->exempt || (module->resolved && module->bound))
            continue;
        if (!module->resolved)
            module_resolve(module);
        if (!module->bound) {
            bind_module(module);
            cover_module(module);
        }
        module->bound = true;
        changed = true;
    }
    if (!changed)
        return;
    for (size_t i = 0; i < set->count; i++)
        if (set->modules[i]->unresolved != NULL && !set->modules[i]->unrelocated)
            bind_module(set->modules[i]);
    slots_refresh_gates();
}
