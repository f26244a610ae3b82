// SPDX-License-Identifier: GPL-3.0-or-later
// The injector's part of a definition: which one, and its parameters as far as its table can check
// them.
#ifndef ORDEAL_INJECTOR_PARAMETERS_H
#define ORDEAL_INJECTOR_PARAMETERS_H

#include "definition/definition.h"

// Makes it this definition's injector; parameters of another one go.
struct error *parameters_use(struct definition *definition, const char *name, size_t size);
// What the injector says about a parameter; an error if it has none of that name.
struct injector_parameter;
struct error *parameters_known(const struct definition *definition, const char *name, size_t size,
                               const struct injector_parameter **ret_known);
// One more value, or another one where the injector takes only one. Errors do not say where.
struct error *parameters_add(struct definition *definition, const char *name, size_t name_size,
                             const char *value, size_t size, unsigned line);
// NULL if it was not given.
const struct definition_parameter *parameters_find(const struct definition *definition,
                                                   const char *name);
// The one value of a parameter, or `otherwise`.
const char *parameters_value(const struct definition *definition, const char *name,
                             const char *otherwise);
// That those the injector cannot do without are there.
struct error *parameters_check(const struct definition *definition);
// An error about the place where a parameter stands.
__attribute__((format(printf, 2, 3), warn_unused_result)) struct error *
parameters_error(const struct definition_parameter *parameter, const char *format, ...);
// Of one parameter.
void parameters_forget(struct definition *definition, const char *name);
void parameters_clear(struct definition *definition);

#endif
