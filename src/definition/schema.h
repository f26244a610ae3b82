// SPDX-License-Identifier: GPL-3.0-or-later
// The keys of a campaign file, as a table. The reader, --set, the writer, error messages and the
// check of the manual page all use it.
#ifndef ORDEAL_DEFINITION_SCHEMA_H
#define ORDEAL_DEFINITION_SCHEMA_H

#include "definition/definition.h"

enum schema_kind {
    SCHEMA_TEXT,        // char *
    SCHEMA_PATH,        // char *, made absolute
    SCHEMA_COMMAND,     // struct words
    SCHEMA_COMMANDS,    // struct command_list
    SCHEMA_DIRECTORY,   // struct words: the files in it
    SCHEMA_ENVIRONMENT, // struct words
    SCHEMA_PATTERNS,    // struct words
    SCHEMA_FILTERS,     // of struct oracle
    SCHEMA_INJECTOR,    // name and parameters
    SCHEMA_COMPARE,     // the three flags of struct oracle
    SCHEMA_SAMPLE,      // uint64_t, and the kind of selection
    SCHEMA_CHOICE,      // an enum, in the order of the values
    SCHEMA_BOOL,
    SCHEMA_COUNT32, // uint32_t
    SCHEMA_COUNT,   // uint64_t
    SCHEMA_REAL,    // double
    SCHEMA_NS,      // uint64_t, a duration
    SCHEMA_S,       // uint64_t, a duration in whole seconds
    SCHEMA_SIZE,    // uint64_t, bytes
};

struct schema_field {
    const char *key; // with dots: "oracle.timeout.floor"
    enum schema_kind kind;
    size_t offset;      // in struct definition
    const char *values; // allowed ones, "a|b|c"; of a bool: its two words, false first; or NULL
    double low, high;   // of numbers
    const char *help;
};

extern const struct schema_field schema_fields[]; // ends with a NULL key

// The field with that key, or the only field whose key ends with a dot and that key. NULL if there
// is none or more than one.
const struct schema_field *schema_find(const char *key);
// Whether `key` is a section, that is, a prefix of other keys.
bool schema_is_section(const char *key, size_t size);
#endif
