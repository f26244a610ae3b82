// SPDX-License-Identifier: GPL-3.0-or-later
// Makes scenarios, answers questions about their rules, and keeps the tables that rules share.
#include "scenario/model.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "wire/name-regex.h"
#include "wire/region.h"
#include "wire/traits.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

struct error *scenario_new(struct scenario **ret_scenario)
{
    struct scenario *scenario = calloc(1, sizeof *scenario);
    if (scenario == NULL)
        return error_no_memory();
    scenario->directory.chars = "";
    *ret_scenario = scenario;
    return NULL;
}

void scenario_free(struct scenario *scenario)
{
    if (scenario == NULL)
        return;
    ARRAY_DEINIT(&scenario->patterns);
    ARRAY_DEINIT(&scenario->rules);
    ARRAY_DEINIT(&scenario->code);
    ARRAY_DEINIT(&scenario->stacks);
    ARRAY_DEINIT(&scenario->stack_items);
    ARRAY_DEINIT(&scenario->stackless);
    ARRAY_DEINIT(&scenario->outs);
    ARRAY_DEINIT(&scenario->plugins);
    ARRAY_DEINIT(&scenario->parameters);
    ARRAY_DEINIT(&scenario->afters);
    ARRAY_DEINIT(&scenario->queries);
    ARRAY_DEINIT(&scenario->variables);
    ARRAY_DEINIT(&scenario->plugin_files);
    map_deinit(&scenario->pattern_map);
    map_deinit(&scenario->query_map);
    map_deinit(&scenario->variable_map);
    map_deinit(&scenario->plugin_map);
    strings_deinit(&scenario->strings);
    arena_deinit(&scenario->arena);
    free(scenario);
}

struct error *scenario_text(struct scenario *scenario, const char *chars, size_t size,
                            struct text *ret_text)
{
    return strings_intern(&scenario->strings, &scenario->arena, chars, size, ret_text);
}

struct error *scenario_text_of(struct scenario *scenario, const struct buffer *buffer,
                               struct text *ret_text)
{
    return scenario_text(scenario, buffer->data, buffer->size, ret_text);
}

static bool has_glob(const char *text)
{
    return wire_is_regex(text) || strpbrk(text, "*?[") != NULL;
}

struct error *scenario_intern_pattern(struct scenario *scenario, struct text library,
                                      struct text name, uint32_t *ret_index)
{
    uint64_t key = (uint64_t)library.offset << 32 | name.offset;
    uint32_t found = map_find(&scenario->pattern_map, key);
    if (found == MAP_NONE) {
        struct pattern *pattern = ARRAY_ADD(&scenario->patterns);
        if (pattern == NULL)
            return error_no_memory();
        *pattern = (struct pattern){.name = name, .library = library};
        pattern->is_glob = has_glob(name.chars);
        pattern->prototype = prototype_find(name.chars);
        found = (uint32_t)(scenario->patterns.count - 1);
        TRY(map_put(&scenario->pattern_map, key, found));
    }
    *ret_index = found;
    return NULL;
}

struct error *scenario_add_watch(struct scenario *scenario, const char *spec,
                                 enum scenario_watch kind)
{
    size_t before = scenario->patterns.count; // older patterns keep their flags
    TRY(scenario_add_spec(scenario, spec));
    for (size_t i = before; i < scenario->patterns.count; i++)
        scenario->patterns.items[i].flags |=
            kind == SCENARIO_WATCH_VARIANTS ? WIRE_VARIANTS : WIRE_OUTSIDE;
    if (kind == SCENARIO_WATCH_VARIANTS)
        scenario->uses |= WIRE_USE_VARIANTS;
    return NULL;
}

static struct rule *last_rule(struct scenario *scenario)
{
    return &scenario->rules.items[scenario->rules.count - 1];
}

void scenario_watch_descriptor(struct scenario *scenario, unsigned argument)
{
    last_rule(scenario)->wire.descriptor = (uint16_t)(argument <= WIRE_ARGUMENTS ? argument : 0);
}

struct error *scenario_add_stackless(struct scenario *scenario, const char *module, uint64_t offset)
{
    struct rule *rule = last_rule(scenario);
    const char *function = scenario->patterns.items[rule->pattern].name.chars;
    uint64_t *place = ARRAY_ADD(&scenario->stackless);
    if (place == NULL)
        return error_no_memory();
    *place = wire_place(wire_hash(function), wire_fingerprint(module, strlen(module)), offset);
    rule->wire.stackless = 1;
    return NULL;
}

static bool brackets_close(const char *text)
{
    const char *open;
    while ((open = strchr(text, '[')) != NULL) {
        const char *from = open + 1;
        if (*from == '!' || *from == '^')
            from++;
        if (*from == ']')
            from++;
        text = strchr(from, ']');
        if (text == NULL)
            return false;
    }
    return true;
}

struct error *scenario_split_pattern(struct scenario *scenario, const struct source *source,
                                     size_t offset, struct text word, bool quoted,
                                     struct text *ret_library, struct text *ret_name)
{
    const char *text = word.chars, *colon = strchr(text, ':');
    struct text library = {.chars = ""}, name = word;
    if (colon != NULL && colon[1] == ':')
        return source_error(source, offset,
                            "'%s': C++ functions go by their mangled names, or a glob such as "
                            "_ZN*name*",
                            text);
    if (colon != NULL) {
        TRY(scenario_text(scenario, text, (size_t)(colon - text), &library));
        TRY(scenario_text(scenario, colon + 1, strlen(colon + 1), &name));
    }
    if (name.size == 0)
        return source_error(source, offset,
                            quoted || word.size != 0 ? "expected a function after the library"
                                                     : "expected a function's name");
    if (colon != NULL && library.size == 0)
        return source_error(source, offset, "expected a library before ':'");
    if (strchr(name.chars, ':') != NULL)
        return source_error(source, offset, "'%s': a function is written NAME or LIBRARY:NAME",
                            text);
    _cleanup_error_ struct error *unknown = function_class_check(name.chars);
    if (unknown != NULL)
        return unknown == error_no_memory()
                   ? TAKE(unknown)
                   : source_error(source, offset, "%s", error_message(unknown));
    bool bad = false;
    if (name.chars[0] == '/')
        wire_regex_match(name.chars, "", &bad);
    if (bad)
        return source_error(source, offset,
                            "'%s' is no regular expression that can be used here: /^(read|write)/, "
                            "with . [] * + ? | ( ) ^ $ and at most %d characters",
                            name.chars, WIRE_REGEX_SIZE);
    if (!brackets_close(library.chars) ||
        (!wire_is_regex(name.chars) && !brackets_close(name.chars)))
        return source_error(source, offset, "'%s': '[' has no ']'", text);
    *ret_library = library;
    *ret_name = name;
    return NULL;
}

static bool is_about_calls(const struct pattern *pattern)
{
    return strcmp(pattern->library.chars, WIRE_SYSTEM_CALLS) == 0 ||
           strcmp(pattern->library.chars, WIRE_GO_CALLS) == 0;
}

bool scenario_names_system_calls(const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->patterns.count; i++)
        if (is_about_calls(&scenario->patterns.items[i]))
            return true;
    return false;
}

bool scenario_names_functions(const struct scenario *scenario)
{
    for (size_t i = 0; i < scenario->patterns.count; i++)
        if (!is_about_calls(&scenario->patterns.items[i]))
            return true;
    return false;
}

struct error *scenario_use_system_calls(struct scenario *scenario,
                                        bool (*is_call)(const char *glob), const char **ret_other)
{
    struct text library;
    *ret_other = NULL;
    for (size_t i = 0; i < scenario->rules.count && *ret_other == NULL; i++) {
        const struct rule *rule = &scenario->rules.items[i];
        const struct pattern *pattern = &scenario->patterns.items[rule->pattern];
        if (!is_about_calls(pattern) && rule->class_text.size == 0 &&
            (pattern->library.size != 0 || !is_call(pattern->name.chars)))
            *ret_other = rule->text.chars;
    }
    if (*ret_other != NULL)
        return NULL;
    TRY(scenario_text(scenario, WIRE_SYSTEM_CALLS, strlen(WIRE_SYSTEM_CALLS), &library));
    for (size_t i = 0; i < scenario->patterns.count; i++)
        // A class also has functions that are no calls; they stay, and never apply.
        if (!is_about_calls(&scenario->patterns.items[i]) &&
            is_call(scenario->patterns.items[i].name.chars))
            scenario->patterns.items[i].library = library;
    return NULL;
}

size_t scenario_rule_count(const struct scenario *scenario)
{
    return scenario->rules.count;
}

struct scenario_rule_view scenario_rule(const struct scenario *scenario, size_t index)
{
    const struct rule *rule = &scenario->rules.items[index];
    const struct pattern *pattern = &scenario->patterns.items[rule->pattern];
    return (struct scenario_rule_view){
        .text = rule->text.chars,
        .library = pattern->library.size != 0 ? pattern->library.chars : NULL,
        .function = pattern->name.chars,
        .action = rule->action.chars,
        .condition = rule->condition.chars,
        .name = rule->name.size != 0 ? rule->name.chars : NULL,
        .class_text = rule->class_text.size != 0 ? rule->class_text.chars : NULL,
    };
}

// Compares a library pattern with the file's name and with its stem: libc.so.6 is also libc.
static bool library_covers(const char *pattern, const char *file)
{
    const char *name = file_base_name(file);
    if (fnmatch(pattern, name, 0) == 0 || fnmatch(pattern, file, 0) == 0)
        return true;
    char stem[256];
    size_t size = file_library_stem(name);
    if (size >= sizeof stem)
        return false;
    memcpy(stem, name, size);
    stem[size] = '\0';
    return fnmatch(pattern, stem, 0) == 0;
}

bool scenario_rule_covers(const struct scenario *scenario, size_t index, const char *library_file,
                          const char *function)
{
    const struct pattern *pattern = &scenario->patterns.items[scenario->rules.items[index].pattern];
    bool name_fits = pattern->is_glob ? function_pattern_fits(pattern->name.chars, false, function)
                                      : strcmp(pattern->name.chars, function) == 0;
    return name_fits &&
           (pattern->library.size == 0 || library_covers(pattern->library.chars, library_file));
}

const char *scenario_rule_impossible_result(const struct scenario *scenario, size_t index,
                                            const char *function)
{
    const struct wire_rule *rule = &scenario->rules.items[index].wire;
    if (!(rule->actions & WIRE_RETURN) || rule->value_kind != WIRE_VALUE_INTEGER)
        return NULL;
    return prototype_impossible_result(function, rule->value[0]);
}

bool scenario_rule_has_value(const struct scenario *scenario, size_t index)
{
    const struct rule *rule = &scenario->rules.items[index];
    const struct pattern *pattern = &scenario->patterns.items[rule->pattern];
    return (rule->wire.actions & WIRE_RETURN) != 0 && !pattern->is_glob &&
           pattern->prototype == NULL && wire_traits_find(pattern->name.chars) == NULL;
}

static bool uses(const struct scenario *scenario, enum wire_op op)
{
    for (size_t i = 0; i < scenario->code.count; i++)
        if (scenario->code.items[i].op == op)
            return true;
    return false;
}

bool scenario_uses_plugins(const struct scenario *scenario)
{
    return uses(scenario, WIRE_OP_PLUGIN);
}

bool scenario_uses_seed(const struct scenario *scenario)
{
    return uses(scenario, WIRE_OP_RANDOM) || scenario_uses_plugins(scenario);
}

bool scenario_seed(const struct scenario *scenario, uint64_t *ret_seed)
{
    if (scenario->has_seed)
        *ret_seed = scenario->seed;
    return scenario->has_seed;
}

size_t scenario_query_count(const struct scenario *scenario)
{
    return scenario->queries.count;
}

const struct scenario_query *scenario_query(const struct scenario *scenario, size_t index)
{
    return &scenario->queries.items[index];
}

size_t scenario_variable_count(const struct scenario *scenario)
{
    return scenario->variables.count;
}

const struct scenario_variable *scenario_variable(const struct scenario *scenario, size_t index)
{
    return &scenario->variables.items[index];
}
