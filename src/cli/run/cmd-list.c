// SPDX-License-Identifier: GPL-3.0-or-later
// ordeal list: lists all triggers, all injectors, the functions that a program imports, or the
// campaigns of a store.
#include "cli/registry.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "cli/run/list-campaigns.h"
#include "elf/object.h"
#include "injector/injector.h"
#include "report/json.h"
#include "report/text.h"
#include "scenario/trigger.h"
#include "trial/linkage.h"

#include <stdlib.h>
#include <string.h>

struct settings {
    bool json;
};

static const struct option options[] = {
    {"json", 0, OPTION_FLAG, NULL, "print as JSON", offsetof(struct settings, json)},
};

static struct error *triggers_text(struct buffer *text)
{
    for (size_t i = 0; i < scenario_trigger_count(); i++) {
        const struct scenario_trigger *trigger = scenario_trigger(i);
        TRY(buffer_printf(text, "%s%s\n", i == 0 ? "" : "\n", trigger->syntax));
        TRY(help_wrap(text, trigger->summary, 4, 0));
        if (trigger->description != NULL && *trigger->description != '\0')
            TRY(help_wrap(text, trigger->description, 4, 0));
        TRY(buffer_printf(text, "    Example: --inject '%s'\n", trigger->example));
    }
    return NULL;
}

static struct error *triggers_json(struct buffer *text)
{
    _cleanup_(json_release) json_t *root = json_array();
    struct json_builder builder = {.failed = root == NULL};
    for (size_t i = 0; i < scenario_trigger_count() && !builder.failed; i++) {
        const struct scenario_trigger *trigger = scenario_trigger(i);
        json_t *entry = json_add_object(&builder, root, NULL);
        json_add_string(&builder, entry, "name", trigger->name);
        json_add_string(&builder, entry, "syntax", trigger->syntax);
        json_add_string(&builder, entry, "summary", trigger->summary);
        if (trigger->description != NULL)
            json_add_string(&builder, entry, "description", trigger->description);
        json_add_string(&builder, entry, "example", trigger->example);
    }
    return json_write(&builder, root, text);
}

static struct error *injectors_text(struct buffer *text)
{
    for (size_t i = 0; injectors[i] != NULL; i++) {
        TRY(buffer_printf(text, "%s%s: %s\n", i == 0 ? "" : "\n", injectors[i]->name,
                          injectors[i]->summary));
        const struct injector_parameter *parameter = injectors[i]->parameters;
        for (; parameter->name != NULL; parameter++) {
            TRY(buffer_printf(text, "    %s: %s%s\n", parameter->name, parameter->values,
                              parameter->required ? " (required)" : ""));
            TRY(help_wrap(text, parameter->help, 8, 0));
        }
    }
    return NULL;
}

static struct error *injectors_json(struct buffer *text)
{
    _cleanup_(json_release) json_t *root = json_array();
    struct json_builder builder = {.failed = root == NULL};
    for (size_t i = 0; injectors[i] != NULL && !builder.failed; i++) {
        json_t *entry = json_add_object(&builder, root, NULL);
        json_add_string(&builder, entry, "name", injectors[i]->name);
        json_add_string(&builder, entry, "summary", injectors[i]->summary);
        json_t *list = json_add_array(&builder, entry, "parameters");
        const struct injector_parameter *parameter = injectors[i]->parameters;
        for (; parameter->name != NULL && !builder.failed; parameter++) {
            json_t *row = json_add_object(&builder, list, NULL);
            json_add_string(&builder, row, "name", parameter->name);
            json_add_string(&builder, row, "values", parameter->values);
            json_add_string(&builder, row, "help", parameter->help);
            json_add_bool(&builder, row, "required", parameter->required);
        }
    }
    return json_write(&builder, root, text);
}

// The path of the library that defines it, or "?".
static const char *defining_library(const struct linkage *linkage,
                                    const struct linkage_import *import)
{
    return import->definer == LINKAGE_UNDEFINED ? "?"
                                                : linkage->modules.items[import->definer].path;
}

// Names come from the file, so nothing of them may reach the terminal raw.
static struct error *put_heading(struct buffer *text, bool first, const char *path)
{
    TRY(buffer_append(text, "\n", first ? 0 : 1));
    TRY(text_put(text, path, SIZE_MAX, 0));
    return buffer_append(text, "\n", 1);
}

static struct error *put_import(struct buffer *text, const char *name, const char *library)
{
    TRY(buffer_append(text, "    ", 4));
    size_t start = text->size;
    TRY(text_put(text, name, SIZE_MAX, 0));
    size_t used = text->size - start;
    TRY(buffer_printf(text, "%*s", used < 33 ? (int)(33 - used) : 1, ""));
    TRY(text_put(text, file_base_name(library), SIZE_MAX, 0));
    return buffer_append(text, "\n", 1);
}

static struct error *functions_text(const struct linkage *linkage, struct buffer *text)
{
    for (size_t i = 0; i < linkage->modules.count; i++) {
        const struct linkage_module *module = &linkage->modules.items[i];
        if (module->imports.count != 0)
            TRY(put_heading(text, i == 0, module->path));
        for (size_t j = 0; j < module->imports.count; j++) {
            const struct linkage_import *import = &module->imports.items[j];
            TRY(put_import(text, import->name, defining_library(linkage, import)));
        }
    }
    return NULL;
}

static struct error *functions_json(const struct linkage *linkage, struct buffer *text)
{
    _cleanup_(json_release) json_t *root = json_array();
    struct json_builder builder = {.failed = root == NULL};
    for (size_t i = 0; i < linkage->modules.count; i++) {
        const struct linkage_module *module = &linkage->modules.items[i];
        for (size_t j = 0; j < module->imports.count && !builder.failed; j++) {
            const struct linkage_import *import = &module->imports.items[j];
            json_t *entry = json_add_object(&builder, root, NULL);
            json_add_string(&builder, entry, "module", module->path);
            json_add_string(&builder, entry, "function", import->name);
            if (import->version != NULL)
                json_add_string(&builder, entry, "version", import->version);
            if (import->definer != LINKAGE_UNDEFINED)
                json_add_string(&builder, entry, "library", defining_library(linkage, import));
        }
    }
    return json_write(&builder, root, text);
}

static int by_name(const void *a, const void *b)
{
    const struct linkage_import *one = a, *other = b;
    int order = strcmp(one->name, other->name);
    if (order != 0)
        return order;
    return strcmp(one->version != NULL ? one->version : "",
                  other->version != NULL ? other->version : "");
}

static void sort_imports(struct linkage *linkage)
{
    for (size_t i = 0; i < linkage->modules.count; i++) {
        struct linkage_module *module = &linkage->modules.items[i];
        if (module->imports.count != 0)
            qsort(module->imports.items, module->imports.count, sizeof *module->imports.items,
                  by_name);
    }
}

static struct error *list_functions(const struct settings *settings, const char *program,
                                    struct buffer *text)
{
    if (program == NULL)
        return error_new("functions of which program? usage: ordeal list functions PROGRAM");
    _cleanup_(linkage_deinit) struct linkage linkage = {0};
    TRY(linkage_find(program, &linkage));
    if (elf_object_facts(linkage.modules.items[0].object)->static_program)
        return error_new("%s is statically linked: it imports no functions; its system calls can "
                         "be made to fail, as in 'ordeal run -i \"syscall: read=-1/EIO\"'",
                         linkage.modules.items[0].path);
    sort_imports(&linkage);
    return settings->json ? functions_json(&linkage, text) : functions_text(&linkage, text);
}

static struct error *run(const void *data, char **operands, int *ret_status)
{
    const struct settings *settings = data;
    _cleanup_(buffer_deinit) struct buffer text = {0};
    bool functions = strcmp(operands[0], "functions") == 0;
    bool triggers = strcmp(operands[0], "triggers") == 0;
    bool campaigns = strcmp(operands[0], "campaigns") == 0;
    if (!functions && !triggers && !campaigns && strcmp(operands[0], "injectors") != 0)
        return error_new("'%s' cannot be listed; triggers, injectors, functions and campaigns can",
                         operands[0]);
    if (!functions && !campaigns && operands[1] != NULL)
        return error_new("'%s' is one too many; usage: ordeal list %s", operands[1], operands[0]);
    if (functions)
        TRY(list_functions(settings, operands[1], &text));
    else if (campaigns)
        TRY(list_campaigns(operands[1], settings->json, &text));
    else if (triggers)
        TRY(settings->json ? triggers_json(&text) : triggers_text(&text));
    else
        TRY(settings->json ? injectors_json(&text) : injectors_text(&text));
    return output_print(&text);
}

static const char *const words[] = {"triggers", "injectors", "functions", "campaigns", NULL};

const struct command cmd_list = {
    .name = "list",
    .summary = "List triggers, injectors, functions that can be intercepted, or campaigns.",
    .operands = "triggers | injectors | functions PROGRAM | campaigns [FILE.db]",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .least = 1,
    .most = 2,
    .words = words,
    .run = run,
};
