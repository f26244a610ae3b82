// SPDX-License-Identifier: GPL-3.0-or-later
// See library.h. Functions are looked at after those they call, across modules; where calls go in a
// circle, the one met first is looked at without what it gets from the circle.
#include "profile/library.h"

#include "base/cleanup.h"
#include "elf/object.h"
#include "elf/symbols.h"
#include "elf/tables.h"
#include "flow/image.h"
#include "profile/search.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct export
{
    const char *name, *version;
    uint64_t address;
    uint32_t function; // or FLOW_NONE
    bool hidden_version, indirect;
};

enum state { STATE_NEW, STATE_OPEN, STATE_DONE };

struct module {
    char *path;
    struct elf_object *object;
    struct flow_image *image;     // NULL until it is needed
    ARRAY(struct export) exports; // by name
    ARRAY(size_t) scope;          // modules searched for its imports, in order
    struct summary *summaries;    // by function
    unsigned char *states;        // by function
    uint8_t *private_stores;
    uint32_t *import_functions; // by import: function of the module below; FLOW_NONE: unknown
    uint32_t *import_modules;   // FLOW_NONE: not looked up yet
    uint16_t *hints, *import_hints;
    int64_t error_offset; // errno's place in its thread storage, -1 if it has none
};

struct profile_set {
    struct profile_options options;
    ARRAY(struct module) modules;
    struct error_sets sets;
};

static void module_deinit(struct module *module)
{
    if (module->image != NULL)
        for (size_t i = 0; i < module->image->functions.count; i++)
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
    free(set);
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
    struct export *added = ARRAY_ADD(&module->exports);
    if (added == NULL)
        return error_no_memory();
    *added = (struct export){.name = symbol->name,
                             .version = symbol->version,
                             .address = symbol->value,
                             .function = FLOW_NONE,
                             .hidden_version = symbol->hidden_version,
                             .indirect = symbol->type == STT_GNU_IFUNC};
    return NULL;
}

static int compare_exports(const void *a, const void *b)
{
    const struct export *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order != 0 ? order : left->hidden_version - right->hidden_version;
}

static struct error *add_module(struct profile_set *set, const char *path, size_t *ret_module)
{
    for (size_t i = 0; i < set->modules.count; i++)
        if (strcmp(set->modules.items[i].path, path) == 0) {
            *ret_module = i;
            return NULL;
        }
    struct module module = {.path = strdup(path), .error_offset = -1};
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

// The module itself and everything it needs, breadth first as the loader does.
static struct error *find_scope(struct profile_set *set, size_t module)
{
    if (set->modules.items[module].scope.count != 0)
        return NULL;
    TRY(add_to_scope(set, module, module));
    _cleanup_(elf_closure_deinit) struct elf_closure closure = {0};
    TRY(elf_closure_find(set->modules.items[module].object, &closure));
    for (size_t i = 0; i < closure.count; i++) {
        size_t other;
        TRY(add_module(set, closure.paths[i], &other));
        TRY(add_to_scope(set, module, other));
    }
    return NULL;
}

struct error *profile_set_add(struct profile_set *set, const char *path, size_t *ret_module)
{
    TRY(add_module(set, path, ret_module));
    return find_scope(set, *ret_module);
}

// The function that a resolver (STT_GNU_IFUNC) chooses: any one, since all have to do the same.
static uint32_t resolved_function(const struct flow_image *image, uint32_t resolver)
{
    const struct flow_function *function = &image->functions.items[resolver];
    for (uint32_t i = 0; i < function->fact_count; i++) {
        const struct isa_fact *fact = &image->facts.items[function->first_fact + i];
        if (fact->kind != ISA_ADDRESS || fact->base != ISA_PC)
            continue;
        uint32_t chosen = flow_function_at(image, (uint64_t)fact->displacement);
        if (chosen != FLOW_NONE && chosen != resolver &&
            image->functions.items[chosen].start == (uint64_t)fact->displacement)
            return chosen;
    }
    return FLOW_NONE;
}

static void find_functions(struct module *module)
{
    for (size_t i = 0; i < module->exports.count; i++) {
        struct export *export = &module->exports.items[i];
        uint32_t function = flow_function_at(module->image, export->address);
        if (function == FLOW_NONE ||
            module->image->functions.items[function].start != export->address)
            continue;
        export->function = export->indirect ? resolved_function(module->image, function) : function;
    }
}

static struct error *open_image(struct module *module)
{
    if (module->image != NULL)
        return NULL;
    TRY(flow_image_open(module->object, &module->image));
    size_t functions = module->image->functions.count, imports = module->image->imports.count;
    module->summaries = calloc(functions + 1, sizeof *module->summaries);
    module->states = calloc(functions + 1, 1);
    module->private_stores = calloc(module->image->facts.count / 8 + 1, 1);
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
    return NULL;
}

// ---- who is called ----

static struct export *find_export(struct module *module, const char *name, const char *version)
{
    size_t low = 0, high = module->exports.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(module->exports.items[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < module->exports.count && strcmp(module->exports.items[low].name, name) == 0;
         low++) {
        struct export *export = &module->exports.items[low];
        if (version == NULL ? !export->hidden_version
                            : export->version == NULL || strcmp(export->version, version) == 0)
            return export;
    }
    return NULL;
}

static struct error *look_up(struct profile_set *set, size_t number, uint32_t import)
{
    struct module *module = &set->modules.items[number];
    const struct flow_import *wanted = &module->image->imports.items[import];
    TRY(find_scope(set, number));
    for (size_t i = 0; i < set->modules.items[number].scope.count; i++) {
        size_t other = set->modules.items[number].scope.items[i];
        if (find_export(&set->modules.items[other], wanted->name, wanted->version) == NULL)
            continue;
        TRY(open_image(&set->modules.items[other]));
        struct export *found =
            find_export(&set->modules.items[other], wanted->name, wanted->version);
        set->modules.items[number].import_modules[import] = (uint32_t)other;
        set->modules.items[number].import_functions[import] = found->function;
        if (found->function != FLOW_NONE)
            set->modules.items[other].hints[found->function] |=
                set->modules.items[number].import_hints[import];
        return NULL;
    }
    set->modules.items[number].import_modules[import] = (uint32_t)number; // looked up in vain
    return NULL;
}

struct node {
    uint32_t module, function;
};

// The function behind a callee; its function is FLOW_NONE if that is not known.
static struct error *node_of(struct profile_set *set, uint32_t number, uint32_t callee,
                             struct node *ret_node)
{
    struct module *module = &set->modules.items[number];
    *ret_node = (struct node){number, FLOW_NONE};
    if (callee == FLOW_NONE)
        return NULL;
    if (!flow_callee_is_import(callee)) {
        ret_node->function = module->image->functions.items[callee].owner;
        return NULL;
    }
    uint32_t import = flow_callee_import(callee);
    if (module->import_modules[import] == FLOW_NONE)
        TRY(look_up(set, number, import));
    module = &set->modules.items[number];
    *ret_node = (struct node){module->import_modules[import], module->import_functions[import]};
    return NULL;
}

// ---- what the search asks ----

struct asking {
    struct profile_set *set;
    uint32_t module;
};

static const struct summary *callee_summary(void *data, uint32_t callee)
{
    struct asking *asking = data;
    struct node node;
    // Every callee was looked up before the search began, so nothing can fail here.
    struct error *error = node_of(asking->set, asking->module, callee, &node);
    if (error != NULL || node.function == FLOW_NONE) {
        error_free(error);
        return NULL;
    }
    const struct module *module = &asking->set->modules.items[node.module];
    return module->states[node.function] == STATE_DONE ? &module->summaries[node.function] : NULL;
}

static unsigned callee_hints(void *data, uint32_t callee)
{
    struct asking *asking = data;
    struct node node;
    struct error *error = node_of(asking->set, asking->module, callee, &node);
    if (error != NULL || node.function == FLOW_NONE) {
        error_free(error);
        return 0;
    }
    return asking->set->modules.items[node.module].hints[node.function];
}

static const struct error_set *call_errors(void *data, int64_t number)
{
    const struct asking *asking = data;
    const struct profile_options *options = &asking->set->options;
    return options->system_call != NULL ? options->system_call(options->system_call_data, number)
                                        : NULL;
}

static bool is_error_slot(void *data, const struct flow_slot *slot)
{
    const struct asking *asking = data;
    if (slot->type != R_X86_64_TPOFF64)
        return false;
    if (slot->symbol != NULL)
        return strcmp(slot->symbol, "errno") == 0;
    int64_t offset = asking->set->modules.items[asking->module].error_offset;
    return offset >= 0 && slot->addend == offset;
}

static struct error *search(struct profile_set *set, struct node node)
{
    struct module *module = &set->modules.items[node.module];
    struct asking asking = {set, node.module};
    const struct search_world world = {.sets = &set->sets,
                                       .callee = callee_summary,
                                       .system_call = call_errors,
                                       .is_error_slot = is_error_slot,
                                       .data = &asking,
                                       .private_stores = module->private_stores};
    TRY(search_function(module->image, node.function, &world, &module->summaries[node.function]));
    module->hints[node.function] |=
        (uint16_t)hints_from_body(module->image, node.function, callee_hints, &asking);
    module->states[node.function] = STATE_DONE;
    return NULL;
}

// ---- the order ----

struct visit {
    struct node node;
    uint32_t range, block; // the next call to look for
};

struct visits {
    ARRAY(struct visit) items;
};

static void visits_deinit(struct visits *visits)
{
    ARRAY_DEINIT(&visits->items);
}

static struct error *enter(struct profile_set *set, struct visits *visits, struct node node)
{
    struct module *module = &set->modules.items[node.module];
    if (node.function == FLOW_NONE || module->states[node.function] != STATE_NEW)
        return NULL;
    module->states[node.function] = STATE_OPEN;
    struct visit *visit = ARRAY_ADD(&visits->items);
    if (visit == NULL)
        return error_no_memory();
    *visit = (struct visit){.node = node, .range = node.function};
    return NULL;
}

// The next call of the function that is visited; false if there is none left.
static bool next_call(const struct profile_set *set, struct visit *visit, uint32_t *ret_callee)
{
    const struct flow_image *image = set->modules.items[visit->node.module].image;
    while (visit->range != FLOW_NONE) {
        const struct flow_function *range = &image->functions.items[visit->range];
        while (visit->block < range->block_count) {
            *ret_callee = image->blocks.items[range->first_block + visit->block++].callee;
            if (*ret_callee != FLOW_NONE)
                return true;
        }
        visit->range = range->next_part;
        visit->block = 0;
    }
    return false;
}

static struct error *analyse_from(struct profile_set *set, struct visits *visits, struct node node)
{
    TRY(enter(set, visits, node));
    while (visits->items.count != 0) {
        struct visit *visit = &visits->items.items[visits->items.count - 1];
        uint32_t callee;
        if (next_call(set, visit, &callee)) {
            struct node called;
            TRY(node_of(set, visit->node.module, callee, &called));
            TRY(enter(set, visits, called));
            continue;
        }
        struct node done = visit->node;
        visits->items.count--;
        TRY(search(set, done));
    }
    return NULL;
}

struct error *profile_set_analyse(struct profile_set *set, size_t number)
{
    TRY(open_image(&set->modules.items[number]));
    _cleanup_(visits_deinit) struct visits visits = {0};
    for (size_t i = 0; i < set->modules.items[number].exports.count; i++)
        TRY(analyse_from(
            set, &visits,
            (struct node){(uint32_t)number, set->modules.items[number].exports.items[i].function}));
    return NULL;
}

struct error *profile_each_export(const struct profile_set *set, size_t number,
                                  struct error *(*each)(void *data, const struct profile_export *),
                                  void *data)
{
    const struct module *module = &set->modules.items[number];
    for (size_t i = 0; i < module->exports.count; i++) {
        const struct export *export = &module->exports.items[i];
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
    TRY(open_image(&set->modules.items[module]));
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
    _cleanup_(visits_deinit) struct visits visits = {0};
    struct node node;
    TRY(open_image(&set->modules.items[number]));
    TRY(node_of(set, (uint32_t)number, import | 0x80000000u, &node));
    if (node.function == FLOW_NONE)
        return failures_of(NULL, 0, ret_failures);
    TRY(analyse_from(set, &visits, node));
    const struct module *module = &set->modules.items[node.module];
    return failures_of(&module->summaries[node.function], module->hints[node.function],
                       ret_failures);
}
