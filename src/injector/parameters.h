// SPDX-License-Identifier: GPL-3.0-or-later
// The values that a campaign gives to its injector's parameters. They are text, checked against the
// injector's table of parameters. A `struct parameters` owns its names and values.
#ifndef ORDEAL_INJECTOR_PARAMETERS_H
#define ORDEAL_INJECTOR_PARAMETERS_H

#include "base/error.h"
#include "base/words.h"

#include <stdbool.h>
#include <stddef.h>

struct injector; // injector.h

// One parameter that an injector knows.
struct injector_parameter {
    const char *name;
    const char *values; // for help: "SPEC...", "transient|persistent"
    const char *help;
    bool required, many;
};

// A parameter that was given, with one or more values. `line` is its line in the file; 0: an option
// set it.
struct parameter {
    char *name;
    struct words values;
    unsigned line;
};
struct parameters {
    struct parameter *items;
    size_t count, room;
};
void parameters_deinit(struct parameters *parameters);
void parameters_clear(struct parameters *parameters);
void parameters_forget(struct parameters *parameters,
                       const char *name); // drops one parameter's values

// The injector's description of a parameter. An error if it has none of that name.
_must_check_ struct error *parameters_known(const struct injector *injector, const char *name,
                                            size_t size,
                                            const struct injector_parameter **ret_known);
// Adds a value, or replaces it where the injector takes only one. Errors do not say where the value
// stands.
_must_check_ struct error *parameters_add(struct parameters *parameters,
                                          const struct injector *injector, const char *name,
                                          size_t name_size, const char *value, size_t size,
                                          unsigned line);
// The parameter, or NULL if it was not given.
const struct parameter *parameters_find(const struct parameters *parameters, const char *name);
// All values of a parameter, or NULL.
const struct words *parameters_words(const struct parameters *parameters, const char *name);
// The one value of a parameter, or `otherwise`.
const char *parameters_value(const struct parameters *parameters, const char *name,
                             const char *otherwise);
// An error if a required parameter is missing.
_must_check_ struct error *parameters_check(const struct parameters *parameters,
                                            const struct injector *injector);
// An error if 'functions' or 'exclude' has a class of functions that there is not.
_must_check_ struct error *parameters_check_classes(const struct parameters *parameters);
// Makes an error that names the parameter and its line.
__attribute__((format(printf, 2, 3))) _must_check_ struct error *
parameters_error(const struct parameter *parameter, const char *format, ...);

#endif
