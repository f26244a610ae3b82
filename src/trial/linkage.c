// SPDX-License-Identifier: GPL-3.0-or-later
// Opens the program and its libraries in the loader's search order and finds who defines each
// import: the first module in that order that exports the name.
#include "trial/linkage.h"

#include "base/cleanup.h"
#include "elf/object.h"

#include <stdlib.h>

struct linkage_closure {
    struct elf_program program;
    struct elf_closure libraries;
};

static struct error *add_module(struct linkage *linkage, const char *path,
                                struct elf_object *object)
{
    struct linkage_module *module = ARRAY_ADD(&linkage->modules);
    if (module == NULL) {
        elf_object_close(object);
        return error_no_memory();
    }
    module->path = path;
    module->object = object;
    return NULL;
}

size_t linkage_definer(const struct linkage *linkage, const char *name, const char *version)
{
    for (size_t i = 0; i < linkage->modules.count; i++)
        if (elf_object_exports(linkage->modules.items[i].object, name, version))
            return i;
    return LINKAGE_UNDEFINED;
}

static struct error *add_imports(struct linkage *linkage, struct linkage_module *module)
{
    for (size_t i = 0; i < elf_object_import_count(module->object); i++) {
        const struct elf_import *found = elf_object_import(module->object, i);
        struct linkage_import *import = ARRAY_ADD(&module->imports);
        if (import == NULL)
            return error_no_memory();
        import->name = found->name;
        import->version = found->version;
        import->definer = linkage_definer(linkage, found->name, found->version);
    }
    return NULL;
}

static struct error *find(const char *command, struct linkage *linkage)
{
    struct linkage_closure *closure = linkage->closure;
    TRY(elf_find_program(command, &closure->program));
    struct elf_object *object;
    TRY(elf_object_open(closure->program.path, &object));
    TRY(add_module(linkage, closure->program.path, object));
    TRY(elf_closure_find(object, &closure->libraries));
    for (size_t i = 0; i < closure->libraries.count; i++) {
        TRY(elf_object_open(closure->libraries.paths[i], &object));
        TRY(add_module(linkage, closure->libraries.paths[i], object));
    }
    for (size_t i = 0; i < linkage->modules.count; i++)
        TRY(add_imports(linkage, &linkage->modules.items[i]));
    return NULL;
}

struct error *linkage_find(const char *command, struct linkage *ret_coverage)
{
    struct linkage linkage = {.closure = calloc(1, sizeof *linkage.closure)};
    if (linkage.closure == NULL)
        return error_no_memory();
    struct error *error = find(command, &linkage);
    if (error != NULL)
        linkage_deinit(&linkage);
    else
        *ret_coverage = linkage;
    return error;
}

void linkage_deinit(struct linkage *linkage)
{
    for (size_t i = 0; i < linkage->modules.count; i++) {
        ARRAY_DEINIT(&linkage->modules.items[i].imports);
        elf_object_close(linkage->modules.items[i].object);
    }
    ARRAY_DEINIT(&linkage->modules);
    if (linkage->closure != NULL) {
        elf_program_deinit(&linkage->closure->program);
        elf_closure_deinit(&linkage->closure->libraries);
        free(linkage->closure);
    }
    *linkage = (struct linkage){0};
}
