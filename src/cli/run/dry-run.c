// SPDX-License-Identifier: GPL-3.0-or-later
// See dry-run.h. Looks at the files as the loader would find them; what is loaded later with
// dlopen, or in programs the command starts, cannot be foreseen and is said so.
#include "cli/run/dry-run.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/suggestion.h"
#include "cli/command.h"
#include "report/json.h"
#include "report/text.h"
#include "trial/linkage.h"
#include "trial/program.h"

#include <string.h>
#include <unistd.h>

static const char *definer_name(const struct linkage *linkage, const struct linkage_import *import)
{
    if (import->definer == LINKAGE_UNDEFINED)
        return NULL;
    return linkage->modules.items[import->definer].path;
}

// A function nobody defines (weak, or of a library that is missing) cannot be called.
static bool covers(const struct scenario *scenario, size_t rule, const struct linkage *linkage,
                   const struct linkage_import *import)
{
    const char *definer = definer_name(linkage, import);
    return definer != NULL && scenario_rule_covers(scenario, rule, definer, import->name);
}

// A name of a file or in one, which may hold anything, between two texts.
static struct error *put_parts(struct buffer *text, const char *before, const char *name,
                               const char *after)
{
    TRY(buffer_append(text, before, strlen(before)));
    TRY(text_put(text, name, SIZE_MAX, 0));
    return buffer_append(text, after, strlen(after));
}

static struct error *put_module(const struct scenario *scenario, size_t rule,
                                const struct linkage *linkage, const struct linkage_module *module,
                                size_t *count, struct buffer *text)
{
    bool first = true;
    for (size_t i = 0; i < module->imports.count; i++) {
        const struct linkage_import *import = &module->imports.items[i];
        if (!covers(scenario, rule, linkage, import))
            continue;
        if (first)
            TRY(put_parts(text, "    ", module->path, " calls"));
        TRY(put_parts(text, first ? " " : ", ", import->name, ""));
        if (import->version != NULL)
            TRY(put_parts(text, "@", import->version, ""));
        TRY(put_parts(text, " (", file_base_name(definer_name(linkage, import)), ")"));
        first = false;
        (*count)++;
    }
    return first ? NULL : buffer_append(text, "\n", 1);
}

// " (did you mean 'read'?)" for a function that nobody imports.
static const char *meant(const char *function, const struct linkage *linkage,
                         char storage[SUGGESTION_SIZE])
{
    struct suggestion suggestion = suggestion_start(function, strlen(function));
    for (size_t i = 0; i < linkage->modules.count; i++)
        for (size_t j = 0; j < linkage->modules.items[i].imports.count; j++)
            suggestion_offer(&suggestion, linkage->modules.items[i].imports.items[j].name);
    return suggestion_text(&suggestion, storage);
}

static struct error *put_text(const struct scenario *scenario, const struct linkage *linkage,
                              struct buffer *text)
{
    size_t idle = 0;
    for (size_t rule = 0; rule < scenario_rule_count(scenario); rule++) {
        size_t count = 0;
        TRY(put_parts(text, "", scenario_rule(scenario, rule).text, "\n"));
        for (size_t i = 0; i < linkage->modules.count; i++)
            TRY(put_module(scenario, rule, linkage, &linkage->modules.items[i], &count, text));
        char storage[SUGGESTION_SIZE];
        if (count == 0)
            TRY(buffer_printf(text, "    WARNING: nothing the program starts with imports this%s\n",
                              meant(scenario_rule(scenario, rule).function, linkage, storage)));
        idle += count == 0;
    }
    TRY(put_parts(text, "\n", linkage->modules.items[0].path, ""));
    TRY(buffer_printf(text,
                      " and %zu %s looked at; modules loaded later and programs it starts are not "
                      "known before the run.\n",
                      linkage->modules.count - 1,
                      linkage->modules.count == 2 ? "library" : "libraries"));
    if (idle != 0)
        TRY(buffer_printf(text, "WARNING: %zu of %zu %s nothing at the start.\n", idle,
                          scenario_rule_count(scenario),
                          idle == 1 ? "rules matches" : "rules match"));
    return NULL;
}

static void add_calls(struct json_maker *maker, json_t *calls, const struct scenario *scenario,
                      size_t rule, const struct linkage *linkage)
{
    for (size_t i = 0; i < linkage->modules.count; i++) {
        const struct linkage_module *module = &linkage->modules.items[i];
        for (size_t j = 0; j < module->imports.count && !maker->failed; j++) {
            const struct linkage_import *import = &module->imports.items[j];
            if (!covers(scenario, rule, linkage, import))
                continue;
            json_t *call = json_add_object(maker, calls, NULL);
            json_add_string(maker, call, "module", module->path);
            json_add_string(maker, call, "function", import->name);
            if (import->version != NULL)
                json_add_string(maker, call, "version", import->version);
            json_add_string(maker, call, "library", definer_name(linkage, import));
        }
    }
}

static struct error *put_json(const struct scenario *scenario, const struct linkage *linkage,
                              struct buffer *text)
{
    _cleanup_(json_release) json_t *root = json_object();
    struct json_maker maker = {.failed = root == NULL};
    json_add_string(&maker, root, "ordeal", ORDEAL_VERSION);
    json_add_string(&maker, root, "program", linkage->modules.items[0].path);
    json_t *rules = json_add_array(&maker, root, "rules");
    for (size_t i = 0; i < scenario_rule_count(scenario) && !maker.failed; i++) {
        json_t *rule = json_add_object(&maker, rules, NULL);
        json_add_string(&maker, rule, "rule", scenario_rule(scenario, i).text);
        add_calls(&maker, json_add_array(&maker, rule, "calls"), scenario, i, linkage);
    }
    return json_write(&maker, root, text);
}

struct error *dry_run(const struct scenario *scenario, const char *command, bool json,
                      const char *file)
{
    TRY(program_check(command));
    _cleanup_(buffer_deinit) struct buffer plan = {0};
    TRY(scenario_compile(scenario, 0, &plan));
    _cleanup_(linkage_deinit) struct linkage linkage = {0};
    TRY(linkage_find(command, &linkage));
    _cleanup_(output_close) struct output output;
    TRY(output_open(file, STDOUT_FILENO, &output));
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(json ? put_json(scenario, &linkage, &text) : put_text(scenario, &linkage, &text));
    return output_put(&output, &text);
}
