// SPDX-License-Identifier: GPL-3.0-or-later
// See campaign-flags.h.
#include "cli/campaign/flags.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "injector/parameters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// No number that can be given.
#define NO_SEED UINT64_MAX

const struct campaign_flag campaign_flags[] = {
    {"inject", "faults", "library", false},
    {"at", "at", "library", false},
    {"plugin", "plugins", "library", false},
    {"functions", "functions", "library", false},
    {"modules", "modules", "library", false},
    {"exclude", "exclude", "library", false},
    {"depth", "depth", "library", false},
    {"signal", "signals", "signal", false},
    {"name", "campaign", NULL, false},
    {"env", "environment", NULL, false},
    {"input", "input", NULL, false},
    {"ready", "server.ready", NULL, false},
    {"load", "server.load", NULL, false},
    {"stop", "server.stop", NULL, false},
    {"grace", "server.grace", NULL, false},
    {"setup", "setup", NULL, false},
    {"pretest", "pretest", NULL, false},
    {"posttest", "posttest", NULL, false},
    {"teardown", "teardown", NULL, false},
    {"sample", "selection.sample", NULL, false},
    {"per", "selection.per", NULL, false},
    {"weights", "selection.weights", NULL, false},
    {"since", "selection.since", NULL, false},
    {"repeat", "selection.repeat", NULL, false},
    {"references", "oracle.references", NULL, false},
    {"expect-status", "oracle.status", NULL, false},
    {"compare", "oracle.compare", NULL, false},
    {"ignore", "oracle.ignore", NULL, false},
    {"filter", "oracle.filters", NULL, false},
    {"oracle", "oracle.command", NULL, false},
    {"timeout", "oracle.timeout.floor", NULL, false},
    {"timeout-factor", "oracle.timeout.factor", NULL, false},
    {"sandbox", "sandbox.kind", NULL, false},
    {"seed", "seed", NULL, false},
    {"fork", "fork", NULL, false},
    {"jobs", "jobs", NULL, true},
    {"time-budget", "time_budget", NULL, true},
    {"max-trials", "max_trials", NULL, true},
    {"until-interval", "until_interval", NULL, true},
    {"set", NULL, NULL, false},
    {0},
};

static const struct campaign_flag *flag_of(const struct option_entry *entry)
{
    const struct campaign_flag *flag = campaign_flags;
    while (flag->option != NULL && strcmp(flag->option, entry->option->name) != 0)
        flag++;
    return flag->option != NULL ? flag : NULL;
}

// Which of the options choose an injector, and that they agree.
static struct error *choose_injector(const struct campaign_words *words,
                                     struct definition *definition)
{
    const struct campaign_flag *chosen = NULL;
    for (size_t i = 0; i < words->flags->entries.count; i++) {
        const struct campaign_flag *flag = flag_of(&words->flags->entries.items[i]);
        if (flag == NULL || flag->injector == NULL)
            continue;
        if (chosen != NULL && strcmp(chosen->injector, flag->injector) != 0)
            return error_new("--%s and --%s do not go together: a campaign has one injector",
                             chosen->option, flag->option);
        chosen = flag;
    }
    return chosen != NULL ? definition_set(definition, "injector", chosen->injector) : NULL;
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

static struct error *apply(const struct option_entry *entry, struct definition *definition)
{
    const struct campaign_flag *flag = flag_of(entry);
    struct error *error;
    if (flag == NULL)
        return NULL;
    if (flag->key == NULL)
        return set_pair(definition, entry->value);
    if (flag->injector != NULL)
        error = definition_add_parameter(definition, flag->key, entry->value);
    else
        error = definition_set(definition, flag->key, entry->value);
    // A time that is given holds, whatever the reference took; unless a factor is given after it.
    if (error == NULL && strcmp(flag->option, "timeout") == 0)
        definition->oracle.timeout_factor = 0;
    if (error == NULL || error == error_no_memory())
        return error;
    return error_prefix(error, "--%s", flag->option);
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
    definition->command.count--; // a NULL beyond the last
    return NULL;
}

// Over a file's sample, but not over one that is asked for beside it.
static struct error *set_sweep(const struct campaign_words *words, struct definition *definition)
{
    for (size_t i = 0; i < words->flags->entries.count; i++)
        if (strcmp(words->flags->entries.items[i].option->name, "sample") == 0)
            return error_new("--sweep and --sample do not go together");
    definition->selection.sample = 0;
    return definition_set(definition, "selection.kind", "sweep");
}

static struct error *apply_words(const struct campaign_words *words, struct definition *definition)
{
    if (words->file == NULL && words->command != NULL)
        TRY(definition_set(definition, "campaign", file_base_name(words->command[0])));
    TRY(choose_injector(words, definition));
    for (size_t i = 0; i < words->flags->entries.count; i++)
        TRY(apply(&words->flags->entries.items[i], definition));
    if (words->sweep)
        TRY(set_sweep(words, definition));
    if (words->persistent)
        TRY(definition_set(definition, "injector.library.mode", "persistent"));
    if (words->long_lived)
        TRY(definition_set(definition, "server.long_lived", "true"));
    if (words->private_network)
        TRY(definition_set(definition, "sandbox.network", "private"));
    if (words->paranoid) {
        parameters_forget(&definition->parameters, "errors");
        TRY(definition_set(definition, "injector.library.errors", "all"));
    }
    if (words->coverage) {
        parameters_forget(&definition->parameters, "coverage");
        TRY(definition_set(definition, "injector.library.coverage", "recovery"));
    }
    return words->command != NULL ? set_command(definition, words->command) : NULL;
}

// What somebody wants who says nothing but the command.
static struct error *set_automatic(struct definition *definition)
{
    static const char *const settings[][2] = {
        {"injector.library.faults", "auto"},
        {"selection.order", "listed"},
        {"oracle.references", "3"},
        {"oracle.spread", "1100ms"},
        {"time_budget", "60s"},
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        TRY(definition_set(definition, settings[i][0], settings[i][1]));
    return NULL;
}

struct error *campaign_define(const struct campaign_words *words, struct definition *ret_definition,
                              bool *ret_seeded)
{
    _cleanup_(definition_deinit) struct definition definition = {0};
    TRY(definition_new(&definition));
    uint64_t chosen = definition.seed;
    definition.seed = NO_SEED;
    if (words->automatic)
        TRY(set_automatic(&definition));
    if (words->file != NULL)
        TRY(definition_read(&definition, words->file));
    TRY(apply_words(words, &definition));
    *ret_seeded = definition.seed != NO_SEED;
    if (!*ret_seeded)
        definition.seed = chosen;
    *ret_definition = definition;
    definition = (struct definition){0};
    return NULL;
}

struct error *campaign_redefine(const struct campaign_words *words, struct definition *definition)
{
    // Lists that are given take the place of those that are there.
    for (size_t i = 0; i < words->flags->entries.count; i++) {
        const struct campaign_flag *flag = flag_of(&words->flags->entries.items[i]);
        if (flag != NULL && flag->injector != NULL)
            parameters_forget(&definition->parameters, flag->key);
    }
    return apply_words(words, definition);
}

bool campaign_is_defined(const struct campaign_words *words)
{
    for (size_t i = 0; i < words->flags->entries.count; i++) {
        const struct campaign_flag *flag = flag_of(&words->flags->entries.items[i]);
        if (flag != NULL && !flag->limit)
            return true;
    }
    return words->file != NULL || words->command != NULL || words->sweep || words->persistent ||
           words->private_network || words->long_lived || words->paranoid || words->coverage;
}

struct error *campaign_set_limits(const struct campaign_words *words, struct definition *definition)
{
    for (size_t i = 0; i < words->flags->entries.count; i++) {
        const struct campaign_flag *flag = flag_of(&words->flags->entries.items[i]);
        if (flag != NULL && flag->limit)
            TRY(apply(&words->flags->entries.items[i], definition));
    }
    return NULL;
}

// Nor looks like the name of one.
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
