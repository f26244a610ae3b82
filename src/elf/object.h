// SPDX-License-Identifier: GPL-3.0-or-later
// One ELF file: its facts, imports and exports; and finding files as kernel and loader do. Strings
// and tables belong to the object and live until it is closed.
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
// An error if a part of the file that is there could not be read since it was opened. Readers that
// return no error leave such parts out, so ask before you rely on what they found.
_must_check_ struct error *elf_object_check(const struct elf_object *object);

// The table of a Go program's functions, as long as the object. False: there is none.
struct go_table;
bool elf_object_go_table(const struct elf_object *object, struct go_table *ret_table);

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

// A hash of the file's bytes: files with the same build-id may differ.
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

// The ELF file that the kernel runs for a command: PATH search, then #! interpreters. The error
// says why there is none: not found, no permission, a directory, not ELF, and so on.
struct elf_program {
    char *path;  // the ELF file
    bool script; // reached through #!
    bool setuid; // set-user-ID, set-group-ID or file capabilities that would take effect
};
_must_check_ struct error *elf_find_program(const char *command, struct elf_program *ret_program);
void elf_program_deinit(struct elf_program *program);

// The file of a library ("libc.so.6"), where the loader finds it for a program without search paths
// of its own: LD_LIBRARY_PATH, /etc/ld.so.cache, the default directories. Free *ret_path.
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
