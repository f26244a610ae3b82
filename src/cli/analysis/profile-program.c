// SPDX-License-Identifier: GPL-3.0-or-later
// Finds the functions that a program imports, and the libraries that define them.
#include "cli/analysis/profile-program.h"

#include "base/cleanup.h"
#include "elf/object.h"

#include <stdlib.h>
#include <string.h>

void program_imports_deinit(struct program_imports *imports)
{
    linkage_deinit(&imports->linkage);
    ARRAY_DEINIT(&imports->items);
    ARRAY_DEINIT(&imports->libraries);
    ARRAY_DEINIT(&imports->undefined);
}

static int compare(const void *a, const void *b)
{
    const struct program_import *left = a, *right = b;
    int order = strcmp(left->path, right->path);
    return order != 0 ? order : strcmp(left->name, right->name);
}

// Weak symbols may stay undefined.
static bool is_weak(const struct elf_object *object, const char *name)
{
    for (size_t i = 0; i < elf_object_import_count(object); i++)
        if (strcmp(elf_object_import(object, i)->name, name) == 0)
            return elf_object_import(object, i)->weak;
    return false;
}

static struct error *add_import(struct program_imports *imports,
                                const struct linkage_import *import, bool *used)
{
    if (import->definer == LINKAGE_UNDEFINED) {
        if (is_weak(imports->linkage.modules.items[0].object, import->name))
            return NULL;
        const char **undefined = ARRAY_ADD(&imports->undefined);
        if (undefined == NULL)
            return error_no_memory();
        *undefined = import->name;
        return NULL;
    }
    struct program_import *added = ARRAY_ADD(&imports->items);
    if (added == NULL)
        return error_no_memory();
    *added = (struct program_import){.name = import->name,
                                     .version = import->version,
                                     .path = imports->linkage.modules.items[import->definer].path};
    used[import->definer] = true;
    return NULL;
}

static struct error *fill(const char *program, struct program_imports *imports)
{
    TRY(linkage_find(program, &imports->linkage));
    const struct linkage_module *module = &imports->linkage.modules.items[0];
    if (elf_object_facts(module->object)->static_program)
        return error_new("%s is statically linked: it imports no functions", module->path);
    _cleanup_free_ bool *used = calloc(imports->linkage.modules.count, sizeof *used);
    if (used == NULL)
        return error_no_memory();
    for (size_t i = 0; i < module->imports.count; i++)
        TRY(add_import(imports, &module->imports.items[i], used));
    for (size_t i = 1; i < imports->linkage.modules.count; i++) {
        const char **added = used[i] ? ARRAY_ADD(&imports->libraries) : NULL;
        if (used[i] && added == NULL)
            return error_no_memory();
        if (used[i])
            *added = imports->linkage.modules.items[i].path;
    }
    if (imports->items.count != 0)
        qsort(imports->items.items, imports->items.count, sizeof *imports->items.items, compare);
    return NULL;
}

struct error *program_imports_find(const char *program, struct program_imports *ret_imports)
{
    struct program_imports imports = {0};
    struct error *error = fill(program, &imports);
    if (error != NULL) {
        program_imports_deinit(&imports);
        return error;
    }
    *ret_imports = imports;
    return NULL;
}

bool program_imports_want(const void *data, const struct profile *profile,
                          const struct profile_function *function)
{
    const struct program_imports *imports = data;
    const char *version = profile_text(profile, function->version);
    struct program_import wanted = {.path = profile->path,
                                    .name = profile_text(profile, function->name)};
    if (imports->items.count == 0)
        return false;
    const struct program_import *found = bsearch(
        &wanted, imports->items.items, imports->items.count, sizeof *imports->items.items, compare);
    if (found == NULL)
        return false;
    if (found->version == NULL || version == NULL)
        return !function->old;
    return strcmp(found->version, version) == 0;
}
