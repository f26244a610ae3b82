// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a complete definition as YAML. definition_parse() reads the same definition from it,
// whatever was set before.
#include "definition/write.h"

#include "base/choice.h"
#include "base/cleanup.h"
#include "base/secrets.h"
#include "base/utf8.h"
#include "definition/value.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_printable(uint32_t character)
{
    return !utf8_is_control(character) && character != 0x2028 && character != 0x2029 &&
           character != 0xfeff && (character & 0xfffe) != 0xfffe;
}

static struct error *put_character(struct buffer *text, const char *bytes, unsigned size,
                                   uint32_t character)
{
    if (character == '"' || character == '\\')
        return buffer_printf(text, "\\%c", (int)character);
    if (character == '\n')
        return buffer_append(text, "\\n", 2);
    if (is_printable(character))
        return buffer_append(text, bytes, size);
    return buffer_printf(text, "\\U%08x", character);
}

static bool is_plain(const char *value)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    // Words that a YAML reader may take for something else than text are quoted.
    static const char words[] = "true|false|yes|no|on|off|null|y|n|True|False|Yes|No|On|Off|Null|Y|"
                                "N|TRUE|FALSE|YES|NO|ON|OFF|NULL";
    size_t size = strlen(value);
    return size != 0 && (strchr(letters, value[0]) != NULL || value[0] == '/') &&
           strspn(value + 1,
                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-") ==
               size - 1 &&
           choice_find(words, value, size) < 0;
}

static struct error *put_text(struct buffer *text, const char *value)
{
    if (is_plain(value))
        return buffer_append(text, value, strlen(value));
    TRY(buffer_append(text, "\"", 1));
    const unsigned char *at = (const unsigned char *)value;
    for (size_t left = strlen(value); left != 0;) {
        uint32_t character;
        unsigned size = utf8_decode(at, left, &character);
        // The last 256 characters stand for bytes that are not UTF-8. So these characters
        // themselves are written as bytes.
        if (size != 0 && character >= 0x10ff00)
            size = 0;
        if (size == 0)
            TRY(buffer_printf(text, "\\U0010FF%02X", at[0]));
        else
            TRY(put_character(text, (const char *)at, size, character));
        at += size != 0 ? size : 1;
        left -= size != 0 ? size : 1;
    }
    return buffer_append(text, "\"", 1);
}

static struct error *put_words(struct buffer *text, const struct words *words)
{
    TRY(buffer_append(text, "[", 1));
    for (size_t i = 0; i < words->count; i++) {
        TRY(buffer_append(text, ", ", i == 0 ? 0 : 2));
        TRY(put_text(text, words->items[i]));
    }
    return buffer_append(text, "]", 1);
}

static struct error *put_commands(struct buffer *text, const struct command_list *list)
{
    TRY(buffer_append(text, "[", 1));
    for (size_t i = 0; i < list->items.count; i++) {
        TRY(buffer_append(text, ", ", i == 0 ? 0 : 2));
        TRY(put_words(text, &list->items.items[i]));
    }
    return buffer_append(text, "]", 1);
}

static struct error *put_filters(struct buffer *text, const struct oracle *oracle)
{
    TRY(buffer_append(text, "[", 1));
    for (size_t i = 0; i < oracle->filters.count; i++) {
        TRY(buffer_printf(text, "%s{match: ", i == 0 ? "" : ", "));
        TRY(put_text(text, oracle->filters.items[i].pattern));
        TRY(buffer_printf(text, ", with: "));
        TRY(put_text(text, oracle->filters.items[i].replacement));
        TRY(buffer_append(text, "}", 1));
    }
    return buffer_append(text, "]", 1);
}

static struct error *put_compare(struct buffer *text, const struct oracle *oracle)
{
    return buffer_printf(
        text, "[%s%s%s%s%s]", oracle->compare_stdout ? "stdout" : "",
        oracle->compare_stdout && oracle->compare_stderr ? ", " : "",
        oracle->compare_stderr ? "stderr" : "",
        (oracle->compare_stdout || oracle->compare_stderr) && oracle->compare_files ? ", " : "",
        oracle->compare_files ? "files" : "");
}

static struct error *put_injector(struct buffer *text, const struct definition *definition)
{
    TRY(buffer_printf(text, "\n  "));
    TRY(put_text(text, definition->injector));
    TRY(buffer_append(text, ":", 1));
    for (size_t i = 0; i < definition->parameters.count; i++) {
        const struct parameter *parameter = &definition->parameters.items[i];
        if (parameter->values.count == 0)
            continue;
        TRY(buffer_printf(text, "\n    "));
        TRY(put_text(text, parameter->name));
        TRY(buffer_append(text, ": ", 2));
        TRY(put_words(text, &parameter->values));
    }
    return NULL;
}

static struct error *put_choice(struct buffer *text, const char *values, int index)
{
    size_t size;
    const char *word = choice_word(values, index, &size);
    return buffer_append(text, word, size);
}

static struct error *put_value(struct buffer *text, const struct definition *definition,
                               const struct schema_field *field)
{
    const void *at = (const char *)definition + field->offset;
    switch (field->kind) {
    case SCHEMA_TEXT:
    case SCHEMA_PATH:
        return put_text(text, *(char *const *)at != NULL ? *(char *const *)at : "");
    case SCHEMA_COMMAND:
    case SCHEMA_ENVIRONMENT:
    case SCHEMA_PATTERNS:
        return put_words(text, at);
    case SCHEMA_COMMANDS:
        return put_commands(text, at);
    case SCHEMA_DIRECTORY:
        return NULL; // its files are written
    case SCHEMA_FILTERS:
        return put_filters(text, &definition->oracle);
    case SCHEMA_INJECTOR:
        return put_injector(text, definition);
    case SCHEMA_COMPARE:
        return put_compare(text, at);
    case SCHEMA_CHOICE:
        return put_choice(text, field->values, *(const int *)at);
    case SCHEMA_BOOL:
        return put_choice(text, field->values, *(const bool *)at);
    case SCHEMA_COUNT32:
        return buffer_printf(text, "%u", *(const uint32_t *)at);
    case SCHEMA_SAMPLE:
    case SCHEMA_COUNT:
        return buffer_printf(text, "%llu", (unsigned long long)*(const uint64_t *)at);
    case SCHEMA_REAL:
        return buffer_printf(text, "%.17g", *(const double *)at);
    case SCHEMA_NS:
        return value_put_duration(text, *(const uint64_t *)at);
    case SCHEMA_S:
        return buffer_printf(text, "%llus", (unsigned long long)*(const uint64_t *)at);
    case SCHEMA_SIZE:
        return value_put_size(text, *(const uint64_t *)at);
    }
    return NULL;
}

// Whether a field has no value. Then its key is not written.
static bool is_absent(const struct definition *definition, const struct schema_field *field)
{
    const void *at = (const char *)definition + field->offset;
    if (strncmp(field->key, "server.", strlen("server.")) == 0 && !definition_is_server(definition))
        return true;
    if (strncmp(field->key, "inputs.", strlen("inputs.")) == 0 &&
        inputs_count(&definition->inputs) == 0)
        return true;
    if (at == &definition->cluster.options)
        return definition->cluster.options.count == 0;
    switch (field->kind) {
    case SCHEMA_DIRECTORY:
        return true;
    case SCHEMA_TEXT:
    case SCHEMA_PATH:
    case SCHEMA_INJECTOR:
        // Without the key, the directory would be the current one.
        return *(char *const *)at == NULL && strcmp(field->key, "directory") != 0;
    case SCHEMA_SAMPLE:
        return definition->selection.sample == 0;
    default:
        return false;
    }
}

// Writes the part of a key after the open sections, and opens its other sections.
static struct error *put_key(struct buffer *text, const char *key, const char *before)
{
    size_t common = 0;
    for (size_t i = 0; key[i] == before[i] && key[i] != '\0'; i++)
        if (key[i] == '.')
            common = i + 1;
    unsigned depth = 0;
    for (size_t i = 0; i < common; i++)
        depth += key[i] == '.';
    for (const char *at = key + common;; depth++) {
        size_t size = strcspn(at, ".");
        TRY(buffer_printf(text, "%*s%.*s:", (int)depth * 2, "", (int)size, at));
        if (at[size] == '\0')
            return NULL;
        TRY(buffer_append(text, "\n", 1));
        at += size + 1;
    }
}

static bool has(char *const *variables, size_t count, const char *wanted, size_t size)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(variables[i], wanted, size) == 0)
            return true;
    return false;
}

static size_t own_count(void)
{
    size_t count = 0;
    while (environ != NULL && environ[count] != NULL)
        count++;
    return count;
}

bool write_is_addition(const struct words *environment)
{
    for (size_t i = 0; i < own_count(); i++)
        if (!has(environment->items, environment->count, environ[i], strcspn(environ[i], "=") + 1))
            return false;
    return true;
}

static struct error *put_added(struct buffer *text, const struct words *environment)
{
    const char *comma = "";
    TRY(buffer_append(text, "{", 1));
    for (size_t i = 0; i < environment->count; i++) {
        const char *variable = environment->items[i];
        size_t size = strcspn(variable, "=");
        if (variable[size] == '\0' || has(environ, own_count(), variable, strlen(variable) + 1))
            continue;
        _cleanup_free_ char *name = strndup(variable, size), *value = strdup(variable + size + 1);
        if (name == NULL || value == NULL)
            return error_no_memory();
        TRY(secrets_mask(&value));
        TRY(buffer_append(text, comma, strlen(comma)));
        TRY(put_text(text, name));
        TRY(buffer_append(text, ": ", 2));
        TRY(put_text(text, value));
        comma = ", ";
    }
    return buffer_append(text, "}", 1);
}

static struct error *write_all(const struct definition *definition, bool brief, struct buffer *text)
{
    const char *before = "";
    for (const struct schema_field *field = schema_fields; field->key != NULL; field++) {
        if (is_absent(definition, field))
            continue;
        TRY(put_key(text, field->key, before));
        TRY(buffer_append(text, " ", field->kind == SCHEMA_INJECTOR ? 0 : 1));
        if (brief && field->kind == SCHEMA_ENVIRONMENT)
            TRY(put_added(text, &definition->environment));
        else
            TRY(put_value(text, definition, field));
        TRY(buffer_append(text, "\n", 1));
        before = field->key;
    }
    return NULL;
}

struct error *definition_write(const struct definition *definition, struct buffer *text)
{
    return write_all(definition, false, text);
}

struct error *write_added(const struct definition *definition, struct buffer *text)
{
    return write_all(definition, true, text);
}
