// SPDX-License-Identifier: GPL-3.0-or-later
// Facts of one ELF file: what it is, what it imports and from where, its symbols.
#ifndef ORDEAL_ELF_OBJECT_H
#define ORDEAL_ELF_OBJECT_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_object;

// Opens and checks a file. Not ELF, truncated or broken: an error that names file and problem.
_must_check_ struct error *elf_object_open(const char *path, struct elf_object **ret_object);
// The same without imports and exports, which then are empty.
_must_check_ struct error *elf_object_open_bare(const char *path, struct elf_object **ret_object);
void elf_object_close(struct elf_object *object);

struct elf_facts {
    int class_bits;   // 32 or 64
    unsigned machine; // EM_*
    const char *machine_name;
    bool executable;         // ET_EXEC, or ET_DYN with an entry and interpreter
    bool dynamic;            // has PT_DYNAMIC
    bool static_program;     // no interpreter: nothing can be preloaded
    bool go_program;         // built by the Go tool chain
    const char *interpreter; // or NULL
    const char *soname;      // or NULL
    const char *build_id;    // hex, or NULL
    bool has_debug_info;
};
const struct elf_facts *elf_object_facts(const struct elf_object *object);

// A number made of all bytes of the file: a build-id may be the same where the content is not.
uint64_t elf_object_digest(const struct elf_object *object);

struct elf_import { // an undefined dynamic symbol that is called or whose address is taken
    const char *name;
    const char *version; // or NULL
    bool weak;
};
size_t elf_object_import_count(const struct elf_object *object);
const struct elf_import *elf_object_import(const struct elf_object *object, size_t index);

// Whether the object exports a function of that name (and version, unless NULL).
bool elf_object_exports(const struct elf_object *object, const char *name, const char *version);

// What the kernel will run for a command: PATH search, then #! interpreters, down to an ELF file.
// Says why not: not found, no permission, a directory, not ELF, and so on.
struct elf_program {
    char *path;  // the ELF file
    bool script; // reached through #!
    bool setuid; // set-user-ID, set-group-ID or file capabilities that would take effect
};
_must_check_ struct error *elf_find_program(const char *command, struct elf_program *ret_program);
void elf_program_deinit(struct elf_program *program);

// The file of a library that is asked for by its name ("libc.so.6"), where the loader would find it
// for a program that says nothing of its own: LD_LIBRARY_PATH, /etc/ld.so.cache, the default
// directories.
_must_check_ struct error *elf_find_library(const char *name, char **ret_path);

// The libraries a program loads at start, as the loader finds them (DT_RUNPATH, LD_LIBRARY_PATH,
// /etc/ld.so.cache or the default directories), breadth first, program excluded.
struct elf_closure {
    char **paths;
    size_t count;
    char **missing; // DT_NEEDED names not found
    size_t missing_count;
};
_must_check_ struct error *elf_closure_find(const struct elf_object *program,
                                            struct elf_closure *ret_closure);
void elf_closure_deinit(struct elf_closure *closure);

#endif
