// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the library that a fault is in.
#include "state/program.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/suggestion.h"

#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void object_closep(struct elf_object **object)
{
    elf_object_close(*object);
}

// Among those that the program loads at its start. NULL if it is none of them; then *ret_hint
// says which one may be meant.
static struct error *find_loaded(const char *program, const char *name,
                                 char storage[SUGGESTION_SIZE], const char **ret_hint,
                                 char **ret_path)
{
    struct suggestion meant = suggestion_start(name, strlen(name));
    _cleanup_(object_closep) struct elf_object *object = NULL;
    _cleanup_(elf_closure_deinit) struct elf_closure closure = {0};
    TRY(elf_object_open(program, &object));
    TRY(elf_closure_find(object, &closure));
    for (size_t i = 0; i < closure.count && *ret_path == NULL; i++) {
        suggestion_offer(&meant, file_base_name(closure.paths[i]));
        if (strcmp(file_base_name(closure.paths[i]), name) != 0)
            continue;
        *ret_path = strdup(closure.paths[i]);
        if (*ret_path == NULL)
            return error_no_memory();
    }
    *ret_hint = suggestion_text(&meant, storage);
    return NULL;
}

static struct error *find(const char *program, const char *name, const struct source *source,
                          size_t at, char **ret_path)
{
    char storage[SUGGESTION_SIZE];
    const char *hint = "";
    _cleanup_free_ char *path = NULL;
    if (strchr(name, '/') != NULL) {
        if (access(name, R_OK) != 0)
            return source_error(source, at, "cannot read the library %s: %m", name);
        path = strdup(name);
        if (path == NULL)
            return error_no_memory();
    } else {
        TRY(find_loaded(program, name, storage, &hint, &path));
    }
    if (path == NULL) {
        _cleanup_error_ struct error *none = elf_find_library(name, &path);
        if (none != NULL)
            return source_error(source, at,
                                "%s does not load a library '%s', and the loader has none%s; if it "
                                "is loaded later, give its path",
                                program, name, hint);
    }
    *ret_path = TAKE(path);
    return NULL;
}

struct error *state_program_open_library(const char *program, const char *library,
                                         const struct source *source, size_t at,
                                         struct state_program *ret_program)
{
    _cleanup_free_ char *path = NULL;
    TRY(find(program, library, source, at, &path));
    _cleanup_error_ struct error *error = state_program_open(path, ret_program);
    if (error != NULL)
        return source_error(source, at, "%s", error_message(error));
    ret_program->library = true;
    return NULL;
}

struct error *state_program_open_for(const char *path, const struct state_fault *fault,
                                     const struct source *source, struct state_program *ret_program)
{
    return fault->library != NULL ? state_program_open_library(path, fault->library, source,
                                                               fault->place_at, ret_program)
                                  : state_program_open(path, ret_program);
}

uint64_t state_program_code_shift(const struct state_program *program, uint64_t address)
{
    Elf *elf = elf_object_handle(dwarf_module_object(program->module));
    const Elf64_Phdr *segments = elf64_getphdr(elf);
    size_t count;
    if (segments == NULL || elf_getphdrnum(elf, &count) != 0)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (segments[i].p_type == PT_LOAD && address >= segments[i].p_vaddr &&
            address - segments[i].p_vaddr < segments[i].p_filesz)
            return segments[i].p_vaddr - segments[i].p_offset;
    return 0;
}
