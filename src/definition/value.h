// SPDX-License-Identifier: GPL-3.0-or-later
// Parses single values into a definition's fields. Errors say what is wrong with the value; the
// caller adds where it stands.
#ifndef ORDEAL_DEFINITION_VALUE_H
#define ORDEAL_DEFINITION_VALUE_H

#include "definition/schema.h"

// A value as written. Relative paths start at `directory` (NULL: the current one).
struct field_value {
    const char *text;
    size_t size;
    const char *directory;
};
struct field_value value_of(const char *text);

// Sets a field from one text. Lists (patterns, filters, environment) get one more entry. A command
// becomes a shell command.
_must_check_ struct error *value_set(struct definition *definition,
                                     const struct schema_field *field, struct field_value value);

// Sets "NAME=VALUE" in the environment, and notes that the definition does so.
_must_check_ struct error *value_set_variable(struct definition *definition, const char *text,
                                              size_t size);

void filters_clear(struct oracle *oracle);
_must_check_ struct error *filters_add(struct oracle *oracle, struct field_value match,
                                       struct field_value with);

// For the writer: text from which value_set() reads exactly the same number.
_must_check_ struct error *value_put_duration(struct buffer *text, uint64_t ns);
_must_check_ struct error *value_put_size(struct buffer *text, uint64_t bytes);

#endif
