// SPDX-License-Identifier: GPL-3.0-or-later
// Parses values of campaign files and flags by the kind of their field, and writes durations and
// sizes.
#include "definition/value.h"

#include "base/choice.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/suggestion.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

// How much of a value an error message shows.
#define SHOWN(value) ((value).size < 60 ? (int)(value).size : 60), (value).text

struct field_value value_of(const char *text)
{
    return (struct field_value){.text = text, .size = strlen(text)};
}

void filters_clear(struct oracle *oracle)
{
    for (size_t i = 0; i < oracle->filters.count; i++) {
        free(oracle->filters.items[i].pattern);
        free(oracle->filters.items[i].replacement);
    }
    oracle->filters.count = 0;
}

static struct error *copy_text(struct field_value value, char **ret_text)
{
    if (memchr(value.text, '\0', value.size) != NULL)
        return error_new("a NUL byte has no place here");
    char *copy = strndup(value.text, value.size);
    if (copy == NULL)
        return error_no_memory();
    free(*ret_text);
    *ret_text = copy;
    return NULL;
}

struct error *filters_add(struct oracle *oracle, struct field_value match, struct field_value with)
{
    struct filter filter = {0};
    struct error *error = copy_text(match, &filter.pattern);
    if (error == NULL)
        error = copy_text(with, &filter.replacement);
    regex_t regex;
    int code = error == NULL ? regcomp(&regex, filter.pattern, REG_EXTENDED) : REG_NOMATCH;
    if (code == 0) {
        regfree(&regex);
    } else if (error == NULL) {
        char message[128];
        regerror(code, &regex, message, sizeof message);
        error = error_new("'%.*s' is no regular expression: %s", SHOWN(match), message);
    }
    struct filter *added = error == NULL ? ARRAY_ADD(&oracle->filters) : NULL;
    if (added != NULL) {
        *added = filter;
        return NULL;
    }
    free(filter.pattern);
    free(filter.replacement);
    return error != NULL ? error : error_no_memory();
}

// Parses s/RE/TEXT/, with any delimiter in place of '/'. A backslash makes the delimiter literal.
static struct error *set_filter(struct oracle *oracle, struct field_value value)
{
    _cleanup_(buffer_deinit) struct buffer match = {0}, with = {0};
    struct buffer *const parts[] = {&match, &with};
    char mark = value.size > 3 && value.text[0] == 's' ? value.text[1] : '\0';
    size_t at = 2, part = 0;
    for (; mark != '\0' && at < value.size && part < 2; at++) {
        bool escaped = value.text[at] == '\\' && at + 1 < value.size;
        if (value.text[at] == mark)
            part++;
        else if (escaped && value.text[at + 1] == mark)
            TRY(buffer_append(parts[part], &value.text[++at], 1));
        else if (escaped)
            TRY(buffer_append(parts[part], &value.text[at++], 2));
        else
            TRY(buffer_append(parts[part], &value.text[at], 1));
    }
    if (part != 2 || at != value.size || match.size == 0)
        return error_new("expected s/REGEX/TEXT/, not '%.*s'", SHOWN(value));
    return filters_add(oracle, (struct field_value){match.data, match.size, NULL},
                       (struct field_value){with.size != 0 ? with.data : "", with.size, NULL});
}

static struct error *set_path(struct field_value value, char **field)
{
    if (value.size == 0) {
        free(*field);
        *field = NULL;
        return NULL;
    }
    if (memchr(value.text, '\0', value.size) != NULL)
        return error_new("a NUL byte has no place in a path");
    _cleanup_free_ char *here = NULL;
    char *path = NULL;
    if (value.text[0] != '/' && (value.directory == NULL || value.directory[0] != '/')) {
        here = getcwd(NULL, 0);
        if (here == NULL)
            return error_from_errno(errno, "cannot tell the current directory");
    }
    int size =
        value.text[0] == '/' ? asprintf(&path, "%.*s", (int)value.size, value.text)
        : here == NULL || value.directory == NULL
            ? asprintf(&path, "%s/%.*s", here != NULL ? here : value.directory, (int)value.size,
                       value.text)
            : asprintf(&path, "%s/%s/%.*s", here, value.directory, (int)value.size, value.text);
    if (size < 0)
        return error_no_memory();
    free(*field);
    *field = path;
    return NULL;
}

static struct error *read_bool(const char *values, struct field_value value, bool *ret)
{
    // Other words for true and false.
    static const char *const words[] = {"false|no|off|0", "true|yes|on|1"};
    int index = choice_find(values, value.text, value.size);
    for (int i = 0; i < 2 && index < 0; i++)
        if (choice_find(words[i], value.text, value.size) >= 0)
            index = i;
    if (index < 0)
        return choice_error(values, value.text, value.size);
    *ret = index == 1;
    return NULL;
}

struct unit {
    const char *name;
    double factor;
};
static const struct unit no_units[] = {{"", 1}, {0}};
static const struct unit durations[] = {
    {"", NS_PER_S},
    {"s", NS_PER_S},
    {"ms", NS_PER_MS},
    {"us", NS_PER_US},
    {"ns", 1},
    {"m", 60 * NS_PER_S},
    {"min", 60 * NS_PER_S},
    {"h", 60 * 60 * NS_PER_S},
    {"d", 24 * 60 * 60 * NS_PER_S},
    {0},
};
static const struct unit sizes[] = {
    {"", 1},
    {"B", 1},
    {"K", 1024},
    {"KiB", 1024},
    {"M", 1048576},
    {"MiB", 1048576},
    {"G", 1073741824},
    {"GiB", 1073741824},
    {"T", 1.099511627776e12},
    {"TiB", 1.099511627776e12},
    {0},
};

// Parses a plain decimal number with one of the units.
static bool read_units(struct field_value value, const struct unit *units, double *ret_number)
{
    char text[64], *end;
    if (value.size == 0 || value.size >= sizeof text || !isdigit((unsigned char)value.text[0]) ||
        memchr(value.text, 'x', value.size) != NULL)
        return false;
    memcpy(text, value.text, value.size);
    text[value.size] = '\0';
    double number = strtod(text, &end);
    while (*end == ' ')
        end++;
    for (; units->name != NULL; units++)
        if (strcmp(end, units->name) == 0 && strlen(text) == value.size) {
            *ret_number = number * units->factor;
            return isfinite(*ret_number);
        }
    return false;
}

// Parses whole numbers exactly; a double could not hold them all.
static bool read_whole(struct field_value value, uint64_t *ret_number)
{
    uint64_t number = 0;
    for (size_t i = 0; i < value.size; i++) {
        unsigned digit = (unsigned)value.text[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, digit, &number))
            return false;
    }
    *ret_number = number;
    return value.size != 0;
}

static struct error *read_count(const struct schema_field *field, struct field_value value,
                                uint64_t *ret_number)
{
    uint64_t number;
    if (!read_whole(value, &number) || (double)number < field->low || (double)number > field->high)
        return error_new("expected a whole number from %.0f to %.0f, not '%.*s'", field->low,
                         field->high, SHOWN(value));
    *ret_number = number;
    return NULL;
}

static struct error *read_real(const struct schema_field *field, struct field_value value,
                               double *ret_number)
{
    double number;
    if (!read_units(value, no_units, &number) || number < field->low || number > field->high)
        return error_new("expected a number from %g to %g, not '%.*s'", field->low, field->high,
                         SHOWN(value));
    *ret_number = number;
    return NULL;
}

static struct error *read_duration(const struct schema_field *field, struct field_value value,
                                   uint64_t *ret_ns)
{
    double ns;
    double scale = field->kind == SCHEMA_S ? (double)NS_PER_S : 1;
    if (!read_units(value, durations, &ns) || ns < field->low * scale || ns > 1e18)
        return error_new("expected a time such as 2s, 500ms, 1.5m or 1h%s, not '%.*s'",
                         field->low > 0 ? " above 0" : "", SHOWN(value));
    *ret_ns = (uint64_t)llround(ns);
    return NULL;
}

static struct error *read_size(struct field_value value, uint64_t *ret_bytes)
{
    double bytes;
    if (!read_units(value, sizes, &bytes) || bytes > 1e18)
        return error_new("expected a size such as 4096, 100M or 1.5G, not '%.*s'", SHOWN(value));
    *ret_bytes = (uint64_t)llround(bytes);
    return NULL;
}

// Parses words separated by commas.
static struct error *set_compare(struct oracle *oracle, const char *values,
                                 struct field_value value)
{
    bool chosen[3] = {false, false, false};
    for (size_t at = 0; at < value.size;) {
        struct field_value word = {.text = value.text + at};
        while (at + word.size < value.size && word.text[word.size] != ',')
            word.size++;
        at += word.size + 1;
        int index = 0;
        TRY(choice_parse(values, word.text, word.size, &index));
        chosen[index] = true;
    }
    oracle->compare_stdout |= chosen[0];
    oracle->compare_stderr |= chosen[1];
    oracle->compare_files |= chosen[2];
    return NULL;
}

static struct error *set_text(const struct schema_field *field, struct field_value value,
                              char **text)
{
    int index;
    if (field->values != NULL)
        TRY(choice_parse(field->values, value.text, value.size, &index));
    return copy_text(value, text);
}

static struct error *set_count32(const struct schema_field *field, struct field_value value,
                                 uint32_t *ret)
{
    uint64_t number = 0;
    TRY(read_count(field, value, &number));
    *ret = (uint32_t)number;
    return NULL;
}

static struct error *set_sample(struct definition *definition, const struct schema_field *field,
                                struct field_value value)
{
    TRY(read_count(field, value, &definition->selection.sample));
    definition->selection.kind = SELECT_SAMPLE;
    return NULL;
}

static struct error *set_enum(const struct schema_field *field, struct field_value value, void *at)
{
    int index;
    TRY(choice_parse(field->values, value.text, value.size, &index));
    // All enums of the table start at 0 and have the values in order.
    *(unsigned *)at = (unsigned)index;
    return NULL;
}

struct error *value_set_variable(struct definition *definition, const char *text, size_t size)
{
    TRY(words_set_variable(&definition->environment, text, size));
    size_t name = (size_t)((const char *)memchr(text, '=', size) - text);
    for (size_t i = 0; i < definition->set_variables.count; i++)
        if (strlen(definition->set_variables.items[i]) == name &&
            memcmp(definition->set_variables.items[i], text, name) == 0)
            return NULL;
    return words_add(&definition->set_variables, text, name);
}

static struct error *set_directory(struct field_value value, struct words *files)
{
    _cleanup_free_ char *path = NULL;
    TRY(set_path(value, &path));
    words_clear(files);
    return path != NULL ? inputs_list_files(path, files) : NULL;
}

static struct error *add_command(struct field_value value, struct command_list *list)
{
    struct words *command;
    TRY(command_list_add(list, &command));
    return words_shell(command, value.text, value.size);
}

struct error *value_set(struct definition *definition, const struct schema_field *field,
                        struct field_value value)
{
    void *at = (char *)definition + field->offset;
    switch (field->kind) {
    case SCHEMA_TEXT:
        return set_text(field, value, at);
    case SCHEMA_PATH:
        return set_path(value, at);
    case SCHEMA_COMMAND:
        return words_shell(at, value.text, value.size);
    case SCHEMA_COMMANDS:
        return add_command(value, at);
    case SCHEMA_DIRECTORY:
        return set_directory(value, at);
    case SCHEMA_ENVIRONMENT:
        return value_set_variable(definition, value.text, value.size);
    case SCHEMA_PATTERNS:
        return words_add(at, value.text, value.size);
    case SCHEMA_FILTERS:
        return set_filter(&definition->oracle, value);
    case SCHEMA_COMPARE:
        return set_compare(at, field->values, value);
    case SCHEMA_SAMPLE:
        return set_sample(definition, field, value);
    case SCHEMA_CHOICE:
        return set_enum(field, value, at);
    case SCHEMA_BOOL:
        return read_bool(field->values, value, at);
    case SCHEMA_COUNT32:
        return set_count32(field, value, at);
    case SCHEMA_COUNT:
        return read_count(field, value, at);
    case SCHEMA_REAL:
        return read_real(field, value, at);
    case SCHEMA_NS:
        return read_duration(field, value, at);
    case SCHEMA_S: {
        uint64_t ns = 0;
        TRY(read_duration(field, value, &ns));
        *(uint64_t *)at = (ns + NS_PER_S - 1) / NS_PER_S;
        return NULL;
    }
    case SCHEMA_SIZE:
        return read_size(value, at);
    case SCHEMA_INJECTOR:
        break; // file.c reads it
    }
    return error_new("cannot be set this way");
}

struct error *value_put_duration(struct buffer *text, uint64_t ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"s", NS_PER_S}, {"ms", NS_PER_MS}, {"us", NS_PER_US}, {"ns", 1}};
    size_t i = 0;
    while (ns % units[i].ns != 0)
        i++;
    return buffer_printf(text, "%llu%s", (unsigned long long)(ns / units[i].ns), units[i].name);
}

struct error *value_put_size(struct buffer *text, uint64_t bytes)
{
    static const char units[] = "\0KMGT";
    size_t i = 0;
    while (bytes != 0 && bytes % 1024 == 0 && i < 4) {
        bytes /= 1024;
        i++;
    }
    return buffer_printf(text, "%llu%.1s", (unsigned long long)bytes, units + i);
}
