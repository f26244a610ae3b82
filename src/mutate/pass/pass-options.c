// SPDX-License-Identifier: GPL-3.0-or-later
// Parses the pass's options. They are one text, because the compiler passes on one.
#include "mutate/pass/pass.h"

#include "base/cleanup.h"
#include "mutate/pass/source.h"
#include "mutate/pass/types.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void add_type(struct pass_options *options, const struct fault_type *type)
{
    if (type->version != ORDEAL_FAULT_VERSION)
        pass_must(error_new("fault type '%s' is made for version %u of the interface, this is %u",
                            type->name, type->version, ORDEAL_FAULT_VERSION));
    const struct fault_type **slot = ARRAY_ADD(&options->types);
    if (slot == NULL)
        pass_must(error_no_memory());
    else
        *slot = type;
}

// Loads fault types from a shared object with a table of them. It stays loaded as long as the
// compiler runs.
static void load_types(struct pass_options *options, const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    if (library == NULL)
        pass_must(error_new("cannot load fault types: %s", dlerror()));
    const struct fault_type *const *types = dlsym(library, "ordeal_fault_types");
    if (types == NULL)
        pass_must(error_new("%s does not export ordeal_fault_types", path));
    for (; *types != NULL; types++)
        add_type(options, *types);
}

bool pass_is_named(const char *list, const char *name)
{
    size_t size = strlen(name);
    for (const char *at = list; at != NULL && *at != '\0';) {
        const char *end = strchrnul(at, ',');
        if ((size_t)(end - at) == size && strncmp(at, name, size) == 0)
            return true;
        at = *end == ',' ? end + 1 : end;
    }
    return false;
}

static void keep_types(struct pass_options *options, const char *list)
{
    size_t kept = 0;
    for (size_t i = 0; i < options->types.count; i++)
        if (pass_is_named(list, options->types.items[i]->name))
            options->types.items[kept++] = options->types.items[i];
    options->types.count = kept;
}

static enum map_decide parse_decide(const char *text)
{
    static const char *const names[] = {
        [MAP_WORLDS] = "worlds", [MAP_MARKERS] = "markers", [MAP_VARIABLE] = "variable"};
    for (int i = 0; i < 3; i++)
        if (strcmp(names[i], text) == 0)
            return (enum map_decide)i;
    pass_must(error_new("--decide takes worlds, markers or variable, not '%s'", text));
    return MAP_WORLDS;
}

static void parse_one(struct pass_options *options, char *name, const char **types)
{
    char *value = strchr(name, '=');
    if (value != NULL)
        *value++ = '\0';
    else
        value = name + strlen(name);
    if (strcmp(name, "decide") == 0)
        options->decide = parse_decide(value);
    else if (strcmp(name, "clones") == 0)
        options->clones_per_block = (unsigned)strtoul(value, NULL, 10);
    else if (strcmp(name, "limit") == 0)
        options->limit = (unsigned)strtoul(value, NULL, 10);
    else if (strcmp(name, "budget") == 0)
        options->budget = (unsigned)strtoul(value, NULL, 10), options->fits = false;
    else if (strcmp(name, "least-budget") == 0)
        options->least_budget = (unsigned)strtoul(value, NULL, 10);
    else if (strcmp(name, "sections") == 0)
        options->sections = true;
    else if (strcmp(name, "scattered") == 0)
        options->scattered = true;
    else if (strcmp(name, "seed") == 0)
        options->seed = strtoull(value, NULL, 10);
    else if (strcmp(name, "lto") == 0)
        options->lto = true;
    else if (strcmp(name, "strip-debug") == 0)
        options->strip_debug = true;
    else if (strcmp(name, "strip-names") == 0)
        options->strip_names = true;
    else if (strcmp(name, "keep-ir") == 0)
        options->keep_ir = true;
    else if (strcmp(name, "system-headers") == 0)
        options->system_headers = true;
    else if (strcmp(name, "counters") == 0)
        options->counters = true;
    else if (strcmp(name, "plugin") == 0)
        load_types(options, value);
    else if (strcmp(name, "table") == 0)
        options->table = value;
    else if (strcmp(name, "skip") == 0)
        options->skip = value;
    else if (strcmp(name, "loops") == 0)
        options->loops = value;
    else if (strcmp(name, "types") == 0)
        *types = value;
    else if (*name != '\0')
        pass_must(error_new("the pass has no option '%s'; tool and plug-in differ", name));
}

void pass_options_parse(const char *text, struct pass_options *ret_options)
{
    *ret_options = (struct pass_options){
        .limit = 2000, .budget = 35, .least_budget = 60, .fits = true, .seed = 1};
    field_types_fill();
    for (size_t i = 0; fault_types[i] != NULL; i++)
        add_type(ret_options, fault_types[i]);
    char *copy = ret_options->text = strdup(text);
    if (copy == NULL)
        pass_must(error_no_memory());
    const char *types = NULL;
    char *rest = copy, *word;
    while ((word = strsep(&rest, ";")) != NULL)
        parse_one(ret_options, word, &types);
    if (types != NULL)
        keep_types(ret_options, types);
}

void pass_options_deinit(struct pass_options *options)
{
    ARRAY_DEINIT(&options->types);
    free(options->text);
}
