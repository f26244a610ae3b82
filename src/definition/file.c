// SPDX-License-Identifier: GPL-3.0-or-later
// Reads campaign files. First checks all keys against the schema, then reads the fields in the
// order of the schema, so that the order in the file does not matter.
#include "base/file.h"
#include "base/cleanup.h"
#include "definition/value.h"
#include "injector/injector.h"
#include "injector/parameters.h"
#include "scenario/yaml-tree.h"

#include <string.h>
#include <unistd.h>

#define FILE_LIMIT (16u << 20)
#define KEY_LIMIT  100

struct definition_reader {
    struct definition *definition;
    struct source file;
    struct arena arena;
    const char *directory;           // of the file; NULL: the current one
    const struct injector *injector; // whose parameters are being read
};

// Adds the place to an error. Takes the error over.
static struct error *placed(const struct definition_reader *reader, const struct yaml_node *node,
                            struct error *error)
{
    if (error == NULL || error == error_no_memory())
        return error;
    struct error *there = source_error(&reader->file, node->at, "%s", error_message(error));
    error_free(error);
    return there;
}

static bool is_text(const struct yaml_node *node, const char *text, size_t size)
{
    return node->kind == YAML_SCALAR && node->size == size && memcmp(node->text, text, size) == 0;
}

// The text of a node. U+10FF80..U+10FFFF stand for bytes that are not UTF-8, and become bytes
// again.
static struct error *scalar(struct definition_reader *reader, const struct yaml_node *node,
                            struct field_value *ret_value)
{
    if (node->kind != YAML_SCALAR)
        return source_error(&reader->file, node->at, "expected a text or a number here");
    char *text = arena_copy(&reader->arena, node->text, node->size);
    if (text == NULL)
        return error_no_memory();
    size_t size = 0;
    for (size_t i = 0; i < node->size; i++) {
        const unsigned char *at = (const unsigned char *)node->text + i;
        bool escape = node->size - i >= 4 && at[0] == 0xf4 && at[1] == 0x8f && at[2] >= 0xbe;
        text[size++] = escape ? (char)((at[2] & 3) << 6 | (at[3] & 0x3f)) : (char)at[0];
        i += escape ? 3 : 0;
    }
    *ret_value = (struct field_value){.text = text, .size = size, .directory = reader->directory};
    return NULL;
}

static struct error *read_words(struct definition_reader *reader, const struct yaml_node *node,
                                struct words *words)
{
    words_clear(words);
    for (const struct yaml_node *item = node->first; item != NULL; item = item->next) {
        struct field_value value;
        TRY(scalar(reader, item, &value));
        TRY(placed(reader, item, words_add(words, value.text, value.size)));
    }
    return NULL;
}

static struct error *read_command(struct definition_reader *reader, const struct yaml_node *node,
                                  struct words *words)
{
    struct field_value value;
    if (node->kind == YAML_MAPPING)
        return source_error(&reader->file, node->at,
                            "expected a command: [PROGRAM, ARGUMENT, ...] or a text for the shell");
    if (node->kind == YAML_LIST)
        return read_words(reader, node, words);
    TRY(scalar(reader, node, &value));
    return placed(reader, node, words_shell(words, value.text, value.size));
}

// A list of commands. The first one is the command of the campaign, if that has no other.
static struct error *read_commands(struct definition_reader *reader, const struct yaml_node *node,
                                   struct command_list *list)
{
    struct words *first = &reader->definition->command;
    command_list_clear(list);
    if (node->kind != YAML_LIST)
        return source_error(&reader->file, node->at, "expected a list of commands: [..., ...]");
    for (const struct yaml_node *item = node->first; item != NULL; item = item->next) {
        struct words *command;
        TRY(placed(reader, item, command_list_add(list, &command)));
        TRY(read_command(reader, item, command));
        if (command->count == 0)
            return source_error(&reader->file, item->at, "this command is empty");
    }
    if (first->count == 0 && list->items.count != 0)
        for (size_t i = 0; i < list->items.items[0].count; i++)
            TRY(words_add(first, list->items.items[0].items[i],
                          strlen(list->items.items[0].items[i])));
    return NULL;
}

// NAME alone is taken from this process.
static struct error *pass_variable_on(struct definition *definition, struct field_value name)
{
    if (memchr(name.text, '\0', name.size) != NULL || name.size == 0)
        return error_new("expected NAME=VALUE, or NAME");
    for (char **own = environ; own != NULL && *own != NULL; own++)
        if (strncmp(*own, name.text, name.size) == 0 &&
            ((*own)[name.size] == '=' || (*own)[name.size] == '\0'))
            return words_add(&definition->environment, *own, strlen(*own));
    return words_add(&definition->missing_variables, name.text, name.size);
}

static struct error *read_variables(struct definition_reader *reader, const struct yaml_node *node)
{
    struct definition *definition = reader->definition;
    words_clear(&definition->environment);
    words_clear(&definition->set_variables);
    words_clear(&definition->missing_variables);
    for (const struct yaml_node *item = node->first; item != NULL; item = item->next) {
        struct field_value value;
        TRY(scalar(reader, item, &value));
        const char *equals = memchr(value.text, '=', value.size);
        if (equals == NULL) {
            TRY(placed(reader, item, pass_variable_on(definition, value)));
            continue;
        }
        TRY(placed(reader, item, words_add(&definition->environment, value.text, value.size)));
        TRY(placed(
            reader, item,
            words_add(&definition->set_variables, value.text, (size_t)(equals - value.text))));
    }
    return NULL;
}

// A mapping adds variables; a list replaces the whole environment.
static struct error *read_environment(struct definition_reader *reader,
                                      const struct yaml_node *node)
{
    if (node->kind == YAML_LIST)
        return read_variables(reader, node);
    if (node->kind != YAML_MAPPING)
        return source_error(&reader->file, node->at,
                            "expected {NAME: VALUE, ...}, or a list of NAME=VALUE");
    for (const struct yaml_node *key = node->first; key != NULL; key = key->next->next) {
        struct field_value name, value;
        TRY(scalar(reader, key, &name));
        TRY(scalar(reader, key->next, &value));
        if (memchr(name.text, '=', name.size) != NULL)
            return source_error(&reader->file, key->at, "a variable's name has no '=' in it");
        _cleanup_(buffer_deinit) struct buffer variable = {0};
        TRY(buffer_append(&variable, name.text, name.size));
        TRY(buffer_append(&variable, "=", 1));
        TRY(buffer_append(&variable, value.text, value.size));
        TRY(placed(reader, key,
                   value_set_variable(reader->definition, variable.data, variable.size)));
    }
    return NULL;
}

static struct error *read_filter(struct definition_reader *reader, const struct yaml_node *node,
                                 const struct schema_field *field)
{
    struct oracle *oracle = &reader->definition->oracle;
    struct field_value match = {0}, with = value_of("");
    if (node->kind == YAML_SCALAR) {
        TRY(scalar(reader, node, &match));
        return placed(reader, node, value_set(reader->definition, field, match));
    }
    if (node->kind == YAML_LIST)
        return source_error(&reader->file, node->at, "expected {match: REGEX, with: TEXT}");
    for (const struct yaml_node *key = node->first; key != NULL; key = key->next->next) {
        if (is_text(key, "match", 5))
            TRY(scalar(reader, key->next, &match));
        else if (is_text(key, "with", 4))
            TRY(scalar(reader, key->next, &with));
        else
            return source_error(&reader->file, key->at,
                                "a filter is {match: REGEX, with: TEXT}; there is no other key");
    }
    if (match.text == NULL)
        return source_error(&reader->file, node->at, "a filter needs 'match: REGEX'");
    return placed(reader, node, filters_add(oracle, match, with));
}

static struct error *read_list(struct definition_reader *reader, const struct yaml_node *node,
                               const struct schema_field *field)
{
    struct oracle *oracle = &reader->definition->oracle;
    if (field->kind == SCHEMA_FILTERS)
        filters_clear(oracle);
    else if (field->kind == SCHEMA_PATTERNS)
        words_clear((void *)((char *)reader->definition + field->offset));
    else
        oracle->compare_stdout = oracle->compare_stderr = oracle->compare_files = false;
    if (node->kind == YAML_MAPPING)
        return source_error(&reader->file, node->at, "expected a list: [..., ...]");
    const struct yaml_node *item = node->kind == YAML_LIST ? node->first : node;
    for (; item != NULL; item = node->kind == YAML_LIST ? item->next : NULL) {
        struct field_value value;
        if (field->kind == SCHEMA_FILTERS) {
            TRY(read_filter(reader, item, field));
            continue;
        }
        TRY(scalar(reader, item, &value));
        TRY(placed(reader, item, value_set(reader->definition, field, value)));
    }
    return NULL;
}

static unsigned line_of(const struct definition_reader *reader, size_t at)
{
    unsigned line = 1;
    for (size_t i = 0; i < at && i < reader->file.file_size; i++)
        line += reader->file.file[i] == '\n';
    return line;
}

static struct error *check_value(const struct definition_reader *reader,
                                 const struct yaml_node *node,
                                 const struct injector_parameter *known, struct field_value value)
{
    if (reader->injector->check == NULL)
        return NULL;
    struct source source = reader->file;
    source.text = value.text;
    source.size = value.size;
    source.base = node->at;
    source.mapping = SOURCE_SCALAR;
    return reader->injector->check(known->name, &source);
}

static struct error *read_parameter(struct definition_reader *reader, const struct yaml_node *key)
{
    const struct yaml_node *node = key->next;
    const struct injector_parameter *known = NULL;
    TRY(placed(reader, key, parameters_known(reader->injector, key->text, key->size, &known)));
    if (node->kind == YAML_MAPPING)
        return source_error(&reader->file, node->at,
                            "expected the parameter's value, or a list of values");
    const struct yaml_node *item = node->kind == YAML_LIST ? node->first : node;
    if (item == NULL)
        return source_error(&reader->file, node->at, "this list is empty");
    if (node->kind == YAML_LIST && item->next != NULL && !known->many)
        return source_error(&reader->file, item->next->at, "'%s' takes one value only",
                            known->name);
    for (; item != NULL; item = node->kind == YAML_LIST ? item->next : NULL) {
        struct field_value value;
        TRY(scalar(reader, item, &value));
        TRY(check_value(reader, item, known, value));
        struct error *error =
            parameters_add(&reader->definition->parameters, reader->injector, key->text, key->size,
                           value.text, value.size, line_of(reader, item->at));
        TRY(placed(reader, item, error));
    }
    return NULL;
}

static struct error *read_injector(struct definition_reader *reader, const struct yaml_node *node)
{
    const struct yaml_node *name = node->kind == YAML_MAPPING ? node->first : node;
    if (node->kind == YAML_LIST || name == NULL || (node != name && name->next->next != NULL))
        return source_error(&reader->file, node->at,
                            "expected one injector: NAME, or {NAME: {PARAMETER: VALUE}}");
    parameters_clear(&reader->definition->parameters);
    TRY(placed(reader, name, definition_use_injector(reader->definition, name->text, name->size)));
    TRY(definition_injector(reader->definition, &reader->injector));
    const struct yaml_node *parameters = node != name ? name->next : NULL;
    if (parameters == NULL || is_text(parameters, "", 0))
        return NULL;
    if (parameters->kind != YAML_MAPPING)
        return source_error(&reader->file, parameters->at,
                            "expected the injector's parameters: {PARAMETER: VALUE, ...}");
    for (const struct yaml_node *key = parameters->first; key != NULL; key = key->next->next)
        TRY(read_parameter(reader, key));
    return NULL;
}

static struct error *read_field(struct definition_reader *reader, const struct schema_field *field,
                                const struct yaml_node *node)
{
    void *at = (char *)reader->definition + field->offset;
    struct field_value value;
    switch (field->kind) {
    case SCHEMA_COMMAND:
        return read_command(reader, node, at);
    case SCHEMA_COMMANDS:
        return read_commands(reader, node, at);
    case SCHEMA_ENVIRONMENT:
        return read_environment(reader, node);
    case SCHEMA_INJECTOR:
        return read_injector(reader, node);
    case SCHEMA_FILTERS:
    case SCHEMA_COMPARE:
    case SCHEMA_PATTERNS:
        return read_list(reader, node, field);
    default:
        TRY(scalar(reader, node, &value));
        return placed(reader, node, value_set(reader->definition, field, value));
    }
}

// The field that a section sets if its value is no mapping.
static const char *shorthand(const char *section)
{
    if (strcmp(section, "selection") == 0 || strcmp(section, "sandbox") == 0)
        return "kind";
    return strcmp(section, "oracle.timeout") == 0 ? "floor" : NULL;
}

// Looks for the key in other sections, and writes " (did you mean 'oracle.timeout'?)".
static bool elsewhere(const struct yaml_node *key, char *storage, size_t size)
{
    for (const struct schema_field *field = schema_fields; field->key != NULL; field++)
        for (const char *dot = strchr(field->key, '.'); dot != NULL; dot = strchr(dot + 1, '.'))
            if (strcspn(dot + 1, ".") == key->size && memcmp(dot + 1, key->text, key->size) == 0) {
                int whole = (int)(dot + 1 - field->key + (ptrdiff_t)key->size);
                snprintf(storage, size, " (did you mean '%.*s'?)", whole, field->key);
                return true;
            }
    return false;
}

static struct error *unknown_key(const struct definition_reader *reader,
                                 const struct yaml_node *key, const char *section)
{
    struct suggestion meant = suggestion_start(key->text, key->size);
    size_t skip = strlen(section) + (*section != '\0');
    _cleanup_(buffer_deinit) struct buffer known = {0};
    const char *last = "";
    for (const struct schema_field *field = schema_fields; field->key != NULL; field++) {
        if (strncmp(field->key, section, strlen(section)) != 0 ||
            (*section != '\0' && field->key[skip - 1] != '.'))
            continue;
        size_t size = strcspn(field->key + skip, ".");
        if (strlen(last) >= skip + size && strncmp(last, field->key, skip + size) == 0 &&
            (last[skip + size] == '.' || last[skip + size] == '\0'))
            continue; // another field of the same section
        last = field->key;
        TRY(buffer_printf(&known, "%s%.*s", known.size == 0 ? "" : ", ", (int)size,
                          field->key + skip));
    }
    _cleanup_free_ char *words = strdup(known.data);
    if (words == NULL)
        return error_no_memory();
    char *rest = words;
    for (char *word; (word = strsep(&rest, ",")) != NULL;)
        suggestion_offer(&meant, word + (*word == ' '));
    char storage[SUGGESTION_SIZE];
    const char *place = suggestion_text(&meant, storage);
    if (elsewhere(key, storage, sizeof storage))
        place = storage;
    return source_error(&reader->file, key->at, "unknown key '%.*s'%s%s%s%s; there are: %s",
                        key->size < 60 ? (int)key->size : 60, key->text,
                        *section != '\0' ? " in '" : " of a campaign", section,
                        *section != '\0' ? "'" : "", place, known.data);
}

// "SECTION.KEY", or "" if that is longer than any key of the schema.
static const char *join(const char *section, const struct yaml_node *key, char dotted[KEY_LIMIT])
{
    size_t used = strlen(section);
    dotted[0] = '\0';
    if (used + 1 + key->size + 1 > KEY_LIMIT || memchr(key->text, '.', key->size) != NULL ||
        memchr(key->text, '\0', key->size) != NULL)
        return dotted;
    memcpy(dotted, section, used);
    if (used != 0)
        dotted[used++] = '.';
    memcpy(dotted + used, key->text, key->size);
    dotted[used + key->size] = '\0';
    return dotted;
}

static bool is_field(const char *key)
{
    const struct schema_field *field = *key != '\0' ? schema_find(key) : NULL;
    return field != NULL && strcmp(field->key, key) == 0;
}

static struct error *check_keys(const struct definition_reader *reader,
                                const struct yaml_node *mapping, const char *section)
{
    for (const struct yaml_node *key = mapping->first; key != NULL; key = key->next->next) {
        char dotted[KEY_LIMIT];
        join(section, key, dotted);
        if (is_field(dotted))
            continue;
        if (dotted[0] == '\0' || !schema_is_section(dotted, strlen(dotted)))
            return unknown_key(reader, key, section);
        if (key->next->kind == YAML_MAPPING)
            TRY(check_keys(reader, key->next, dotted));
        else if (key->next->kind == YAML_LIST || shorthand(dotted) == NULL)
            return source_error(&reader->file, key->next->at, "expected keys and values of '%s'",
                                dotted);
    }
    return NULL;
}

// Finds the node of a field, or NULL.
static const struct yaml_node *find(const struct yaml_node *mapping, const char *path,
                                    const char *section)
{
    size_t size = strcspn(path, ".");
    for (const struct yaml_node *key = mapping->first; key != NULL; key = key->next->next) {
        char dotted[KEY_LIMIT];
        if (!is_text(key, path, size))
            continue;
        if (path[size] == '\0')
            return key->next;
        join(section, key, dotted);
        if (key->next->kind == YAML_MAPPING)
            return find(key->next, path + size + 1, dotted);
        const char *meant = shorthand(dotted);
        return meant != NULL && strcmp(path + size + 1, meant) == 0 ? key->next : NULL;
    }
    return NULL;
}

// Whether the timeout is a single duration. Then the time of the references does not matter.
static bool timeout_is_fixed(const struct yaml_node *root)
{
    const struct yaml_node *timeout = find(root, "oracle.timeout", "");
    return timeout != NULL && timeout->kind == YAML_SCALAR;
}

static struct error *read_document(struct definition_reader *reader)
{
    struct yaml_node *root = NULL;
    TRY(yaml_tree_read(&reader->file, &reader->arena, &root));
    if (root == NULL || root->kind != YAML_MAPPING)
        return source_error(&reader->file, root != NULL ? root->at : 0,
                            "a campaign file is made of keys and values: 'command: ...'");
    TRY(check_keys(reader, root, ""));
    if (timeout_is_fixed(root))
        reader->definition->oracle.timeout_factor = 0;
    for (const struct schema_field *field = schema_fields; field->key != NULL; field++) {
        const struct yaml_node *node = find(root, field->key, "");
        if (node != NULL)
            TRY(read_field(reader, field, node));
    }
    return NULL;
}

static struct error *parse(struct definition *definition, const char *name, const char *directory,
                           const char *text, size_t size)
{
    if (size > FILE_LIMIT)
        return error_new("%s is larger than %u bytes", name, FILE_LIMIT);
    struct definition_reader reader = {
        .definition = definition, .file = source_whole(name, text, size), .directory = directory};
    struct error *error = read_document(&reader);
    arena_deinit(&reader.arena);
    return error;
}

struct error *definition_parse(struct definition *definition, const char *name, const char *text,
                               size_t size)
{
    return parse(definition, name, NULL, text, size);
}

// Names the campaign after its file, if the file gives no name: "cp" for "dir/cp.yaml".
static struct error *name_after(struct definition *definition, const char *path)
{
    const char *base = file_base_name(path);
    const char *dot = strrchr(base, '.');
    char *name = strndup(base, dot != NULL && dot != base ? (size_t)(dot - base) : strlen(base));
    if (name == NULL)
        return error_no_memory();
    free(definition->name);
    definition->name = name;
    return NULL;
}

struct error *definition_read(struct definition *definition, const char *path)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_read_file(path, FILE_LIMIT, &text));
    const char *slash = strrchr(path, '/');
    _cleanup_free_ char *directory =
        slash != NULL ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : NULL;
    if (slash != NULL && directory == NULL)
        return error_no_memory();
    TRY(name_after(definition, path));
    return parse(definition, path, directory, text.size != 0 ? text.data : "", text.size);
}
