// SPDX-License-Identifier: GPL-3.0-or-later
// Keeps secrets out of what is written of a definition, and puts them back in.
#include "base/cleanup.h"
#include "base/secrets.h"
#include "definition/definition.h"
#include "definition/write.h"

#include <string.h>
#include <unistd.h>

struct error *definition_learn_secrets(const struct definition *definition)
{
    TRY(secrets_learn(environ, &definition->secret, NULL));
    return secrets_learn(definition->environment.items, &definition->secret,
                         &definition->set_variables);
}

static struct error *each_word(struct words *words, struct error *(*change)(char **))
{
    for (size_t i = 0; i < words->count; i++)
        TRY(change(&words->items[i]));
    return NULL;
}

// Changes every text that a user may have put a secret into, but for the environment.
static struct error *each_text(struct definition *definition, struct error *(*change)(char **))
{
    struct words *const lists[] = {
        &definition->command,        &definition->setup,          &definition->teardown,
        &definition->pretest,        &definition->posttest,       &definition->service.load,
        &definition->oracle.ignored, &definition->oracle.command, &definition->cluster.options,
    };
    char **const texts[] = {
        &definition->name,
        &definition->directory,
        &definition->input,
        &definition->service.ready,
        &definition->service.stop,
        &definition->selection.weights_file,
        &definition->selection.since,
        &definition->cluster.directory,
        &definition->cluster.partition,
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        TRY(each_word(lists[i], change));
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        TRY(change(texts[i]));
    for (size_t i = 0; i < definition->parameters.count; i++)
        TRY(each_word(&definition->parameters.items[i].values, change));
    for (size_t i = 0; i < definition->oracle.filters.count; i++) {
        TRY(change(&definition->oracle.filters.items[i].pattern));
        TRY(change(&definition->oracle.filters.items[i].replacement));
    }
    return NULL;
}

struct error *definition_restore_secrets(struct definition *definition)
{
    TRY(each_word(&definition->environment, secrets_restore));
    return each_text(definition, secrets_restore);
}

static bool is_set(const struct definition *definition, const char *name, size_t size)
{
    for (size_t i = 0; i < definition->set_variables.count; i++)
        if (strlen(definition->set_variables.items[i]) == size &&
            memcmp(definition->set_variables.items[i], name, size) == 0)
            return true;
    return false;
}

bool definition_keeps_variable(const struct definition *definition, const char *name, size_t size)
{
    return !variable_is_marked(&definition->secret, name, size) &&
           (variable_is_public(name, size) || is_set(definition, name, size));
}

const char *definition_missing_variable(const struct definition *definition, bool secret_only)
{
    for (size_t i = 0; i < definition->missing_variables.count; i++) {
        const char *name = definition->missing_variables.items[i];
        if (!secret_only || variable_is_marked(&definition->secret, name, strlen(name)))
            return name;
    }
    return NULL;
}

const char *definition_unmarked_secret(const struct definition *definition)
{
    for (size_t i = 0; i < definition->set_variables.count; i++) {
        const char *name = definition->set_variables.items[i];
        size_t size = strlen(name);
        if (variable_looks_secret(name, size) && !secrets_has(name, size) &&
            definition_keeps_variable(definition, name, size))
            return name;
    }
    return NULL;
}

// Appends "NAME=VALUE" if the value may be stored, else NAME.
static struct error *add_stored(struct words *words, const struct definition *definition,
                                const char *variable)
{
    size_t size = strcspn(variable, "=");
    if (variable[size] == '\0' || size == 0)
        return NULL; // no shell makes such a thing, and no program looks for it
    if (!definition_keeps_variable(definition, variable, size))
        return words_add(words, variable, size);
    _cleanup_free_ char *copy = strdup(variable);
    if (copy == NULL)
        return error_no_memory();
    TRY(secrets_mask(&copy));
    return words_add(words, copy, strlen(copy));
}

static struct error *redact(const struct definition *definition, struct words *ret_environment)
{
    words_clear(ret_environment);
    for (size_t i = 0; i < definition->environment.count; i++)
        TRY(add_stored(ret_environment, definition, definition->environment.items[i]));
    for (size_t i = 0; i < definition->missing_variables.count; i++) {
        const char *name = definition->missing_variables.items[i];
        TRY(words_add(ret_environment, name, strlen(name)));
    }
    return NULL;
}

// A copy without secrets. Its environment is still complete.
static struct error *copy_masked(const struct definition *definition, struct definition *ret_copy)
{
    _cleanup_(definition_deinit) struct definition copy = {0};
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(definition_write(definition, &text));
    TRY(definition_new(&copy));
    TRY(definition_parse(&copy, "a definition", text.data, text.size));
    TRY(each_text(&copy, secrets_mask));
    *ret_copy = copy;
    copy = (struct definition){0};
    return NULL;
}

struct error *definition_write_stored(const struct definition *definition, struct buffer *text)
{
    _cleanup_(definition_deinit) struct definition copy = {0};
    TRY(copy_masked(definition, &copy));
    TRY(redact(definition, &copy.environment));
    return definition_write(&copy, text);
}

// Of variables that differ from this process's, secret ones are left out: whoever uses the text has
// them in the environment.
struct error *definition_write_brief(const struct definition *definition, struct buffer *text)
{
    _cleanup_(definition_deinit) struct definition copy = {0};
    TRY(copy_masked(definition, &copy));
    if (!write_is_addition(&copy.environment)) {
        TRY(redact(definition, &copy.environment));
        return definition_write(&copy, text);
    }
    words_clear(&copy.environment);
    for (size_t i = 0; i < definition->environment.count; i++) {
        const char *variable = definition->environment.items[i];
        if (!variable_is_marked(&definition->secret, variable, strcspn(variable, "=")))
            TRY(words_add(&copy.environment, variable, strlen(variable)));
    }
    return write_added(&copy, text);
}
