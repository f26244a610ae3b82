// SPDX-License-Identifier: GPL-3.0-or-later
// The option parser, driven by a command's table. Accepts --name VALUE, --name=VALUE, -n VALUE,
// -nVALUE, -ab, and -- as the end of options.
#include "cli/command.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/suggestion.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct error *parse_number(const struct option *option, const char *value, uint64_t *ret)
{
    char *end;
    errno = 0;
    uint64_t number = strtoull(value, &end, 0);
    if (*value < '0' || *value > '9' || *end != '\0' || errno != 0 || number > INT64_MAX)
        return error_new("--%s needs a number, not '%s'", option->name, value);
    *ret = number;
    return NULL;
}

static struct error *parse_seconds(const struct option *option, const char *value, uint64_t *ret)
{
    static const struct {
        const char *unit;
        double factor;
    } units[] = {{"", NS_PER_S},    {"s", NS_PER_S},      {"ms", NS_PER_MS},
                 {"us", NS_PER_US}, {"m", 60 * NS_PER_S}, {"h", 3600 * NS_PER_S}};
    char *end;
    double number = strtod(value, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (end == value || strcmp(end, units[i].unit) != 0)
            continue;
        double ns = number * units[i].factor;
        if (!isfinite(ns) || ns < 1 || ns > 1e18)
            break;
        *ret = (uint64_t)ns;
        return NULL;
    }
    return error_new("--%s needs a time above 0 such as 2, 0.5, 500ms or 1m, not '%s'",
                     option->name, value);
}

static struct error *store(const struct option *option, void *settings, const char *value)
{
    void *field = (char *)settings + option->field;
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return NULL;
    case OPTION_TEXT:
    case OPTION_FILE:
        *(const char **)field = value;
        return NULL;
    case OPTION_NUMBER: {
        struct option_number *number = field;
        number->given = true;
        return parse_number(option, value, &number->value);
    }
    case OPTION_SECONDS:
        return parse_seconds(option, value, field);
    case OPTION_LIST:
    case OPTION_FILE_LIST:
    case OPTION_FLAG_LIST: {
        struct option_list *list = field;
        struct option_entry *entry = ARRAY_ADD(&list->entries);
        if (entry == NULL)
            return error_no_memory();
        *entry = (struct option_entry){.option = option->name, .value = value};
        return NULL;
    }
    }
    return NULL;
}

static struct error *unknown_option(const struct command *command, const char *text)
{
    if (strncmp(text, "--", 2) != 0)
        return error_new("there is no option %s; 'ordeal help %s' lists them", text, command->name);
    struct suggestion meant = suggestion_start(text + 2, strlen(text + 2));
    struct option option;
    for (size_t i = 0; command_option(command, i, &option); i++)
        suggestion_offer(&meant, option.name);
    suggestion_offer(&meant, "help");
    if (meant.best != NULL)
        return error_new("there is no option %s; did you mean --%s?", text, meant.best);
    return error_new("there is no option %s; 'ordeal help %s' lists them", text, command->name);
}

bool command_option(const struct command *command, size_t index, struct option *ret_option)
{
    if (command->option_at != NULL)
        return command->option_at(index, ret_option);
    if (index >= command->option_count)
        return false;
    *ret_option = command->options[index];
    return true;
}

const char *command_synopsis(const struct command *command)
{
    struct option first;
    return command_option(command, 0, &first) ? "[OPTION]... " : "";
}

static bool find_long(const struct command *command, const char *name, size_t size,
                      struct option *ret_option)
{
    for (size_t i = 0; command_option(command, i, ret_option); i++)
        if (strlen(ret_option->name) == size && memcmp(ret_option->name, name, size) == 0)
            return true;
    return false;
}

static bool find_letter(const struct command *command, char letter, struct option *ret_option)
{
    for (size_t i = 0; command_option(command, i, ret_option); i++)
        if (ret_option->letter == letter)
            return true;
    return false;
}

static struct error *parse_long(const struct command *command, char ***at, void *settings)
{
    const char *text = **at;
    size_t size = strcspn(text + 2, "=");
    const char *value = text[2 + size] == '=' ? text + 3 + size : NULL;
    struct option option;
    if (!find_long(command, text + 2, size, &option)) {
        _cleanup_free_ char *name = strndup(text, size + 2);
        return name == NULL ? error_no_memory() : unknown_option(command, name);
    }
    if (option.value == NULL && value != NULL)
        return error_new("--%s takes no value", option.name);
    if (option.value != NULL && value == NULL) {
        value = *++*at;
        if (value == NULL)
            return error_new("--%s needs a value: --%s %s", option.name, option.name, option.value);
    }
    return store(&option, settings, value);
}

static struct error *parse_letters(const struct command *command, char ***at, void *settings)
{
    for (const char *letter = **at + 1; *letter != '\0'; letter++) {
        struct option option;
        if (!find_letter(command, *letter, &option)) {
            const char text[] = {'-', *letter, '\0'};
            return unknown_option(command, text);
        }
        if (option.value == NULL) {
            TRY(store(&option, settings, NULL));
            continue;
        }
        const char *value = letter[1] != '\0' ? letter + 1 : *++*at;
        if (value == NULL)
            return error_new("-%c needs a value: -%c %s", option.letter, option.letter,
                             option.value);
        return store(&option, settings, value);
    }
    return NULL;
}

static struct error *check_operands(const struct command *command, char **operands)
{
    size_t count = 0;
    while (operands[count] != NULL)
        count++;
    if (count < command->least)
        return error_new("something is missing; usage: ordeal %s %s%s", command->name,
                         command_synopsis(command), command->operands);
    if (count > command->most)
        return error_new("'%s' is one too many; usage: ordeal %s %s%s", operands[command->most],
                         command->name, command_synopsis(command), command->operands);
    return NULL;
}

static bool is_ours(const struct command *command, const char *text)
{
    if (strcmp(text, "--help") == 0)
        return true;
    struct option option;
    if (text[0] == '-' && text[1] != '\0' && text[1] != '-' && text[2] == '\0')
        return find_letter(command, text[1], &option);
    size_t size = strncmp(text, "--", 2) == 0 ? strcspn(text + 2, "=") : 0;
    return size != 0 && find_long(command, text + 2, size, &option);
}

struct error *options_parse(const struct command *command, char **arguments, void *settings,
                            char ***ret_operands, bool *ret_help)
{
    // Operands are moved to the front of the array.
    size_t operands = 0;
    char **at = arguments;
    for (; *at != NULL; at++) {
        char *text = *at;
        if (command->passes_options && !is_ours(command, text))
            break;
        if (strcmp(text, "--") == 0) {
            at += !command->keeps_separator;
            break;
        }
        if (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0) {
            *ret_help = true;
            return NULL;
        }
        if (strncmp(text, "--", 2) == 0)
            TRY(parse_long(command, &at, settings));
        else if (text[0] == '-' && text[1] != '\0')
            TRY(parse_letters(command, &at, settings));
        else if (command->command_follows)
            break;
        else
            arguments[operands++] = text;
    }
    while (*at != NULL)
        arguments[operands++] = *at++;
    arguments[operands] = NULL;
    *ret_operands = arguments;
    return check_operands(command, arguments);
}

struct error *random_seed(uint64_t *ret_seed)
{
    struct error *error = random_word(ret_seed);
    *ret_seed &= UINT32_MAX;
    return error != NULL ? error_prefix(error, "cannot choose a seed; give --seed") : NULL;
}

void options_deinit(const struct command *command, void *settings)
{
    struct option option;
    for (size_t i = 0; command_option(command, i, &option); i++)
        if (option.kind == OPTION_LIST || option.kind == OPTION_FILE_LIST ||
            option.kind == OPTION_FLAG_LIST) {
            struct option_list *list = (void *)((char *)settings + option.field);
            ARRAY_DEINIT(&list->entries);
        }
}
