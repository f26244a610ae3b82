// SPDX-License-Identifier: GPL-3.0-or-later
// See coverage.h. The loader binds an import to the first module in its search order that exports
// the name; the closure is in that order.
#include "trial/coverage.h"

#include "base/cleanup.h"
#include "elf/object.h"

#include <stdlib.h>

struct coverage_closure {
    struct elf_program program;
    struct elf_closure libraries;
};

static struct error *add_module(struct coverage *coverage, const char *path,
                                struct elf_object *object)
{
    struct coverage_module *module = ARRAY_ADD(&coverage->modules);
    if (module == NULL) {
        elf_object_close(object);
        return error_no_memory();
    }
    module->path = path;
    module->object = object;
    return NULL;
}

size_t coverage_definer(const struct coverage *coverage, const char *name, const char *version)
{
    for (size_t i = 0; i < coverage->modules.count; i++)
        if (elf_object_exports(coverage->modules.items[i].object, name, version))
            return i;
    return COVERAGE_NOWHERE;
}

static struct error *add_imports(struct coverage *coverage, struct coverage_module *module)
{
    for (size_t i = 0; i < elf_object_import_count(module->object); i++) {
        const struct elf_import *found = elf_object_import(module->object, i);
        struct coverage_import *import = ARRAY_ADD(&module->imports);
        if (import == NULL)
            return error_no_memory();
        import->name = found->name;
        import->version = found->version;
        import->definer = coverage_definer(coverage, found->name, found->version);
    }
    return NULL;
}

static struct error *find(const char *command, struct coverage *coverage)
{
    struct coverage_closure *closure = coverage->closure;
    TRY(elf_find_program(command, &closure->program));
    struct elf_object *object;
    TRY(elf_object_open(closure->program.path, &object));
    TRY(add_module(coverage, closure->program.path, object));
    TRY(elf_closure_find(object, &closure->libraries));
    for (size_t i = 0; i < closure->libraries.count; i++) {
        TRY(elf_object_open(closure->libraries.paths[i], &object));
        TRY(add_module(coverage, closure->libraries.paths[i], object));
    }
    for (size_t i = 0; i < coverage->modules.count; i++)
        TRY(add_imports(coverage, &coverage->modules.items[i]));
    return NULL;
}

struct error *coverage_find(const char *command, struct coverage *ret_coverage)
{
    struct coverage coverage = {.closure = calloc(1, sizeof *coverage.closure)};
    if (coverage.closure == NULL)
        return error_no_memory();
    struct error *error = find(command, &coverage);
    if (error != NULL)
        coverage_deinit(&coverage);
    else
        *ret_coverage = coverage;
    return error;
}

void coverage_deinit(struct coverage *coverage)
{
    for (size_t i = 0; i < coverage->modules.count; i++) {
        ARRAY_DEINIT(&coverage->modules.items[i].imports);
        elf_object_close(coverage->modules.items[i].object);
    }
    ARRAY_DEINIT(&coverage->modules);
    if (coverage->closure != NULL) {
        elf_program_deinit(&coverage->closure->program);
        elf_closure_deinit(&coverage->closure->libraries);
        free(coverage->closure);
    }
    *coverage = (struct coverage){0};
}
