// SPDX-License-Identifier: GPL-3.0-or-later
// Reads scenario files in YAML:
//   seed: 7
//   plugins: [odd_size.so]
//   triggers: {late: time > 2s}
//   rules:
//     - read=-1/EIO when count == 3
//     - {function: write, return: -1, errno: ENOSPC, when: "@late and once"}
#include "scenario/rule.h"
#include "scenario/yaml-tree.h"

#include "base/cleanup.h"

#include <string.h>

struct yaml_reader {
    struct scenario *scenario;
    struct source file;
    struct arena arena; // nodes and sources, for the time of reading
    struct named_triggers names;
};

// A rule written as a mapping, while it is read.
struct yaml_rule {
    struct yaml_reader *reader;
    const struct yaml_node *function, *library;
    struct draft draft;
    struct source *condition_source;
};

static struct error *node_error(const struct yaml_reader *reader, const struct yaml_node *node,
                                const char *message)
{
    return source_error(&reader->file, node->at, "%s", message);
}

static bool is_text(const struct yaml_node *node, const char *text)
{
    return node->kind == YAML_SCALAR && strlen(text) == node->size &&
           memcmp(node->text, text, node->size) == 0;
}

// Starts reading a scalar's text; the source lives as long as the reader.
static struct error *start_scalar(struct yaml_reader *reader, const struct yaml_node *node,
                                  struct parser *parser, struct source **ret_source)
{
    if (node->kind != YAML_SCALAR)
        return node_error(reader, node, "expected a text or a number here");
    struct source *source = arena_alloc(&reader->arena, sizeof *source);
    if (source == NULL)
        return error_no_memory();
    *source = yaml_scalar_source(&reader->file, node);
    if (ret_source != NULL)
        *ret_source = source;
    return parser_start(parser, reader->scenario, source, 0, &reader->names);
}

static struct error *end_scalar(const struct parser *parser)
{
    return parser->lexer.token.kind == TOKEN_END
               ? NULL
               : lexer_unexpected(&parser->lexer, "the end of the value");
}

static struct error *scalar_text(struct yaml_reader *reader, const struct yaml_node *node,
                                 struct text *ret_text)
{
    if (node->kind != YAML_SCALAR)
        return node_error(reader, node, "expected a text here");
    if (memchr(node->text, '\0', node->size) != NULL)
        return node_error(reader, node, "a NUL byte has no place in a scenario");
    return scenario_text(reader->scenario, node->text, node->size, ret_text);
}

static struct error *unknown_key(const struct yaml_reader *reader, const struct yaml_node *key,
                                 const char *const *known, const char *where)
{
    struct suggestion suggestion = suggestion_start(key->text, key->size);
    for (; *known != NULL; known++)
        suggestion_offer(&suggestion, *known);
    char storage[SUGGESTION_SIZE];
    bool is_rule = memchr(key->text, '=', key->size) != NULL;
    return source_error(&reader->file, key->at, "unknown key '%.*s' %s%s%s",
                        key->size < 60 ? (int)key->size : 60, key->text, where,
                        suggestion_text(&suggestion, storage),
                        is_rule ? "; a rule with ': ' in it must be put in quotes" : "");
}

typedef struct error *(*rule_key_reader)(struct yaml_rule *rule, const struct yaml_node *node);

static struct error *read_function(struct yaml_rule *rule, const struct yaml_node *node)
{
    rule->function = node;
    return NULL;
}

static struct error *read_library(struct yaml_rule *rule, const struct yaml_node *node)
{
    rule->library = node;
    return scalar_text(rule->reader, node, &rule->draft.library);
}

static struct error *read_return(struct yaml_rule *rule, const struct yaml_node *node)
{
    struct parser parser;
    TRY(start_scalar(rule->reader, node, &parser, NULL));
    TRY(action_parse_value(&parser, &rule->draft.actions));
    return end_scalar(&parser);
}

static struct error *read_errno(struct yaml_rule *rule, const struct yaml_node *node)
{
    struct parser parser;
    TRY(start_scalar(rule->reader, node, &parser, NULL));
    TRY(action_parse_errno(&parser, &rule->draft.actions));
    return end_scalar(&parser);
}

static struct error *read_delay(struct yaml_rule *rule, const struct yaml_node *node)
{
    struct parser parser;
    TRY(start_scalar(rule->reader, node, &parser, NULL));
    TRY(action_parse_duration(&parser, &rule->draft.actions));
    return end_scalar(&parser);
}

static struct error *read_signal(struct yaml_rule *rule, const struct yaml_node *node)
{
    struct parser parser;
    TRY(start_scalar(rule->reader, node, &parser, NULL));
    TRY(action_parse_signal(&parser, &rule->draft.actions));
    return end_scalar(&parser);
}

static struct error *read_number(struct yaml_reader *reader, const struct yaml_node *node,
                                 const char *what, uint64_t low, uint64_t high,
                                 uint64_t *ret_number)
{
    struct parser parser;
    TRY(start_scalar(reader, node, &parser, NULL));
    TRY(parse_bounded(&parser, what, low, high, ret_number));
    return end_scalar(&parser);
}

// true: half of it; a number: at most that much; {argument: N, limit: M}
static struct error *read_short(struct yaml_rule *rule, const struct yaml_node *node)
{
    static const char *const known[] = {"argument", "limit", NULL};
    struct actions *actions = &rule->draft.actions;
    actions->set |= WIRE_SHORT;
    if (node->kind == YAML_SCALAR) {
        if (is_text(node, "true") || is_text(node, "yes") || is_text(node, "half"))
            return NULL;
        return read_number(rule->reader, node, "the length of a short call", 1, INT64_MAX,
                           &actions->short_limit);
    }
    if (node->kind != YAML_MAPPING)
        return node_error(rule->reader, node, "'short' is true, a number, or {argument: N}");
    for (const struct yaml_node *key = node->first; key != NULL; key = key->next->next) {
        uint64_t number;
        if (is_text(key, "argument")) {
            TRY(read_number(rule->reader, key->next, "an argument number", 1, WIRE_ARGUMENTS,
                            &number));
            actions->short_argument = (unsigned)number;
        } else if (is_text(key, "limit")) {
            TRY(read_number(rule->reader, key->next, "the length of a short call", 1, INT64_MAX,
                            &actions->short_limit));
        } else {
            return unknown_key(rule->reader, key, known, "of 'short'");
        }
    }
    return NULL;
}

static struct error *read_out(struct yaml_rule *rule, const struct yaml_node *node)
{
    struct actions *actions = &rule->draft.actions;
    if (node->kind != YAML_MAPPING || node->first == NULL)
        return node_error(rule->reader, node, "'out' maps arguments to values: {1: 0}");
    for (const struct yaml_node *key = node->first; key != NULL; key = key->next->next) {
        if (actions->out_count == WIRE_OUT_MAX)
            return source_error(&rule->reader->file, key->at,
                                "a rule can set at most %d output parameters", WIRE_OUT_MAX);
        struct wire_out *out = &actions->outs[actions->out_count];
        struct parser parser;
        TRY(start_scalar(rule->reader, key, &parser, NULL));
        TRY(action_parse_out_place(&parser, out));
        TRY(end_scalar(&parser));
        TRY(start_scalar(rule->reader, key->next, &parser, NULL));
        TRY(action_parse_out_value(&parser, out));
        TRY(end_scalar(&parser));
        actions->out_count++;
    }
    actions->set |= WIRE_OUT;
    return NULL;
}

static struct error *read_when(struct yaml_rule *rule, const struct yaml_node *node)
{
    struct parser parser;
    TRY(start_scalar(rule->reader, node, &parser, &rule->condition_source));
    TRY(parse_expression(&parser, &rule->draft.condition));
    if (parser.lexer.token.kind != TOKEN_END)
        return lexer_unexpected(&parser.lexer, "'and', 'or' or the end of the condition");
    return spec_trimmed(rule->reader->scenario, rule->condition_source, 0, node->size,
                        &rule->draft.condition_text);
}

static struct error *read_watch(struct yaml_rule *rule, const struct yaml_node *node)
{
    rule->draft.actions.watch = is_text(node, "true") || is_text(node, "yes");
    if (!rule->draft.actions.watch && !is_text(node, "false") && !is_text(node, "no"))
        return node_error(rule->reader, node, "'watch' is true or false");
    return NULL;
}

// true: the function is called as well; false: it is not. Both override what is usual.
static struct error *read_performed(struct yaml_rule *rule, const struct yaml_node *node)
{
    bool yes = is_text(node, "true") || is_text(node, "yes");
    if (!yes && !is_text(node, "false") && !is_text(node, "no"))
        return node_error(rule->reader, node, "'performed' is true or false");
    rule->draft.actions.set |= yes ? WIRE_PERFORMED : WIRE_SKIPPED;
    return NULL;
}

static struct error *read_name(struct yaml_rule *rule, const struct yaml_node *node)
{
    return scalar_text(rule->reader, node, &rule->draft.name);
}

static const struct {
    const char *key;
    rule_key_reader read;
} rule_keys[] = {
    {"function", read_function}, {"library", read_library}, {"return", read_return},
    {"errno", read_errno},       {"delay", read_delay},     {"signal", read_signal},
    {"short", read_short},       {"out", read_out},         {"when", read_when},
    {"watch", read_watch},       {"name", read_name},       {"performed", read_performed},
};
#define RULE_KEYS (sizeof rule_keys / sizeof *rule_keys)

static struct error *read_rule_key(struct yaml_rule *rule, const struct yaml_node *key)
{
    const char *known[RULE_KEYS + 1] = {0};
    for (size_t i = 0; i < RULE_KEYS; i++) {
        if (is_text(key, rule_keys[i].key))
            return rule_keys[i].read(rule, key->next);
        known[i] = rule_keys[i].key;
    }
    return unknown_key(rule->reader, key, known, "of a rule");
}

static struct error *add_for_function(struct yaml_rule *rule, const struct yaml_node *node)
{
    struct yaml_reader *reader = rule->reader;
    struct draft draft = rule->draft;
    struct text word, library;
    TRY(scalar_text(reader, node, &word));
    struct source source = yaml_scalar_source(&reader->file, node);
    TRY(scenario_split_pattern(reader->scenario, &source, 0, word, true, &library,
                               &draft.function));
    if (library.size != 0 && draft.library.size != 0)
        return node_error(reader, node, "the library is given twice: here and under 'library'");
    if (library.size != 0)
        draft.library = library;
    return rule_add(reader->scenario, &draft);
}

static struct error *read_rule_mapping(struct yaml_reader *reader, const struct yaml_node *node)
{
    struct yaml_rule rule = {.reader = reader};
    // Errors about how the actions go together are shown at the rule.
    struct source place = reader->file;
    place.base = node->at;
    rule.draft.action_source = &place;
    rule.draft.library.chars = rule.draft.condition_text.chars = "";
    for (const struct yaml_node *key = node->first; key != NULL; key = key->next->next)
        TRY(read_rule_key(&rule, key));
    rule.draft.condition_source = rule.condition_source;
    rule.draft.actions.value_start = rule.draft.actions.short_start = 0;
    if (rule.function == NULL)
        return node_error(reader, node, "this rule names no 'function'");
    if (rule.function->kind != YAML_LIST)
        return add_for_function(&rule, rule.function);
    for (const struct yaml_node *item = rule.function->first; item != NULL; item = item->next)
        TRY(add_for_function(&rule, item));
    return NULL;
}

static struct error *read_rules(struct yaml_reader *reader, const struct yaml_node *node)
{
    if (node->kind != YAML_LIST)
        return node_error(reader, node, "'rules' is a list: every rule starts with '- '");
    for (const struct yaml_node *item = node->first; item != NULL; item = item->next) {
        if (item->kind == YAML_MAPPING) {
            TRY(read_rule_mapping(reader, item));
        } else if (item->kind == YAML_SCALAR) {
            struct source source = yaml_scalar_source(&reader->file, item);
            TRY(spec_add(reader->scenario, &source, &reader->names));
        } else {
            return node_error(reader, item, "a rule is a text or a mapping");
        }
    }
    return NULL;
}

static bool is_trigger_name(const struct text *name)
{
    for (uint32_t i = 0; i < name->size; i++) {
        char c = name->chars[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
              (i > 0 && c >= '0' && c <= '9')))
            return false;
    }
    return name->size != 0;
}

static struct error *read_triggers(struct yaml_reader *reader, const struct yaml_node *node)
{
    if (node->kind != YAML_MAPPING)
        return node_error(reader, node, "'triggers' maps names to conditions");
    for (const struct yaml_node *key = node->first; key != NULL; key = key->next->next) {
        struct named_trigger trigger = {0};
        struct source *source = NULL;
        struct parser parser;
        TRY(scalar_text(reader, key, &trigger.name));
        if (!is_trigger_name(&trigger.name))
            return node_error(reader, key, "a trigger's name is made of letters, digits and '_'");
        TRY(start_scalar(reader, key->next, &parser, &source));
        TRY(parse_expression(&parser, &trigger.expression));
        if (parser.lexer.token.kind != TOKEN_END)
            return lexer_unexpected(&parser.lexer, "'and', 'or' or the end of the condition");
        trigger.source = source;
        TRY(named_triggers_add(&reader->names, trigger));
    }
    return NULL;
}

static struct error *read_plugin(struct yaml_reader *reader, const struct yaml_node *node)
{
    struct text file;
    TRY(scalar_text(reader, node, &file));
    _cleanup_(buffer_deinit) struct buffer path = {0};
    const char *directory = reader->scenario->directory.chars;
    if (file.chars[0] != '/' && *directory != '\0')
        TRY(buffer_printf(&path, "%s/", directory));
    TRY(buffer_printf(&path, "%s", file.chars));
    struct error *error = scenario_add_plugin(reader->scenario, path.data);
    if (error == NULL || error == error_no_memory())
        return error;
    struct error *placed = node_error(reader, node, error_message(error));
    error_free(error);
    return placed;
}

static struct error *read_plugins(struct yaml_reader *reader, const struct yaml_node *node)
{
    if (node->kind != YAML_LIST)
        return read_plugin(reader, node);
    for (const struct yaml_node *item = node->first; item != NULL; item = item->next)
        TRY(read_plugin(reader, item));
    return NULL;
}

static struct error *read_seed(struct yaml_reader *reader, const struct yaml_node *node)
{
    TRY(read_number(reader, node, "a seed", 0, INT64_MAX, &reader->scenario->seed));
    reader->scenario->has_seed = true;
    return NULL;
}

// In the order in which they are read, whatever their order in the file.
static const struct {
    const char *key;
    struct error *(*read)(struct yaml_reader *reader, const struct yaml_node *node);
} file_keys[] = {{"seed", read_seed},
                 {"plugins", read_plugins},
                 {"triggers", read_triggers},
                 {"rules", read_rules}};
#define FILE_KEYS (sizeof file_keys / sizeof *file_keys)

static struct error *check_file_keys(const struct yaml_reader *reader, const struct yaml_node *root)
{
    bool has_rules = false;
    const char *known[FILE_KEYS + 1] = {0};
    for (size_t i = 0; i < FILE_KEYS; i++)
        known[i] = file_keys[i].key;
    for (const struct yaml_node *key = root->first; key != NULL; key = key->next->next) {
        size_t i = 0;
        while (i < FILE_KEYS && !is_text(key, known[i]))
            i++;
        if (i == FILE_KEYS)
            return unknown_key(reader, key, known, "of a scenario");
        has_rules |= is_text(key, "rules");
    }
    return has_rules ? NULL : node_error(reader, root, "this scenario has no 'rules'");
}

static struct error *read_file(struct yaml_reader *reader)
{
    struct yaml_node *root = NULL;
    TRY(yaml_tree_read(&reader->file, &reader->arena, &root));
    if (root == NULL || root->kind != YAML_MAPPING)
        return source_error(&reader->file, root != NULL ? root->at : 0,
                            "a scenario starts with 'rules:' and a list below it");
    TRY(check_file_keys(reader, root));
    for (size_t i = 0; i < FILE_KEYS; i++)
        for (const struct yaml_node *key = root->first; key != NULL; key = key->next->next)
            if (is_text(key, file_keys[i].key))
                TRY(file_keys[i].read(reader, key->next));
    return NULL;
}

struct error *scenario_add_yaml(struct scenario *scenario, const char *name, const char *text,
                                size_t size)
{
    if (size > SCENARIO_FILE_LIMIT)
        return error_new("%s is larger than %u bytes", name, SCENARIO_FILE_LIMIT);
    struct yaml_reader reader = {.scenario = scenario, .file = source_whole(name, text, size)};
    struct error *error = read_file(&reader);
    named_triggers_deinit(&reader.names);
    arena_deinit(&reader.arena);
    return error;
}
