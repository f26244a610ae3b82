// SPDX-License-Identifier: GPL-3.0-or-later
// Shows which calls a scenario would intercept. Reads the files that the loader would find. It
// cannot know what is loaded later with dlopen() or by programs that the command starts, and says
// so.
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

static const char *defining_library(const struct linkage *linkage,
                                    const struct linkage_import *import)
{
    if (import->definer == LINKAGE_UNDEFINED)
        return NULL;
    return linkage->modules.items[import->definer].path;
}

// A function that nobody defines (weak, or from a missing library) cannot be called.
static bool covers(const struct scenario *scenario, size_t rule, const struct linkage *linkage,
                   const struct linkage_import *import)
{
    const char *definer = defining_library(linkage, import);
    return definer != NULL && scenario_rule_covers(scenario, rule, definer, import->name);
}

// Writes a name between two texts. The name comes from a file and may hold anything.
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
        TRY(put_parts(text, " (", file_base_name(defining_library(linkage, import)), ")"));
        first = false;
        (*count)++;
    }
    return first ? NULL : buffer_append(text, "\n", 1);
}

// Returns " (did you mean 'read'?)" for a function that nobody imports.
static const char *suggestion_for(const char *function, const struct linkage *linkage,
                                  char storage[SUGGESTION_SIZE])
{
    struct suggestion suggestion = suggestion_start(function, strlen(function));
    for (size_t i = 0; i < linkage->modules.count; i++)
        for (size_t j = 0; j < linkage->modules.items[i].imports.count; j++)
            suggestion_offer(&suggestion, linkage->modules.items[i].imports.items[j].name);
    return suggestion_text(&suggestion, storage);
}

static bool is_used(const struct scenario *scenario, const struct linkage *linkage, size_t rule)
{
    for (size_t i = 0; i < linkage->modules.count; i++) {
        const struct linkage_module *module = &linkage->modules.items[i];
        for (size_t j = 0; j < module->imports.count; j++)
            if (covers(scenario, rule, linkage, &module->imports.items[j]))
                return true;
    }
    return false;
}

// Whether the rule is the first of a class no function of which is imported; the last of them.
static bool is_idle_class(const struct scenario *scenario, const struct linkage *linkage,
                          size_t rule, size_t *ret_last)
{
    const char *class_text = scenario_rule(scenario, rule).class_text;
    if (class_text == NULL ||
        (rule > 0 && scenario_rule(scenario, rule - 1).class_text == class_text))
        return false;
    for (; rule < scenario_rule_count(scenario) &&
           scenario_rule(scenario, rule).class_text == class_text;
         rule++) {
        if (is_used(scenario, linkage, rule))
            return false;
        *ret_last = rule;
    }
    return true;
}

static struct error *put_text(const struct scenario *scenario, const struct linkage *linkage,
                              struct buffer *text)
{
    size_t idle = 0;
    for (size_t rule = 0; rule < scenario_rule_count(scenario); rule++) {
        size_t count = 0, end = rule;
        if (is_idle_class(scenario, linkage, rule, &end)) {
            TRY(put_parts(text, "", scenario_rule(scenario, rule).class_text, "\n"));
            TRY(buffer_printf(text, "    WARNING: nothing the program starts with imports a "
                                    "function of this class\n"));
            idle++;
            rule = end;
            continue;
        }
        if (scenario_rule(scenario, rule).class_text != NULL && !is_used(scenario, linkage, rule))
            continue;
        TRY(put_parts(text, "", scenario_rule(scenario, rule).text, "\n"));
        for (size_t i = 0; i < linkage->modules.count; i++)
            TRY(put_module(scenario, rule, linkage, &linkage->modules.items[i], &count, text));
        char storage[SUGGESTION_SIZE];
        if (count == 0)
            TRY(buffer_printf(
                text, "    WARNING: nothing the program starts with imports this%s\n",
                suggestion_for(scenario_rule(scenario, rule).function, linkage, storage)));
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

static void add_calls(struct json_builder *builder, json_t *calls, const struct scenario *scenario,
                      size_t rule, const struct linkage *linkage)
{
    for (size_t i = 0; i < linkage->modules.count; i++) {
        const struct linkage_module *module = &linkage->modules.items[i];
        for (size_t j = 0; j < module->imports.count && !builder->failed; j++) {
            const struct linkage_import *import = &module->imports.items[j];
            if (!covers(scenario, rule, linkage, import))
                continue;
            json_t *call = json_add_object(builder, calls, NULL);
            json_add_string(builder, call, "module", module->path);
            json_add_string(builder, call, "function", import->name);
            if (import->version != NULL)
                json_add_string(builder, call, "version", import->version);
            json_add_string(builder, call, "library", defining_library(linkage, import));
        }
    }
}

static struct error *put_json(const struct scenario *scenario, const struct linkage *linkage,
                              struct buffer *text)
{
    _cleanup_(json_release) json_t *root = json_object();
    struct json_builder builder = {.failed = root == NULL};
    json_add_string(&builder, root, "ordeal", ORDEAL_VERSION);
    json_add_string(&builder, root, "program", linkage->modules.items[0].path);
    json_t *rules = json_add_array(&builder, root, "rules");
    for (size_t i = 0; i < scenario_rule_count(scenario) && !builder.failed; i++) {
        json_t *rule = json_add_object(&builder, rules, NULL);
        json_add_string(&builder, rule, "rule", scenario_rule(scenario, i).text);
        add_calls(&builder, json_add_array(&builder, rule, "calls"), scenario, i, linkage);
    }
    return json_write(&builder, root, text);
}

struct error *dry_run(const struct scenario *scenario, const char *command, bool json,
                      const char *file)
{
    if (scenario_names_system_calls(scenario) && !scenario_names_functions(scenario))
        return error_new("--dry-run shows which library calls are intercepted, but all rules are "
                         "about system calls");
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
