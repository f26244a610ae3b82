// SPDX-License-Identifier: GPL-3.0-or-later
// Paths are followed through the types of the function in which the runs differ.
#include "interface/path-name.h"

#include "base/cleanup.h"
#include "dwarf/way.h"
#include "interface/path.h"

#include <stdlib.h>

struct path_names {
    const struct interface_comparison *comparison;
    struct paths *paths;
    struct dwarf_module *modules[WORLD_LIBRARIES]; // NULL: cannot be read
    unsigned count;
};

void path_names_close(struct path_names *names)
{
    if (names == NULL)
        return;
    for (unsigned i = 0; i < names->count; i++)
        dwarf_module_close(names->modules[i]);
    paths_free(names->paths);
    free(names);
}

struct error *path_names_open(const struct interface_comparison *comparison,
                              struct path_names **ret_names)
{
    const struct world *world = items_world(comparison->good);
    struct path_names *names = calloc(1, sizeof *names);
    if (names == NULL)
        return error_no_memory();
    names->comparison = comparison;
    names->count = world->library_count;
    // The library may be another one now, or gone: then there are no names.
    for (unsigned i = 0; i < names->count; i++)
        error_free(dwarf_module_open(world->libraries[i], &names->modules[i]));
    struct error *error = paths_find_difference(comparison, &names->paths);
    if (error == NULL)
        *ret_names = names;
    else
        path_names_close(names);
    return error;
}

struct error *path_names_put(struct path_names *names,
                             const struct interface_difference *difference, struct buffer *text)
{
    bool is_bad = difference->change != CHANGE_OMITTED_STORE, known = false;
    const struct interface_comparison *comparison = names->comparison;
    const struct item *item = is_bad ? &difference->bad : &difference->good;
    const struct world *world = items_world(is_bad ? comparison->bad : comparison->good);
    if (item->kind != ITEM_STORE)
        return NULL;
    struct corruption_path path = paths_of(names->paths, world, item->target);
    if (path.root == CORRUPTION_NOWHERE)
        return NULL;
    uint32_t parameter = path.root == CORRUPTION_RESULT ? DWARF_WAY_RESULT : path.root;
    for (unsigned i = 0; i < names->count && !known; i++)
        if (names->modules[i] != NULL)
            TRY(dwarf_way_name(names->modules[i], comparison->function, parameter, path.offsets,
                               path.steps, text, &known));
    return NULL;
}
