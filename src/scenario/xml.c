// SPDX-License-Identifier: GPL-3.0-or-later
// Reads scenario files of the LFI article: <trigger> declares a trigger, <function> uses it.
// Triggers within one <function> are joined by `and`; several <function>s with the same name are
// alternatives.
#include "scenario/xml.h"

#include "base/cleanup.h"
#include "scenario/rule.h"

#include <stdarg.h>
#include <string.h>

struct xml_trigger {
    struct text id;
    struct text expression;
};

struct xml_reader {
    struct scenario *scenario;
    struct source file;
    struct arena arena;
    ARRAY(struct xml_trigger) triggers;
    struct map by_id;
};

__attribute__((format(printf, 3, 4))) static struct error *
node_error(const struct xml_reader *reader, const struct xml_node *node, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    _cleanup_error_ struct error *what = error_new_va(format, args);
    va_end(args);
    return source_error(&reader->file, node->at, "%s", error_message(what));
}

static bool is_among(const char *name, const char *const *known)
{
    while (*known != NULL && strcmp(*known, name) != 0)
        known++;
    return *known != NULL;
}

static struct error *check_attributes(const struct xml_reader *reader, const struct xml_node *node,
                                      const char *const *known)
{
    for (size_t i = 0; i < node->attribute_count; i++) {
        const char *name = node->attributes[i].name;
        if (is_among(name, known))
            continue;
        struct suggestion suggestion = suggestion_start(name, strlen(name));
        for (size_t k = 0; known[k] != NULL; k++)
            suggestion_offer(&suggestion, known[k]);
        char storage[SUGGESTION_SIZE];
        return node_error(reader, node, "unknown attribute '%.40s' of <%s>%s", name, node->name,
                          suggestion_text(&suggestion, storage));
    }
    return NULL;
}

#define KNOWN(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct error *unknown_element(const struct xml_reader *reader, const struct xml_node *node,
                                     const char *where, const char *const *known)
{
    struct suggestion suggestion = suggestion_start(node->name, strlen(node->name));
    for (; *known != NULL; known++)
        suggestion_offer(&suggestion, *known);
    char storage[SUGGESTION_SIZE];
    return node_error(reader, node, "unknown element <%.40s> %s%s", node->name, where,
                      suggestion_text(&suggestion, storage));
}

// Files are numbered, so that equal ids in two files do not share a plug-in's state.
static struct error *make_label(const struct xml_reader *reader, const char *id,
                                struct buffer *label)
{
    unsigned file = reader->scenario->xml_files;
    return file == 1 ? buffer_printf(label, "%s", id) : buffer_printf(label, "%s#%u", id, file);
}

// What is parsed when an expression made from elements is read.
static struct source derived_source(const struct xml_reader *reader, const struct xml_node *node,
                                    struct text expression)
{
    struct source source = reader->file;
    source.mapping = SOURCE_FIXED;
    source.base = node->at;
    source.text = expression.chars;
    source.size = expression.size;
    return source;
}

// Makes the error for a class that is no stock class and has no plug-in: perhaps it is misspelled.
static struct error *explain_missing(struct xml_reader *reader, const struct xml_node *node,
                                     const char *class_)
{
    struct scenario *scenario = reader->scenario;
    struct plugin *plugin =
        scenario->plugins.count != 0 ? &scenario->plugins.items[scenario->plugins.count - 1] : NULL;
    if (plugin == NULL || plugin->file != WIRE_NONE || strcmp(plugin->name.chars, class_) != 0)
        return NULL;
    struct source source = xml_attribute_source(&reader->file, node, "class");
    char storage[SUGGESTION_SIZE];
    return scenario_note_missing(
        scenario, plugin,
        source_error(
            &source, 0,
            "there is no trigger class '%s'%s, and no plug-in file of that name: give one "
            "with --plugin FILE, or put %s.so beside the scenario file or into a directory "
            "of ORDEAL_PLUGIN_PATH",
            class_, xml_class_suggestion(class_, storage), class_));
}

static struct error *read_trigger(struct xml_reader *reader, const struct xml_node *node)
{
    TRY(check_attributes(reader, node, KNOWN("id", "class")));
    const char *id = xml_attribute(node, "id"), *class_ = xml_attribute(node, "class");
    if (id == NULL || *id == '\0')
        return node_error(reader, node, "<trigger> needs an id");
    if (class_ == NULL || *class_ == '\0')
        return node_error(reader, node, "<trigger> needs a class");
    struct xml_trigger trigger = {0};
    TRY(scenario_text(reader->scenario, id, strlen(id), &trigger.id));
    if (map_has(&reader->by_id, trigger.id.offset))
        return node_error(reader, node, "trigger '%.40s' is declared twice", id);
    _cleanup_(buffer_deinit) struct buffer label = {0}, expression = {0};
    TRY(make_label(reader, id, &label));
    TRY(xml_trigger_expression(&reader->file, node, label.data, &expression));
    TRY(scenario_text_of(reader->scenario, &expression, &trigger.expression));
    // Read once here, so that an error in it is shown at the trigger.
    struct source derived = derived_source(reader, node, trigger.expression);
    const struct expression *unused = NULL;
    TRY(expression_parse(reader->scenario, &derived, NULL, &unused));
    TRY(explain_missing(reader, node, class_));
    TRY(map_put(&reader->by_id, trigger.id.offset, (uint32_t)reader->triggers.count));
    struct xml_trigger *slot = ARRAY_ADD(&reader->triggers);
    if (slot == NULL)
        return error_no_memory();
    *slot = trigger;
    return NULL;
}

static struct error *read_flag(const struct xml_reader *reader, const struct xml_node *node,
                               const char *name, bool *flag)
{
    const char *value = xml_attribute(node, name);
    if (value == NULL || strcmp(value, "false") == 0 || strcmp(value, "0") == 0 ||
        strcmp(value, "no") == 0)
        return NULL;
    if (strcmp(value, "true") != 0 && strcmp(value, "1") != 0 && strcmp(value, "yes") != 0)
        return node_error(reader, node, "%s must be true or false", name);
    *flag = true;
    return NULL;
}

static struct error *undeclared(const struct xml_reader *reader, const struct xml_node *node,
                                const char *ref)
{
    struct suggestion suggestion = suggestion_start(ref, strlen(ref));
    for (size_t i = 0; i < reader->triggers.count; i++)
        suggestion_offer(&suggestion, reader->triggers.items[i].id.chars);
    char storage[SUGGESTION_SIZE];
    return node_error(reader, node, "trigger '%.40s' is not declared%s", ref,
                      suggestion_text(&suggestion, storage));
}

static struct error *read_reference(struct xml_reader *reader, const struct xml_node *node,
                                    struct buffer *condition)
{
    if (strcmp(node->name, "reftrigger") != 0)
        return unknown_element(reader, node, "in <function>", KNOWN("reftrigger"));
    TRY(check_attributes(reader, node, KNOWN("ref", "negate", "not")));
    if (node->first != NULL || node->text[0] != '\0')
        return node_error(reader, node, "<reftrigger> is empty: <reftrigger ref=\"...\" />");
    const char *ref = xml_attribute(node, "ref");
    if (ref == NULL)
        return node_error(reader, node, "<reftrigger> needs a ref");
    struct text id;
    TRY(scenario_text(reader->scenario, ref, strlen(ref), &id));
    uint32_t found = id.size != 0 ? map_find(&reader->by_id, id.offset) : MAP_NONE;
    if (found == MAP_NONE)
        return undeclared(reader, node, ref);
    bool negate = false;
    TRY(read_flag(reader, node, "negate", &negate));
    TRY(read_flag(reader, node, "not", &negate));
    const char *expression = reader->triggers.items[found].expression.chars;
    const char *joint = condition->size != 0 ? " and " : "";
    return negate ? buffer_printf(condition, "%snot (%s)", joint, expression)
                  : buffer_printf(condition, "%s%s", joint, expression);
}

static struct error *whole_attribute(struct xml_reader *reader, const struct xml_node *node,
                                     const char *name, struct actions *actions,
                                     struct error *(*parse)(struct parser *parser,
                                                            struct actions *actions))
{
    struct source source = xml_attribute_source(&reader->file, node, name);
    struct parser parser;
    TRY(parser_start(&parser, reader->scenario, &source, 0, NULL));
    TRY(parse(&parser, actions));
    if (parser.lexer.token.kind != TOKEN_END)
        return lexer_unexpected(&parser.lexer, "the end of the value");
    return NULL;
}

static bool is_unused(const char *value)
{
    return value == NULL || *value == '\0' || strcmp(value, "unused") == 0;
}

static struct error *read_fault(struct xml_reader *reader, const struct xml_node *node,
                                struct draft *draft)
{
    const char *value = xml_attribute(node, "return"), *retval = xml_attribute(node, "retval");
    const char *error = xml_attribute(node, "errno"), *numargs = xml_attribute(node, "numargs");
    if (value != NULL && retval != NULL)
        return node_error(reader, node, "return and retval mean the same; give one of them");
    if (value == NULL && retval == NULL)
        return node_error(reader, node,
                          "<function> needs return=\"VALUE\", or \"unused\" if its "
                          "calls are only to be seen by a trigger");
    if (!is_unused(value != NULL ? value : retval))
        TRY(whole_attribute(reader, node, value != NULL ? "return" : "retval", &draft->actions,
                            action_parse_value));
    if (!is_unused(error))
        TRY(whole_attribute(reader, node, "errno", &draft->actions, action_parse_errno));
    draft->actions.watch = draft->actions.set == 0;
    if (numargs == NULL)
        return NULL;
    struct source source = xml_attribute_source(&reader->file, node, "numargs");
    struct parser parser;
    uint64_t number;
    TRY(parser_start(&parser, reader->scenario, &source, 0, NULL));
    TRY(parse_bounded(&parser, "a number of arguments", 0, 99, &number));
    if (parser.lexer.token.kind != TOKEN_END)
        return lexer_unexpected(&parser.lexer, "the end of the value");
    draft->arguments = number < WIRE_ARGUMENTS ? (unsigned)number : WIRE_ARGUMENTS;
    return NULL;
}

static struct error *read_pattern(struct xml_reader *reader, const struct xml_node *node,
                                  struct draft *draft)
{
    const char *name = xml_attribute(node, "name"), *library = xml_attribute(node, "library");
    if (name == NULL)
        return node_error(reader, node, "<function> needs a name");
    struct source source = xml_attribute_source(&reader->file, node, "name");
    struct text word;
    TRY(scenario_text(reader->scenario, name, strlen(name), &word));
    TRY(scenario_split_pattern(reader->scenario, &source, 0, word, false, &draft->library,
                               &draft->function));
    if (library == NULL)
        return NULL;
    if (draft->library.size != 0)
        return node_error(reader, node, "the library is given twice");
    return scenario_text(reader->scenario, library, strlen(library), &draft->library);
}

static struct error *read_function(struct xml_reader *reader, const struct xml_node *node)
{
    TRY(check_attributes(reader, node,
                         KNOWN("name", "numargs", "return", "retval", "errno", "library")));
    struct source place = reader->file;
    place.base = node->at;
    struct draft draft = {.action_source = &place};
    TRY(read_pattern(reader, node, &draft));
    TRY(read_fault(reader, node, &draft));
    draft.actions.value_start = 0;
    if (node->text[0] != '\0')
        return node_error(reader, node, "unexpected text '%.40s' in <function>", node->text);
    _cleanup_(buffer_deinit) struct buffer condition = {0};
    for (const struct xml_node *child = node->first; child != NULL; child = child->next)
        TRY(read_reference(reader, child, &condition));
    TRY(scenario_text_of(reader->scenario, &condition, &draft.condition_text));
    struct source derived = derived_source(reader, node, draft.condition_text);
    draft.condition_source = &derived;
    if (condition.size != 0)
        TRY(expression_parse(reader->scenario, &derived, NULL, &draft.condition));
    return rule_add(reader->scenario, &draft);
}

// Triggers first, so that they may stand anywhere in the file.
static struct error *read_elements(struct xml_reader *reader, const struct xml_node *parent)
{
    for (const struct xml_node *node = parent->first; node != NULL; node = node->next)
        if (strcmp(node->name, "trigger") == 0)
            TRY(read_trigger(reader, node));
        else if (strcmp(node->name, "function") != 0)
            return unknown_element(reader, node, "in a scenario", KNOWN("trigger", "function"));
    for (const struct xml_node *node = parent->first; node != NULL; node = node->next)
        if (strcmp(node->name, "function") == 0)
            TRY(read_function(reader, node));
    return NULL;
}

static struct error *read_file(struct xml_reader *reader)
{
    struct xml_node *root = NULL;
    TRY(xml_tree_read(&reader->file, &reader->arena, &root));
    if (root->first != NULL && root->first->next == NULL &&
        strcmp(root->first->name, "scenario") == 0) {
        root = root->first;
        TRY(check_attributes(reader, root, KNOWN("name")));
        if (root->text[0] != '\0')
            return node_error(reader, root, "unexpected text '%.40s' in <scenario>", root->text);
    }
    return read_elements(reader, root);
}

struct error *scenario_add_xml(struct scenario *scenario, const char *name, const char *text,
                               size_t size)
{
    if (size > SCENARIO_FILE_LIMIT)
        return error_new("%s is larger than %u bytes", name, SCENARIO_FILE_LIMIT);
    struct xml_reader reader = {.scenario = scenario, .file = source_whole(name, text, size)};
    scenario->xml_files++;
    struct error *error = read_file(&reader);
    ARRAY_DEINIT(&reader.triggers);
    map_deinit(&reader.by_id);
    arena_deinit(&reader.arena);
    return error;
}
