// SPDX-License-Identifier: GPL-3.0-or-later
// Values of a definition's fields from text, one at a time. Errors say what is wrong with the value
// and leave it to the caller to say where it stands.
#ifndef ORDEAL_DEFINITION_VALUE_H
#define ORDEAL_DEFINITION_VALUE_H

#include "definition/schema.h"

// A value as written; `directory` is what relative paths count from (NULL: the current one).
struct value {
    const char *text;
    size_t size;
    const char *directory;
};
struct value value_of(const char *text);

// Sets what one text can say. Lists (patterns, filters, environment) get one more entry; a command
// becomes one for the shell.
_must_check_ struct error *value_set(struct definition *definition,
                                     const struct schema_field *field, struct value value);

void filters_clear(struct oracle *oracle);
_must_check_ struct error *filters_add(struct oracle *oracle, struct value match,
                                       struct value with);

// For the writer: exactly what value_set() reads.
_must_check_ struct error *value_put_duration(struct buffer *text, uint64_t ns);
_must_check_ struct error *value_put_size(struct buffer *text, uint64_t bytes);

#endif
