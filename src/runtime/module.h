// SPDX-License-Identifier: GPL-3.0-or-later
// The modules of the process, and their entries in the region's module table.
#ifndef ORDEAL_RUNTIME_MODULE_H
#define ORDEAL_RUNTIME_MODULE_H

#include "runtime/runtime.h"

#include <elf.h>

struct wire_coverage_module;

// A loaded object. Pointers go into its own mapping.
struct module {
    struct module *next;  // among the unloaded
    struct module *later; // the next in the loader's list
    struct link_map *map;
    uintptr_t bias, low, high; // link-time address 0; mapped range
    bool alive;                // loaded now; if not, the record may be used again
    const char *path;          // "" for the program until asked
    const Elf64_Phdr *headers;
    uint32_t header_count;
    uintptr_t relro_low, relro_high; // pages the loader made read-only
    const unsigned char *eh_frame_header;
    const unsigned char *eh_frame; // if it has no index
    const Elf64_Dyn *dynamic;
    const Elf64_Sym *symbols;
    const char *strings;
    const uint32_t *gnu_hash, *sysv_hash;
    const uint16_t *versions;
    const Elf64_Verneed *needed_versions;
    const Elf64_Verdef *defined_versions;
    const Elf64_Rela *relocations, *plt_relocations;
    size_t relocation_count, plt_relocation_count, strings_size;
    const char *soname;
    uint64_t fingerprint;
    uint64_t build;           // tells builds apart, see cache.c; 0: not asked, 1: not known
    uint64_t path_hash;       // wire_fingerprint() of its path in the region; 0: not asked
    uint32_t region_index;    // in the region's module table, or WIRE_FRAME_UNKNOWN
    bool startup;             // loaded before the program started
    bool exempt;              // the runtime, the loader, a plug-in, the vDSO: never rewritten
    bool ignored;             // a sanitizer or the like: no rule applies to its calls
    bool system;              // part of the C library
    bool symbolic;            // its own definitions come first
    bool fresh;               // not yet seen by the loader's event
    bool deep, global;        // opened with RTLD_DEEPBIND, RTLD_GLOBAL
    struct module *root;      // the one that dlopen() was asked for, of a late module
    struct module_set *scope; // of a root: itself and what it needs, breadth first
    bool bound;               // its slots were rewritten
    bool resolved;            // the controller's answer about it is in force, or will never come
    uint32_t seen;            // last scan that met it
    const char *unresolved;   // a lazily bound import that nothing defines yet
    const struct wire_coverage_module *covered; // blocks that have breakpoints, or NULL
    bool unrelocated;                           // the loader has mapped it but not relocated it yet
    // A late module's own initialiser, which ours stands in for: DT_INIT or DT_INIT_ARRAY.
    bool init_is_array;
    uint64_t init_value, init_size;
};

// Modules by address; replaced as a whole, so readers need no lock.
struct module_set {
    size_t count;
    struct module *modules[];
};

struct module *module_at(uintptr_t address);
struct module *module_of(const struct link_map *map);
void module_scan(bool startup);               // brings the set up to date with the loader's list
void module_bind_all(void);                   // binds and resolves those that are not yet
uint32_t module_index(struct module *module); // in the region; WIRE_FRAME_UNKNOWN if it is full
void module_put_path(const struct module *module, char *path, size_t room); // as it is there
bool module_is_named(const struct module *module, const char *pattern);

uint64_t auxiliary_value(uint64_t kind); // AT_...; 0: not there
const char *program_path(void);          // the program's file
const char *module_path(const struct module *module);
// A path relative to the directory the process is in now; a name without a slash stays as it is.
void path_absolute(const char *path, char *target, size_t room);

#endif
