// SPDX-License-Identifier: GPL-3.0-or-later
// Stores the parameters that a campaign gives to its injector, and checks them against its table.
#include "injector/parameters.h"

#include "base/array.h"
#include "base/choice.h"
#include "base/cleanup.h"
#include "base/suggestion.h"
#include "injector/injector.h"
#include "scenario/tables.h"

#include <stdlib.h>
#include <string.h>

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

struct error *parameters_known(const struct injector *injector, const char *name, size_t size,
                               const struct injector_parameter **ret_known)
{
    for (const struct injector_parameter *known = injector->parameters; known->name != NULL;
         known++)
        if (strlen(known->name) == size && memcmp(known->name, name, size) == 0) {
            *ret_known = known;
            return NULL;
        }
    return unknown_parameter(injector, name, size);
}

// A list in lower case with bars is complete: no other value is allowed.
static bool is_choice(const char *values)
{
    return values != NULL && strchr(values, '|') != NULL && values[0] >= 'a' && values[0] <= 'z';
}

struct error *parameters_add(struct parameters *parameters, const struct injector *injector,
                             const char *name, size_t name_size, const char *value, size_t size,
                             unsigned line)
{
    const struct injector_parameter *known = NULL;
    TRY(parameters_known(injector, name, name_size, &known));
    int index;
    if (is_choice(known->values))
        TRY(choice_parse(known->values, value, size, &index));
    struct parameter *parameter = NULL;
    for (size_t i = 0; i < parameters->count; i++)
        if (strcmp(parameters->items[i].name, known->name) == 0)
            parameter = &parameters->items[i];
    if (parameter == NULL) {
        char *copy = strdup(known->name);
        parameter = copy != NULL ? ARRAY_ADD(parameters) : NULL;
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

const struct parameter *parameters_find(const struct parameters *parameters, const char *name)
{
    for (size_t i = 0; i < parameters->count; i++)
        if (strcmp(parameters->items[i].name, name) == 0)
            return parameters->items[i].values.count != 0 ? &parameters->items[i] : NULL;
    return NULL;
}

const char *parameters_value(const struct parameters *parameters, const char *name,
                             const char *otherwise)
{
    const struct parameter *parameter = parameters_find(parameters, name);
    return parameter != NULL ? parameter->values.items[0] : otherwise;
}

const struct words *parameters_words(const struct parameters *parameters, const char *name)
{
    const struct parameter *parameter = parameters_find(parameters, name);
    return parameter != NULL ? &parameter->values : NULL;
}

struct error *parameters_check(const struct parameters *parameters, const struct injector *injector)
{
    for (const struct injector_parameter *known = injector->parameters; known->name != NULL;
         known++)
        if (known->required && parameters_find(parameters, known->name) == NULL)
            return error_new("injector '%s' needs '%s': %s (%s)", injector->name, known->name,
                             known->help, known->values);
    return NULL;
}

struct error *parameters_error(const struct parameter *parameter, const char *format, ...)
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

struct error *parameters_check_classes(const struct parameters *parameters)
{
    static const char *const names[] = {"functions", "exclude"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct parameter *parameter = parameters_find(parameters, names[i]);
        for (size_t j = 0; parameter != NULL && j < parameter->values.count; j++) {
            _cleanup_error_ struct error *unknown =
                function_class_check(parameter->values.items[j]);
            if (unknown != NULL)
                return unknown == error_no_memory()
                           ? TAKE(unknown)
                           : parameters_error(parameter, "%s", error_message(unknown));
        }
    }
    return NULL;
}

void parameters_forget(struct parameters *parameters, const char *name)
{
    for (size_t i = 0; i < parameters->count; i++)
        if (strcmp(parameters->items[i].name, name) == 0)
            words_clear(&parameters->items[i].values);
}

void parameters_clear(struct parameters *parameters)
{
    for (size_t i = 0; i < parameters->count; i++) {
        free(parameters->items[i].name);
        words_deinit(&parameters->items[i].values);
    }
    parameters->count = 0;
}

void parameters_deinit(struct parameters *parameters)
{
    parameters_clear(parameters);
    ARRAY_DEINIT(parameters);
}
