// SPDX-License-Identifier: GPL-3.0-or-later
// Makes and frees definitions, and sets single fields for flags.
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/suggestion.h"
#include "definition/value.h"
#include "injector/injector.h"

#include <errno.h>
#include <string.h>

#define SEED_MASK 0xffffffffu // short enough to type

static struct error *fill_defaults(struct definition *definition)
{
    definition->oracle.references = 5;
    definition->oracle.compare_stdout = definition->oracle.compare_files = true;
    definition->oracle.timeout_factor = 10;
    definition->oracle.timeout_floor_ns = 2 * NS_PER_S;
    definition->selection.repeat = 1;
    definition->limits.file_bytes = 1u << 30;
    definition->confirm = true;
    definition->name = strdup("campaign");
    definition->engine = strdup("local");
    definition->directory = getcwd(NULL, 0);
    if (definition->directory == NULL)
        return error_from_errno(errno, "cannot tell the current directory");
    if (definition->name == NULL || definition->engine == NULL)
        return error_no_memory();
    for (char **variable = environ; variable != NULL && *variable != NULL; variable++)
        TRY(words_add(&definition->environment, *variable, strlen(*variable)));
    TRY(random_word(&definition->seed));
    definition->seed &= SEED_MASK;
    return NULL;
}

struct error *definition_new(struct definition *ret_definition)
{
    struct definition definition = {0};
    struct error *error = fill_defaults(&definition);
    if (error != NULL)
        definition_deinit(&definition);
    else
        *ret_definition = definition;
    return error;
}

bool definition_is_server(const struct definition *definition)
{
    return definition->service.ready != NULL;
}

void definition_deinit(struct definition *definition)
{
    struct words *const lists[] = {
        &definition->command,        &definition->setup,          &definition->teardown,
        &definition->pretest,        &definition->posttest,       &definition->environment,
        &definition->oracle.ignored, &definition->oracle.command, &definition->service.load,
        &definition->set_variables,  &definition->secret,         &definition->missing_variables,
        &definition->inputs.files,   &definition->mine,           &definition->cluster.options,
    };
    char *const texts[] = {
        definition->name,
        definition->directory,
        definition->input,
        definition->injector,
        definition->selection.per,
        definition->selection.weights_file,
        definition->oracle.invocations,
        definition->selection.since,
        definition->selection.since_revision,
        definition->engine,
        definition->cluster.directory,
        definition->cluster.partition,
        definition->service.ready,
        definition->service.stop,
        definition->origin,
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        words_deinit(lists[i]);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        free(texts[i]);
    command_list_deinit(&definition->inputs.commands);
    filters_clear(&definition->oracle);
    ARRAY_DEINIT(&definition->oracle.filters);
    parameters_deinit(&definition->parameters);
    *definition = (struct definition){0};
}

static struct error *unknown_key(const char *key)
{
    struct suggestion meant = suggestion_start(key, strlen(key));
    for (const struct schema_field *field = schema_fields; field->key != NULL; field++) {
        const char *last = strrchr(field->key, '.');
        suggestion_offer(&meant, field->key);
        if (last != NULL && strchr(key, '.') == NULL)
            suggestion_offer(&meant, last + 1);
    }
    char storage[SUGGESTION_SIZE];
    if (schema_is_section(key, strlen(key)))
        return error_new("'%s' is made of several keys; name one of them, as in '%s.KEY'", key,
                         key);
    return error_new("there is no key '%s'%s; ordeal-campaign(5) lists them", key,
                     suggestion_text(&meant, storage));
}

// Sets injector, injector.PARAMETER or injector.NAME.PARAMETER.
static struct error *set_injector(struct definition *definition, const char *key, const char *value)
{
    if (*key == '\0')
        return definition_use_injector(definition, value, strlen(value));
    const char *parameter = strchr(key + 1, '.');
    if (parameter == NULL)
        return definition_add_parameter(definition, key + 1, value);
    TRY(definition_use_injector(definition, key + 1, (size_t)(parameter - key - 1)));
    return definition_add_parameter(definition, parameter + 1, value);
}

// Whether the key is NAME.PARAMETER, or a PARAMETER of the chosen injector.
static bool is_parameter(const struct definition *definition, const char *key)
{
    const char *dot = strchr(key, '.');
    _cleanup_free_ char *name = dot != NULL ? strndup(key, (size_t)(dot - key)) : NULL;
    if (name != NULL)
        return injector_find(name) != NULL;
    const struct injector *injector =
        dot == NULL && definition->injector != NULL ? injector_find(definition->injector) : NULL;
    for (size_t i = 0; injector != NULL && injector->parameters[i].name != NULL; i++)
        if (strcmp(injector->parameters[i].name, key) == 0)
            return true;
    return false;
}

static struct error *set_parameter(struct definition *definition, const char *key,
                                   const char *value)
{
    _cleanup_(buffer_deinit) struct buffer whole = {0};
    TRY(buffer_printf(&whole, ".%s", key));
    return set_injector(definition, whole.data, value);
}

struct error *definition_set(struct definition *definition, const char *key, const char *value)
{
    struct error *error;
    size_t injector = strlen("injector");
    const struct schema_field *field = schema_find(key);
    if (strncmp(key, "injector", injector) == 0 && (key[injector] == '\0' || key[injector] == '.'))
        error = set_injector(definition, key + injector, value);
    else if (field == NULL && is_parameter(definition, key))
        error = set_parameter(definition, key, value);
    else if (field == NULL)
        return unknown_key(key);
    else {
        if (field->kind == SCHEMA_COMPARE)
            definition->oracle.compare_stdout = definition->oracle.compare_stderr =
                definition->oracle.compare_files = false;
        error = value_set(definition, field, value_of(value));
    }
    return error != NULL && error != error_no_memory() ? error_prefix(error, "%s", key) : error;
}

struct error *definition_add_parameter(struct definition *definition, const char *name,
                                       const char *value)
{
    const struct injector *injector;
    TRY(definition_injector(definition, &injector));
    return parameters_add(&definition->parameters, injector, name, strlen(name), value,
                          strlen(value), 0);
}

struct error *definition_use_injector(struct definition *definition, const char *name, size_t size)
{
    if (definition->injector != NULL && strlen(definition->injector) == size &&
        memcmp(definition->injector, name, size) == 0)
        return NULL;
    const struct injector *injector;
    TRY(injector_named(name, size, &injector));
    char *copy = strdup(injector->name);
    if (copy == NULL)
        return error_no_memory();
    parameters_clear(&definition->parameters);
    free(definition->injector);
    definition->injector = copy;
    return NULL;
}

struct error *definition_injector(const struct definition *definition,
                                  const struct injector **ret_injector)
{
    if (definition->injector == NULL)
        return error_new("say first which injector this is a parameter of");
    return injector_named(definition->injector, strlen(definition->injector), ret_injector);
}

struct injector_setup definition_setup(const struct definition *definition)
{
    const struct selection *selection = &definition->selection;
    return (struct injector_setup){
        .parameters = &definition->parameters,
        .command = &definition->command,
        .environment = &definition->environment,
        .directory = definition->directory,
        .input = definition->input,
        .inputs = &definition->inputs,
        .sandbox =
            definition->sandbox != SANDBOX_NONE ? sandbox_kind_word(definition->sandbox) : NULL,
        .has_setup = definition->setup.count != 0,
        .seed = definition->seed,
        .references = definition->oracle.references,
        .compares_behaviour = oracle_has_behaviour(&definition->oracle),
        .compares_code = definition->oracle.interface.count != 0,
        .sweeps = selection->kind == SELECT_SWEEP,
        .sample = selection->kind == SELECT_SAMPLE ? selection->sample : 0,
        .weights_file = selection->weights_file,
    };
}
