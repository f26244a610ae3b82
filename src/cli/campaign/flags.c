// SPDX-License-Identifier: GPL-3.0-or-later
// Turns the options of `ordeal campaign` and `ordeal test` into keys of a definition.
#include "cli/campaign/flags.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "cli/command.h"
#include "definition/project-file.h"
#include "injector/injector.h"
#include "injector/parameters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// A number that cannot be given.
#define NO_SEED UINT64_MAX

static struct campaign_option meaning(const struct campaign_arguments *words, size_t index)
{
    return campaign_option_named(words->test, words->flags->entries.items[index].option);
}

// The first injector that is made for `ordeal test` and serves the command; the first one if none
// does. *ret_why says why it is not the first; the caller frees it.
static const struct injector *test_injector(char *const *command, char **ret_why)
{
    const struct injector *first = NULL;
    _cleanup_free_ char *why = NULL;
    for (size_t i = 0; injectors[i] != NULL; i++) {
        const struct injector *injector = injectors[i];
        if (injector->test_settings == NULL)
            continue;
        char *unfit =
            injector->unfit != NULL && command != NULL ? injector->unfit(command[0]) : NULL;
        if (first == NULL)
            first = injector;
        if (unfit == NULL) {
            if (ret_why != NULL)
                *ret_why = TAKE(why);
            return injector;
        }
        if (why == NULL)
            why = unfit;
        else
            free(unfit);
    }
    return first;
}

char *campaign_replaced_injector(const struct campaign_arguments *words,
                                 const struct definition *definition)
{
    _cleanup_free_ char *why = NULL;
    const struct injector *injector = words->test ? test_injector(words->command, &why) : NULL;
    bool used = injector != NULL && definition->injector != NULL &&
                strcmp(definition->injector, injector->name) == 0;
    return used ? TAKE(why) : NULL;
}

static bool has_parameter(const struct injector *injector, const char *name)
{
    const struct injector_parameter *parameter = injector->parameters;
    while (parameter->name != NULL && strcmp(parameter->name, name) != 0)
        parameter++;
    return parameter->name != NULL;
}

// Finds the injector that the options choose. An error if they choose several. Options of the usual
// injector of `ordeal test` also serve another one that has their parameter.
static struct error *choose_injector(const struct campaign_arguments *words,
                                     struct definition *definition)
{
    struct campaign_option chosen = {0}, usual = {0};
    _cleanup_free_ char *why = NULL;
    const struct injector *fit = words->test ? test_injector(words->command, &why) : NULL;
    for (size_t i = 0; i < words->flags->entries.count; i++) {
        struct campaign_option option = meaning(words, i);
        if (option.injector == NULL)
            continue;
        if (words->test && option.injector == test_injector(NULL, NULL)) {
            usual = option;
            continue;
        }
        if (chosen.injector != NULL && chosen.injector != option.injector)
            return error_new("--%s and --%s do not go together: a campaign has one injector",
                             chosen.option.name, option.option.name);
        chosen = option;
    }
    const struct injector *injector = chosen.injector != NULL  ? chosen.injector
                                      : usual.injector != NULL ? fit
                                                               : NULL;
    for (size_t i = 0; injector != NULL && i < words->flags->entries.count; i++) {
        struct campaign_option option = meaning(words, i);
        if (option.injector != NULL && !has_parameter(injector, option.key))
            return error_new("--%s does not go with the injector '%s'%s%s", option.option.name,
                             injector->name, why != NULL ? ", which is used because " : "",
                             why != NULL ? why : "");
    }
    if (injector == NULL ||
        (definition->injector != NULL && strcmp(definition->injector, injector->name) == 0))
        return NULL;
    return definition_set(definition, "injector", injector->name);
}

static struct error *set_pair(struct definition *definition, const char *pair)
{
    const char *equals = strchr(pair, '=');
    if (equals == NULL || equals == pair)
        return error_new("--set needs KEY=VALUE, not '%s'", pair);
    _cleanup_free_ char *key = strndup(pair, (size_t)(equals - pair));
    if (key == NULL)
        return error_no_memory();
    return definition_set(definition, key, equals + 1);
}

static struct error *apply(const struct campaign_arguments *words, size_t index,
                           struct definition *definition)
{
    struct campaign_option option = meaning(words, index);
    const char *value =
        option.value != NULL ? option.value : words->flags->entries.items[index].value;
    struct error *error;
    if (option.key == NULL)
        return set_pair(definition, value);
    if (option.injector != NULL)
        error = definition_add_parameter(definition, option.key, value);
    else
        error = definition_set(definition, option.key, value);
    // --timeout turns off the limit that depends on the reference runs, unless a factor follows it.
    if (error == NULL && strcmp(option.option.name, "timeout") == 0)
        definition->oracle.timeout_factor = 0;
    if (error == NULL || error == error_no_memory())
        return error;
    return error_prefix(error, "--%s", option.option.name);
}

static struct error *set_command(struct definition *definition, char **command)
{
    for (size_t i = 0; i < definition->command.count; i++)
        free(definition->command.items[i]);
    definition->command.count = 0;
    for (; *command != NULL; command++) {
        char **word = ARRAY_ADD(&definition->command);
        if (word == NULL)
            return error_no_memory();
        *word = strdup(*command);
        if (*word == NULL)
            return error_no_memory();
    }
    if (ARRAY_ADD(&definition->command) == NULL)
        return error_no_memory();
    definition->command.count--; // the NULL at the end does not count
    return NULL;
}

// --sweep replaces the sample of a file, but not one from the command line.
static struct error *set_sweep(const struct campaign_arguments *words,
                               struct definition *definition)
{
    for (size_t i = 0; i < words->flags->entries.count; i++)
        if (strcmp(words->flags->entries.items[i].option, "sample") == 0)
            return error_new("--sweep and --sample do not go together");
    definition->selection.sample = 0;
    return definition_set(definition, "selection.kind", "sweep");
}

static struct error *apply_words(const struct campaign_arguments *words,
                                 struct definition *definition)
{
    if (words->file == NULL && words->command != NULL && strcmp(definition->name, "campaign") == 0)
        TRY(definition_set(definition, "campaign", file_base_name(words->command[0])));
    TRY(choose_injector(words, definition));
    // Options without an argument win over what --set says, wherever they stand.
    for (int fixed = 0; fixed < 2; fixed++)
        for (size_t i = 0; i < words->flags->entries.count; i++)
            if ((meaning(words, i).value != NULL) == fixed)
                TRY(apply(words, i, definition));
    if (words->sweep)
        TRY(set_sweep(words, definition));
    return words->command != NULL ? set_command(definition, words->command) : NULL;
}

// What the project's file says of the same injector stays.
static struct error *use_test_injector(const struct campaign_arguments *words,
                                       struct definition *definition)
{
    char *const *command = words->command != NULL           ? words->command
                           : definition->command.count != 0 ? definition->command.items
                                                            : NULL;
    const struct injector *injector = test_injector(command, NULL);
    if (injector == NULL)
        return NULL; // definition_check() reports that it is missing
    TRY(definition_use_injector(definition, injector->name, strlen(injector->name)));
    const struct injector_setting *setting = injector->test_settings;
    for (; setting->parameter != NULL; setting++)
        if (parameters_words(&definition->parameters, setting->parameter) == NULL)
            TRY(definition_add_parameter(definition, setting->parameter, setting->value));
    return NULL;
}

// Sets what a user wants who gives nothing but a command.
static struct error *set_test_defaults(struct definition *definition)
{
    static const char *const settings[][2] = {
        {"selection.order", "listed"},
        {"oracle.references", "3"},
        {"oracle.spread", "1100ms"},
        {"time_budget", "60s"},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        TRY(definition_set(definition, settings[i][0], settings[i][1]));
    return NULL;
}

// Notes where settings come from that the user does not see on the command line.
static struct error *note_origin(const char *path, struct definition *definition)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    const char *options = getenv(ENVIRONMENT_OPTIONS);
    bool given = options != NULL && *options != '\0';
    if (path != NULL)
        TRY(buffer_printf(&text, "%s", path));
    if (given)
        TRY(buffer_printf(&text, "%s" ENVIRONMENT_OPTIONS ": %s", path != NULL ? ", " : "",
                          options));
    definition->origin = TAKE(text.data);
    return NULL;
}

static struct error *read_project_file(const struct campaign_arguments *words,
                                       struct definition *definition)
{
    _cleanup_free_ char *path = NULL;
    if (!words->no_project_file)
        TRY(project_file_find(&path));
    if (path != NULL) {
        TRY(definition_read(definition, path));
        // It says what all campaigns of the project have; a name is rarely part of that.
        if (strcmp(definition->name, ".ordeal") == 0)
            TRY(definition_set(definition, "campaign", "campaign"));
    }
    return note_origin(path, definition);
}

struct error *campaign_define(const struct campaign_arguments *words,
                              struct definition *ret_definition, bool *ret_seeded)
{
    _cleanup_(definition_deinit) struct definition definition = {0};
    TRY(definition_new(&definition));
    uint64_t chosen = definition.seed;
    definition.seed = NO_SEED;
    if (words->test)
        TRY(set_test_defaults(&definition));
    TRY(read_project_file(words, &definition));
    if (words->test)
        TRY(use_test_injector(words, &definition));
    if (words->file != NULL)
        TRY(definition_read(&definition, words->file));
    TRY(apply_words(words, &definition));
    *ret_seeded = definition.seed != NO_SEED;
    if (!*ret_seeded)
        definition.seed = chosen;
    TRY(definition_learn_secrets(&definition));
    TRY(definition_restore_secrets(&definition));
    *ret_definition = definition;
    definition = (struct definition){0};
    return NULL;
}

struct error *campaign_redefine(const struct campaign_arguments *words,
                                struct definition *definition)
{
    // Lists that are given replace those of the definition.
    for (size_t i = 0; i < words->flags->entries.count; i++) {
        struct campaign_option option = meaning(words, i);
        if (option.injector != NULL)
            parameters_forget(&definition->parameters, option.key);
    }
    return apply_words(words, definition);
}

const char *campaign_given(const struct campaign_arguments *words, const char *option)
{
    const char *value = NULL;
    for (size_t i = 0; i < words->flags->entries.count; i++)
        if (strcmp(words->flags->entries.items[i].option, option) == 0)
            value = words->flags->entries.items[i].value;
    return value;
}

bool campaign_is_defined(const struct campaign_arguments *words)
{
    for (size_t i = 0; i < words->flags->entries.count; i++)
        if (!meaning(words, i).limit)
            return true;
    return words->file != NULL || words->command != NULL || words->sweep;
}

struct error *campaign_set_limits(const struct campaign_arguments *words,
                                  struct definition *definition)
{
    for (size_t i = 0; i < words->flags->entries.count; i++)
        if (meaning(words, i).limit)
            TRY(apply(words, i, definition));
    return NULL;
}

// Whether no such file exists, and the name does not look like a file either.
static bool is_no_file(const char *name)
{
    return strstr(file_base_name(name), ".y") == NULL && access(name, F_OK) < 0 && errno == ENOENT;
}

struct error *campaign_operands(char **operands, const char **ret_file, char ***ret_command)
{
    size_t count = 0;
    while (operands[count] != NULL && strcmp(operands[count], "--") != 0)
        count++;
    if (count > 1)
        return error_new("'%s' is one too many; a command follows after '--': ordeal campaign "
                         "[OPTION]... [FILE.yaml] [-- COMMAND]",
                         operands[1]);
    if (count == 1 && operands[count] == NULL && is_no_file(operands[0]))
        return error_new("there is no file '%s'; a command follows after '--': ordeal campaign "
                         "[OPTION]... -- %s",
                         operands[0], operands[0]);
    *ret_file = count == 1 ? operands[0] : NULL;
    if (operands[count] == NULL)
        return NULL;
    if (operands[count + 1] == NULL)
        return error_new("what is the command? nothing follows after '--'");
    *ret_command = operands + count + 1;
    return NULL;
}
