// SPDX-License-Identifier: GPL-3.0-or-later
// Sets of libraries: opens modules with everything they need, and answers questions about their
// exports and imports.
#include "profile/library-internal.h"

#include "base/cleanup.h"
#include "elf/tables.h"
#include "profile/names.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void module_deinit(struct module *module)
{
    for (size_t i = 0; i < module->function_count && module->summaries != NULL; i++)
        summary_deinit(&module->summaries[i]);
    flow_image_close(module->image);
    elf_object_close(module->object);
    ARRAY_DEINIT(&module->exports);
    ARRAY_DEINIT(&module->scope);
    free(module->summaries);
    free(module->states);
    free(module->private_stores);
    free(module->import_functions);
    free(module->import_modules);
    free(module->hints);
    free(module->import_hints);
    free(module->path);
}

struct error *profile_set_new(const struct profile_options *options, struct profile_set **ret_set)
{
    struct profile_set *set = calloc(1, sizeof *set);
    if (set == NULL)
        return error_no_memory();
    set->options = *options;
    struct error *error = error_sets_init(&set->sets);
    if (error != NULL) {
        profile_set_free(set);
        return error;
    }
    *ret_set = set;
    return NULL;
}

void profile_set_free(struct profile_set *set)
{
    if (set == NULL)
        return;
    for (size_t i = 0; i < set->modules.count; i++)
        module_deinit(&set->modules.items[i]);
    ARRAY_DEINIT(&set->modules);
    error_sets_deinit(&set->sets);
    error_free(set->shortage);
    free(set);
}

void profile_set_note(struct profile_set *set, struct error *error)
{
    struct error *none = NULL;
    if (error == NULL || !error_is_shortage(error) ||
        !__atomic_compare_exchange_n(&set->shortage, &none, error, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        error_free(error);
}

struct error *profile_set_check(const struct profile_set *set)
{
    const struct error *shortage = __atomic_load_n(&set->shortage, __ATOMIC_ACQUIRE);
    if (shortage != NULL)
        return error_new("%s", error_message(shortage));
    for (size_t i = 0; i < set->modules.count; i++)
        TRY(elf_object_check(set->modules.items[i].object));
    return NULL;
}

const struct error_sets *profile_sets(const struct profile_set *set)
{
    return &set->sets;
}

// ---- modules ----

static struct error *add_export(void *data, const struct elf_dynamic_symbol *symbol)
{
    struct module *module = data;
    if (symbol->type == STT_TLS && symbol->defined && strcmp(symbol->name, "errno") == 0)
        module->error_offset = (int64_t)symbol->value;
    if (!symbol->defined || symbol->local || symbol->value == 0 ||
        (symbol->type != STT_FUNC && symbol->type != STT_GNU_IFUNC))
        return NULL;
    struct module_export *added = ARRAY_ADD(&module->exports);
    if (added == NULL)
        return error_no_memory();
    *added = (struct module_export){.name = symbol->name,
                                    .version = symbol->version,
                                    .address = symbol->value,
                                    .function = FLOW_NONE,
                                    .hidden_version = symbol->hidden_version,
                                    .indirect = symbol->type == STT_GNU_IFUNC};
    return NULL;
}

static int compare_exports(const void *a, const void *b)
{
    const struct module_export *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order != 0 ? order : left->hidden_version - right->hidden_version;
}

static struct error *add_module(struct profile_set *set, const char *path, size_t *ret_module)
{
    struct stat status = {0};
    bool there = stat(path, &status) == 0;
    for (size_t i = 0; i < set->modules.count; i++) {
        const struct module *known = &set->modules.items[i];
        if (strcmp(known->path, path) == 0 ||
            (there && known->device == status.st_dev && known->inode == status.st_ino)) {
            *ret_module = i;
            return NULL;
        }
    }
    struct module module = {
        .path = strdup(path), .error_offset = -1, .device = status.st_dev, .inode = status.st_ino};
    struct error *error =
        module.path == NULL ? error_no_memory() : elf_object_open(path, &module.object);
    if (error == NULL)
        error = elf_each_dynamic_symbol(module.object, add_export, &module);
    if (error == NULL && module.exports.count != 0)
        qsort(module.exports.items, module.exports.count, sizeof *module.exports.items,
              compare_exports);
    struct module *added = error == NULL ? ARRAY_ADD(&set->modules) : NULL;
    if (added == NULL) {
        module_deinit(&module);
        return error != NULL ? error : error_no_memory();
    }
    *added = module;
    added->digest = elf_object_digest(module.object);
    *ret_module = set->modules.count - 1;
    return NULL;
}

static struct error *add_to_scope(struct profile_set *set, size_t module, size_t other)
{
    size_t *added = ARRAY_ADD(&set->modules.items[module].scope);
    if (added == NULL)
        return error_no_memory();
    *added = other;
    return NULL;
}

// Finds the module itself and everything it needs, breadth first like the loader.
struct error *module_find_scope(struct profile_set *set, size_t module)
{
    if (set->modules.items[module].scope.count != 0)
        return NULL;
    TRY(add_to_scope(set, module, module));
    _cleanup_(elf_closure_deinit) struct elf_closure closure = {0};
    TRY(elf_closure_find(set->modules.items[module].object, &closure));
    for (size_t i = 0; i < closure.count; i++) {
        size_t other;
        // A library that is broken counts as missing, so that the others can be analysed.
        struct error *error = add_module(set, closure.paths[i], &other);
        if (error == NULL)
            TRY(add_to_scope(set, module, other));
        else
            profile_set_note(set, error);
    }
    return NULL;
}

struct error *profile_set_add(struct profile_set *set, const char *path, size_t *ret_module)
{
    TRY(add_module(set, path, ret_module));
    const struct elf_facts *facts = elf_object_facts(set->modules.items[*ret_module].object);
    if (facts->class_bits != 64 || facts->machine != EM_X86_64)
        return error_new("%s is for %s (%d bits); only x86-64 can be profiled", path,
                         facts->machine_name, facts->class_bits);
    return module_find_scope(set, *ret_module);
}

// A function that a resolver (STT_GNU_IFUNC) may choose. Any one will do: all must do the same.
static uint32_t resolved_function(const struct flow_image *image, uint32_t resolver)
{
    const struct flow_function *function = &image->functions.items[resolver];
    for (uint32_t i = 0; i < function->insn_count; i++) {
        const struct isa_insn *insn = &image->insns.items[function->first_insn + i];
        if (insn->kind != ISA_ADDRESS || insn->base != ISA_PC)
            continue;
        uint32_t chosen = flow_function_at(image, (uint64_t)insn->displacement);
        if (chosen != FLOW_NONE && chosen != resolver &&
            image->functions.items[chosen].start == (uint64_t)insn->displacement)
            return chosen;
    }
    return FLOW_NONE;
}

static void find_functions(struct module *module)
{
    for (size_t i = 0; i < module->exports.count; i++) {
        struct module_export *export = &module->exports.items[i];
        uint32_t function = flow_function_at(module->image, export->address);
        if (function == FLOW_NONE ||
            module->image->functions.items[function].start != export->address)
            continue;
        export->function = export->indirect ? resolved_function(module->image, function) : function;
        struct flow_function *chosen = export->indirect && export->function != FLOW_NONE
                                           ? &module->image->functions.items[export->function]
                                           : NULL;
        if (chosen != NULL && chosen->name == NULL) { // what a resolver chooses has no name itself
            chosen->name = export->name;
            chosen->name_size = (uint32_t)strlen(export->name);
        }
    }
}

// Marks functions that are called to report errors.
static void find_reporters(struct module *module)
{
    const struct flow_image *image = module->image;
    for (size_t i = 0; i < image->imports.count; i++)
        if ((module->import_hints[i] & HINT_USED) == 0 &&
            name_reports_error(image->imports.items[i].name))
            module->import_hints[i] |= HINT_REPORTS;
    for (size_t i = 0; i < image->functions.count; i++) {
        const struct flow_function *function = &image->functions.items[i];
        char name[64] = "";
        if (function->name == NULL || function->name_size >= sizeof name ||
            (module->hints[i] & (HINT_USED | HINT_CALLED)) != HINT_CALLED)
            continue;
        memcpy(name, function->name, function->name_size);
        if (name_reports_error(name))
            module->hints[i] |= HINT_REPORTS;
    }
}

static struct error *open_image(struct module *module)
{
    TRY(flow_image_open(module->object, &module->image));
    size_t functions = module->image->functions.count, imports = module->image->imports.count;
    module->summaries = calloc(functions + 1, sizeof *module->summaries);
    module->states = calloc(functions + 1, 1);
    module->private_stores = calloc(module->image->insns.count / 8 + 1, 1);
    module->import_functions = malloc((imports + 1) * sizeof *module->import_functions);
    module->import_modules = malloc((imports + 1) * sizeof *module->import_modules);
    module->hints = calloc(functions + 1, sizeof *module->hints);
    module->import_hints = calloc(imports + 1, sizeof *module->import_hints);
    if (module->summaries == NULL || module->states == NULL || module->private_stores == NULL ||
        module->import_functions == NULL || module->import_modules == NULL ||
        module->hints == NULL || module->import_hints == NULL)
        return error_no_memory();
    memset(module->import_modules, 0xff, (imports + 1) * sizeof *module->import_modules);
    memset(module->import_functions, 0xff, (imports + 1) * sizeof *module->import_functions);
    find_functions(module);
    hints_from_calls(module->image, module->hints, module->import_hints);
    find_reporters(module);
    module->function_count = functions;
    module->opened = true;
    return NULL;
}

struct error *module_open(struct module *module)
{
    if (module->opened)
        return NULL;
    struct error *error = open_image(module);
    module->broken = error != NULL;
    return error;
}

// Frees the summaries of functions that are not exported: other modules cannot call them.
static void forget_inner(struct module *module)
{
    bool *exported = calloc(module->function_count + 1, sizeof *exported);
    if (exported == NULL) // then all are kept
        return;
    for (size_t i = 0; i < module->exports.count; i++)
        if (module->exports.items[i].function != FLOW_NONE)
            exported[module->exports.items[i].function] = true;
    for (size_t i = 0; i < module->function_count; i++)
        if (exported[i])
            summary_shrink(&module->summaries[i]);
        else
            summary_deinit(&module->summaries[i]);
    free(exported);
}

void profile_set_release(struct profile_set *set, size_t number)
{
    struct module *module = &set->modules.items[number];
    if (module->opened)
        forget_inner(module);
    flow_image_close(module->image);
    module->image = NULL;
    if (module->object != NULL)
        elf_object_forget_bytes(module->object);
    free(TAKE(module->private_stores));
    free(TAKE(module->import_functions));
    free(TAKE(module->import_modules));
    free(TAKE(module->import_hints));
}

struct error *profile_set_analyse(struct profile_set *set, size_t number)
{
    TRY(module_open(&set->modules.items[number]));
    for (size_t i = 0; i < set->modules.items[number].exports.count; i++)
        TRY(module_analyse(
            set,
            (struct node){(uint32_t)number, set->modules.items[number].exports.items[i].function}));
    return NULL;
}

struct error *profile_each_export(const struct profile_set *set, size_t number,
                                  struct error *(*each)(void *data, const struct profile_export *),
                                  void *data)
{
    const struct module *module = &set->modules.items[number];
    for (size_t i = 0; i < module->exports.count; i++) {
        const struct module_export *export = &module->exports.items[i];
        struct profile_export shown = {.name = export->name,
                                       .version = export->version,
                                       .address = export->address,
                                       .old = export->hidden_version};
        if (export->function != FLOW_NONE) {
            shown.summary = &module->summaries[export->function];
            shown.hints = module->hints[export->function];
        }
        TRY(each(data, &shown));
    }
    return NULL;
}

struct error *profile_module_image(struct profile_set *set, size_t module,
                                   const struct flow_image **ret_image)
{
    TRY(module_open(&set->modules.items[module]));
    *ret_image = set->modules.items[module].image;
    return NULL;
}

const char *profile_module_path(const struct profile_set *set, size_t module)
{
    return set->modules.items[module].path;
}

struct error *profile_import_failures(struct profile_set *set, size_t number, uint32_t import,
                                      struct failures *ret_failures)
{
    struct node node;
    TRY(module_open(&set->modules.items[number]));
    TRY(module_node(set, (uint32_t)number, import | 0x80000000u, &node));
    const char *name = set->modules.items[number].image->imports.items[import].name;
    if (node.function == FLOW_NONE)
        return failures_of(NULL, 0, name, ret_failures);
    TRY(module_analyse(set, node));
    const struct module *module = &set->modules.items[node.module];
    return failures_of(&module->summaries[node.function], module->hints[node.function], name,
                       ret_failures);
}
