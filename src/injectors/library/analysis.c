// SPDX-License-Identifier: GPL-3.0-or-later
// Loads the modules that made recorded calls, has `callsite` analyse them, and finds the analysed
// site of a recorded call.
#include "injectors/library/analysis.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/hash.h"
#include "callsite/danger.h"
#include "elf/object.h"
#include "injector/realism.h"
#include "profile/system-calls.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONGEST_INSTRUCTION 15

void analysis_deinit(struct analysis *analysis)
{
    callsite_modules_deinit(&analysis->modules);
    map_deinit(&analysis->by_path);
    *analysis = (struct analysis){0};
}

static bool is_twin(const char *path, const struct callsite_module *module)
{
    struct stat one, other;
    struct elf_object *object = NULL;
    if (strcmp(file_base_name(path), file_base_name(module->path)) != 0 || stat(path, &one) < 0 ||
        stat(module->path, &other) < 0 || one.st_size != other.st_size)
        return false;
    if (one.st_dev == other.st_dev && one.st_ino == other.st_ino)
        return true;
    struct error *error = elf_object_open_bare(path, &object);
    bool same =
        error == NULL && elf_object_digest(object) == elf_object_digest(module->image->object);
    elf_object_close(object);
    error_free(error);
    return same;
}

// A copy of a file, or another name for it, is the same module: git, for example, is installed
// twice.
static uint32_t find_twin(const struct analysis *analysis, const char *path)
{
    for (size_t i = 0; i < analysis->modules.items.count; i++)
        if (is_twin(path, &analysis->modules.items.items[i]))
            return (uint32_t)i;
    return MAP_NONE;
}

static struct error *add_module(struct analysis *analysis, const char *path)
{
    size_t before = analysis->modules.items.count;
    if (path[0] != '/' || map_has(&analysis->by_path, hash_text(path)))
        return NULL;
    uint32_t twin = find_twin(analysis, path);
    if (twin != MAP_NONE)
        return map_put(&analysis->by_path, hash_text(path), twin);
    struct error *error = callsite_modules_add(&analysis->modules, path);
    if (error == error_no_memory() || analysis->modules.items.count == before) {
        if (error == error_no_memory())
            return error;
        error_free(error);
        return map_put(&analysis->by_path, hash_text(path), MAP_NONE - 1);
    }
    if (error != NULL)
        return error;
    return map_put(&analysis->by_path, hash_text(path), (uint32_t)before);
}

struct error *analysis_make(struct analysis *analysis, const struct recording *recording)
{
    const struct profile_options options = {.system_call = system_call_errors,
                                            .is_primitive = realism_forces};
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    TRY(profile_set_new(&options, &analysis->modules.set));
    for (size_t i = 0; i < recording->sites.count; i++)
        TRY(add_module(analysis, recording->sites.items[i].module));
    return callsite_modules_find(&analysis->modules, processors > 0 ? (unsigned)processors : 1);
}

static const struct callsite_module *find_module(const struct analysis *analysis, const char *path)
{
    uint32_t index = map_find(&analysis->by_path, hash_text(path));
    if (index >= analysis->modules.items.count ||
        strcmp(file_base_name(analysis->modules.items.items[index].path), file_base_name(path)) !=
            0)
        return NULL;
    return &analysis->modules.items.items[index];
}

// Finds the call that returns to an address. Sites are sorted by the address of the call.
static const struct site *find_site(const struct sites *sites, uint64_t after)
{
    size_t low = 0, high = sites->items.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sites->items.items[middle].address < after)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low > 0 && sites->items.items[low - 1].address + LONGEST_INSTRUCTION >= after; low--)
        if (sites->items.items[low - 1].after == after &&
            sites->items.items[low - 1].wrapper == FLOW_NONE)
            return &sites->items.items[low - 1];
    return NULL;
}

static const struct callsite_import *find_import(const struct callsite_module *module,
                                                 const char *function)
{
    for (size_t i = 0; i < module->imports.count; i++)
        if (strcmp(module->image->imports.items[i].name, function) == 0)
            return &module->imports.items[i];
    return NULL;
}

bool analysis_is_counter(const char *name, size_t size)
{
    static const char *const prefixes[] = {"gcov_", "__gcov_"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (size >= strlen(prefixes[i]) && memcmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static bool is_counter(const struct flow_image *image, uint64_t address)
{
    uint32_t number = flow_function_at(image, address);
    const struct flow_function *function =
        number != FLOW_NONE ? &image->functions.items[number] : NULL;
    return function != NULL && function->name != NULL &&
           analysis_is_counter(function->name, function->name_size);
}

struct analysed analysis_find(const struct analysis *analysis, const struct recorded_site *site,
                              const char *function)
{
    struct analysed found = {.class = SITE_UNKNOWN};
    const struct callsite_module *module = find_module(analysis, site->module);
    if (module == NULL)
        return found;
    found.import = find_import(module, function);
    found.counts = site->offset > 0 && is_counter(module->image, site->offset - 1);
    const struct site *call = find_site(&module->sites, site->offset);
    if (call == NULL)
        return found;
    const struct site_callee *callee = &module->sites.callees.items[call->callee];
    // The analysis names another function. The file is not the one that ran, or the analysis took a
    // function pointer for another one.
    if (strcmp(callee->name, function) != 0)
        return found;
    found.site = call;
    found.image = module->image;
    found.callee = callee;
    found.class = call->class;
    found.danger = site_danger(call, callee);
    found.guards = call->role == SITE_ROLE_GUARDS;
    return found;
}
