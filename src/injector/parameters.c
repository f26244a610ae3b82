// SPDX-License-Identifier: GPL-3.0-or-later
// See definition-parameter.h.
#include "injector/parameters.h"

#include "base/cleanup.h"
#include "base/suggestion.h"
#include "definition/value.h"
#include "injector/injector.h"

#include <string.h>

static struct error *unknown_injector(const char *name, size_t size)
{
    struct suggestion meant = suggestion_start(name, size);
    _cleanup_(buffer_deinit) struct buffer list = {0};
    for (size_t i = 0; injectors[i] != NULL; i++) {
        suggestion_offer(&meant, injectors[i]->name);
        TRY(buffer_printf(&list, "%s%s", i == 0 ? "" : ", ", injectors[i]->name));
    }
    char storage[SUGGESTION_SIZE];
    return error_new("there is no injector '%.*s'%s; there are: %s", size < 60 ? (int)size : 60,
                     name, suggestion_text(&meant, storage), list.data);
}

struct error *parameters_use(struct definition *definition, const char *name, size_t size)
{
    if (definition->injector != NULL && strlen(definition->injector) == size &&
        memcmp(definition->injector, name, size) == 0)
        return NULL;
    _cleanup_free_ char *copy = strndup(name, size);
    if (copy == NULL)
        return error_no_memory();
    if (strlen(copy) != size || injector_find(copy) == NULL)
        return unknown_injector(name, size);
    parameters_clear(definition);
    free(definition->injector);
    definition->injector = TAKE(copy);
    return NULL;
}

static struct error *unknown_parameter(const struct injector *injector, const char *name,
                                       size_t size)
{
    struct suggestion meant = suggestion_start(name, size);
    _cleanup_(buffer_deinit) struct buffer list = {0};
    for (const struct injector_parameter *known = injector->parameters; known->name != NULL;
         known++) {
        suggestion_offer(&meant, known->name);
        TRY(buffer_printf(&list, "%s%s", list.size == 0 ? "" : ", ", known->name));
    }
    char storage[SUGGESTION_SIZE];
    return error_new("injector '%s' has no parameter '%.*s'%s; it has: %s", injector->name,
                     size < 60 ? (int)size : 60, name, suggestion_text(&meant, storage),
                     list.size != 0 ? list.data : "none");
}

struct error *parameters_known(const struct definition *definition, const char *name, size_t size,
                               const struct injector_parameter **ret_known)
{
    if (definition->injector == NULL)
        return error_new("say first which injector this is a parameter of");
    const struct injector *injector = injector_find(definition->injector);
    if (injector == NULL)
        return unknown_injector(definition->injector, strlen(definition->injector));
    for (const struct injector_parameter *known = injector->parameters; known->name != NULL;
         known++)
        if (strlen(known->name) == size && memcmp(known->name, name, size) == 0) {
            *ret_known = known;
            return NULL;
        }
    return unknown_parameter(injector, name, size);
}

// Values in lower case with bars between them are all there are.
static bool is_choice(const char *values)
{
    return values != NULL && strchr(values, '|') != NULL && values[0] >= 'a' && values[0] <= 'z';
}

struct error *parameters_add(struct definition *definition, const char *name, size_t name_size,
                             const char *value, size_t size, unsigned line)
{
    const struct injector_parameter *known = NULL;
    TRY(parameters_known(definition, name, name_size, &known));
    int index;
    if (is_choice(known->values))
        TRY(value_choice(known->values, (struct value){value, size, NULL}, &index));
    struct definition_parameter *parameter = NULL;
    for (size_t i = 0; i < definition->parameters.count; i++)
        if (strcmp(definition->parameters.items[i].name, known->name) == 0)
            parameter = &definition->parameters.items[i];
    if (parameter == NULL) {
        char *copy = strdup(known->name);
        parameter = copy != NULL ? ARRAY_ADD(&definition->parameters) : NULL;
        if (parameter == NULL) {
            free(copy);
            return error_no_memory();
        }
        parameter->name = copy;
    }
    parameter->line = line;
    if (!known->many)
        words_clear(&parameter->values);
    return words_add(&parameter->values, value, size);
}

const struct definition_parameter *parameters_find(const struct definition *definition,
                                                   const char *name)
{
    for (size_t i = 0; i < definition->parameters.count; i++)
        if (strcmp(definition->parameters.items[i].name, name) == 0)
            return definition->parameters.items[i].values.count != 0
                       ? &definition->parameters.items[i]
                       : NULL;
    return NULL;
}

const char *parameters_value(const struct definition *definition, const char *name,
                             const char *otherwise)
{
    const struct definition_parameter *parameter = parameters_find(definition, name);
    return parameter != NULL ? parameter->values.items[0] : otherwise;
}

struct error *parameters_check(const struct definition *definition)
{
    const struct injector *injector =
        definition->injector != NULL ? injector_find(definition->injector) : NULL;
    if (definition->injector == NULL)
        return error_new("say what to inject: --inject 'FUNCTION=VALUE/ERRNO', --signal NAME, or "
                         "'injector:' in the file");
    if (injector == NULL)
        return unknown_injector(definition->injector, strlen(definition->injector));
    for (const struct injector_parameter *known = injector->parameters; known->name != NULL;
         known++)
        if (known->required && parameters_find(definition, known->name) == NULL)
            return error_new("injector '%s' needs '%s': %s (%s)", injector->name, known->name,
                             known->help, known->values);
    return NULL;
}

struct error *parameters_error(const struct definition_parameter *parameter, const char *format,
                               ...)
{
    va_list args;
    va_start(args, format);
    struct error *error = error_new_va(format, args);
    va_end(args);
    if (error == error_no_memory())
        return error;
    if (parameter->line != 0)
        return error_prefix(error, "line %u, %s", parameter->line, parameter->name);
    return error_prefix(error, "%s", parameter->name);
}

void parameters_forget(struct definition *definition, const char *name)
{
    for (size_t i = 0; i < definition->parameters.count; i++)
        if (strcmp(definition->parameters.items[i].name, name) == 0)
            words_clear(&definition->parameters.items[i].values);
}

void parameters_clear(struct definition *definition)
{
    for (size_t i = 0; i < definition->parameters.count; i++) {
        free(definition->parameters.items[i].name);
        words_deinit(&definition->parameters.items[i].values);
    }
    definition->parameters.count = 0;
}
