// SPDX-License-Identifier: GPL-3.0-or-later
// The cache in the region: what the processes of a recorded workload need not find out twice. It
// holds which imports of a module are of interest, how frames are unwound, and what a program's
// file is. Keys are build IDs, so that a file that is replaced meanwhile is another one; a module
// without a build ID is not cached. Builds that have the same ID by mistake are told apart by the
// sizes of their parts, and not at all if those are equal. Entries are written once. A target may
// overwrite them: what is read is checked or bounded.
#include "runtime/cache.h"

#include "runtime/identity.h"
#include "runtime/module.h"
#include "runtime/runtime.h"
#include "runtime/signals.h"
#include "runtime/slots.h"
#include "runtime/system.h"
#include "runtime/unwind.h"

#include <sys/stat.h>

#define UNKNOWN 1
#define BUSY    1
#define TRIES   8

_Static_assert(sizeof(struct import) == sizeof(uint64_t), "an import is a word of the region");

// The build ID in the note that linkers leave: three words, a name, and the ID (see the gABI).
static uint64_t read_build(const struct module *module, const Elf64_Phdr *header)
{
    uintptr_t at = module->bias + header->p_vaddr, end = at + header->p_memsz;
    if (at < module->low || end > module->high || at % 4 != 0)
        return UNKNOWN;
    while (end - at >= sizeof(Elf64_Nhdr)) {
        const Elf64_Nhdr *note = (const Elf64_Nhdr *)at;
        uint64_t name = (note->n_namesz + 3ull) & ~3ull, size = (note->n_descsz + 3ull) & ~3ull;
        at += sizeof *note;
        if (name + size > end - at)
            break;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && size >= 8 &&
            memcmp((const void *)at, "GNU", 4) == 0)
            return wire_fingerprint((const void *)(at + name), note->n_descsz);
        at += name + size;
    }
    return UNKNOWN;
}

static uint64_t sizes_of(const struct module *module)
{
    const uint64_t sizes[] = {
        module->relocation_count, module->plt_relocation_count, module->strings_size,
        (uint64_t)((uintptr_t)module->strings -
                   (uintptr_t)module->symbols), // mostly the number of symbols
    };
    return wire_fingerprint(sizes, sizeof sizes);
}

static uint64_t build_of(struct module *module)
{
    if (module->build != 0)
        return module->build;
    uint64_t build = UNKNOWN;
    for (uint32_t i = 0; i < module->header_count && build == UNKNOWN; i++)
        if (module->headers[i].p_type == PT_NOTE)
            build = read_build(module, &module->headers[i]);
    if (build != UNKNOWN)
        build = random_mix(build ^ module->fingerprint ^ sizes_of(module)) | 2;
    module->build = build;
    return build;
}

void cache_prepare(void)
{
    if ((runtime.region->options & WIRE_RECORD_STACKS) == 0)
        return;
    runtime.shared_rows = runtime.calls->cache.rows;
    // Use one page of rows of our own, not four: rows without room there are found again in the
    // cache. Writing before reading costs one fault instead of two.
    unwind_reach = 127;
    *(volatile uint64_t *)&unwind_rows[0].pc = UNWIND_FREE;
}

// Programs. A new process pays more for its first access below /proc than for all else at its
// start.

static uint64_t program_key(struct module *program, const char *asked)
{
    uint64_t build =
        runtime.calls != NULL && asked != NULL && asked[0] == '/' ? build_of(program) : UNKNOWN;
    return build != UNKNOWN ? random_mix(build ^ wire_fingerprint(asked, text_length(asked))) | 2
                            : UNKNOWN;
}

static struct wire_cache_program *program_at(uint64_t key, uint32_t number)
{
    return &runtime.calls->cache.programs[((key >> 40) + number) & (WIRE_CACHE_PROGRAMS - 1)];
}

// A link may lead elsewhere by now, to another file of the same build; or the file may have another
// name.
static bool is_same_file(const char *path, const char *asked)
{
    struct stat file, other;
    return text_equal(path, asked) || (!system_failed(SYSTEM_2(__NR_stat, path, &file)) &&
                                       !system_failed(SYSTEM_2(__NR_stat, asked, &other)) &&
                                       file.st_dev == other.st_dev && file.st_ino == other.st_ino);
}

bool cache_program_find(struct module *program, const char *asked, char *path, size_t room)
{
    uint64_t key = program_key(program, asked);
    for (uint32_t i = 0; key != UNKNOWN && i < TRIES; i++) {
        const struct wire_cache_program *entry = program_at(key, i);
        uint64_t found = atomic_load(&entry->key);
        if (found == 0)
            return false;
        if (found == key && entry->path[0] == '/') {
            text_copy(path, room < WIRE_CACHE_PATH ? room : WIRE_CACHE_PATH, entry->path);
            return is_same_file(path, asked);
        }
    }
    return false;
}

// A path that the kernel has marked, as with " (deleted)", is not kept.
void cache_program_put(struct module *program, const char *asked, const char *path)
{
    uint64_t key = program_key(program, asked);
    size_t size = text_length(path) + 1;
    if (size > WIRE_CACHE_PATH || path[0] != '/' || path[size - 2] == ')')
        return;
    for (uint32_t i = 0; key != UNKNOWN && i < TRIES; i++) {
        struct wire_cache_program *entry = program_at(key, i);
        if (atomic_load(&entry->key) != 0 || !atomic_swap_if(&entry->key, 0, BUSY))
            continue;
        memcpy(entry->path, path, size);
        atomic_store(&entry->key, key);
        return;
    }
}

// Imports.

static struct wire_cache_module *module_entry(uint64_t build)
{
    return &runtime.calls->cache.modules[build >> 32 & (WIRE_CACHE_MODULES - 1)];
}

static struct wire_cache_module *next_entry(struct wire_cache_module *entry)
{
    struct wire_cache_module *first = runtime.calls->cache.modules;
    return ++entry == first + WIRE_CACHE_MODULES ? first : entry;
}

// The key of all modules that the program was started with, in the loader's order: where imports
// lead follows from that. UNKNOWN if one of them has no build ID.
static uint64_t startup_key(void)
{
    static uint64_t startup;
    uint64_t key = 0;
    struct module *module = startup == 0 ? runtime.program : NULL;
    for (; module != NULL && module->startup && key != UNKNOWN; module = module->later)
        if (module != runtime.self) // the runtime exports nothing
            key = build_of(module) != UNKNOWN ? random_mix(key ^ build_of(module)) | 2 : UNKNOWN;
    if (startup == 0)
        startup = key != 0 ? key : UNKNOWN;
    return startup;
}

bool cache_knows_targets(const struct module *module)
{
    return module->startup && startup_key() != UNKNOWN;
}

// Part of the key: coverage is not on in every process, and it has hooks.
static uint64_t imports_key(struct module *module)
{
    uint64_t build = runtime.calls != NULL ? build_of(module) : UNKNOWN;
    if (build == UNKNOWN)
        return UNKNOWN;
    uint64_t leads = cache_knows_targets(module) ? startup_key() : 0;
    return random_mix(build ^ leads ^ cover_is_on()) | 2;
}

const struct import *cache_imports_find(struct module *module, uint32_t *ret_count,
                                        enum slot_rules *ret_rules)
{
    uint64_t build = imports_key(module);
    if (build == UNKNOWN)
        return NULL;
    struct wire_cache_module *entry = module_entry(build);
    for (int i = 0; i < TRIES; i++, entry = next_entry(entry)) {
        uint64_t key = atomic_load(&entry->key);
        if (key == 0)
            return NULL;
        uint32_t first = entry->first, count = entry->count;
        if (key != build || first > WIRE_CACHE_IMPORTS || count > WIRE_CACHE_IMPORTS - first)
            continue;
        *ret_count = count;
        // The process that filled the cache has created the functions, so there are rules. Names in
        // modules that are loaded later may go away.
        *ret_rules =
            !runtime.armed && cache_knows_targets(module) ? SLOT_RULES_AT_CALL : SLOT_RULES;
        return (const struct import *)runtime.calls->cache.imports + first;
    }
    return NULL;
}

void cache_imports_put(struct module *module, const struct import *imports, uint32_t count)
{
    struct wire_cache *cache = runtime.calls != NULL ? &runtime.calls->cache : NULL;
    uint64_t build = imports_key(module);
    if (build == UNKNOWN || atomic_load(&cache->taken) > WIRE_CACHE_IMPORTS)
        return;
    uint32_t first = atomic_add(&cache->taken, count);
    if (first > WIRE_CACHE_IMPORTS || count > WIRE_CACHE_IMPORTS - first)
        return;
    struct import *kept = (struct import *)cache->imports + first;
    for (uint32_t i = 0; i < count; i++)
        kept[i] =
            (struct import){imports[i].what, cache_knows_targets(module) ? imports[i].symbol : 0};
    struct wire_cache_module *entry = module_entry(build);
    for (int i = 0; i < TRIES; i++, entry = next_entry(entry))
        if (atomic_load(&entry->key) == 0 && atomic_swap_if(&entry->key, 0, BUSY)) {
            entry->first = first;
            entry->count = count;
            atomic_store(&entry->key, build);
            return;
        }
}

// Rows.

union kept_row {
    struct row row;
    uint64_t words[3];
};
_Static_assert(sizeof(struct row) <= sizeof((struct wire_cache_row *)0)->row, "a row has its room");

static uint64_t row_key(struct module *module, uint64_t pc)
{
    uint64_t build = build_of(module);
    return build != UNKNOWN ? random_mix(build ^ (pc - module->bias)) | 2 : UNKNOWN;
}

static struct wire_cache_row *row_at(uint64_t key, uint64_t number)
{
    return &runtime.shared_rows[((key >> 40) + number) & (WIRE_CACHE_ROWS - 1)];
}

bool cache_row_find(struct module *module, uint64_t pc, struct row *ret_row)
{
    uint64_t key = runtime.shared_rows != NULL ? row_key(module, pc) : UNKNOWN;
    for (uint64_t i = 0; key != UNKNOWN && i < TRIES; i++) {
        const struct wire_cache_row *entry = row_at(key, i);
        uint64_t found = atomic_load(&entry->key);
        if (found == 0)
            return false;
        if (found != key)
            continue;
        union kept_row kept = {.words = {atomic_load(&entry->row[0]), atomic_load(&entry->row[1]),
                                         atomic_load(&entry->row[2])}};
        if ((kept.row.flags == ROW_VALID && kept.row.cfa_base > ROW_ON_STACK) ||
            kept.row.saved_mask >> SAVED != 0)
            return false;
        *ret_row = kept.row;
        return true;
    }
    return false;
}

void cache_row_put(struct module *module, uint64_t pc, const struct row *row)
{
    uint64_t key = runtime.shared_rows != NULL ? row_key(module, pc) : UNKNOWN;
    union kept_row kept = {.words = {0}};
    kept.row = *row;
    for (uint64_t i = 0; key != UNKNOWN && i < TRIES; i++) {
        struct wire_cache_row *entry = row_at(key, i);
        if (atomic_load(&entry->key) != 0 || !atomic_swap_if(&entry->key, 0, BUSY))
            continue;
        for (int word = 0; word < 3; word++)
            entry->row[word] = kept.words[word];
        atomic_store(&entry->key, key);
        return;
    }
}
