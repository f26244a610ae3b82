// SPDX-License-Identifier: GPL-3.0-or-later
// The lines of a stored definition, as Ordeal writes them: a key starts at the beginning of a line,
// and what belongs to it is indented below.
#ifndef ORDEAL_STORE_DEFINITION_LINES_H
#define ORDEAL_STORE_DEFINITION_LINES_H

#include <stdbool.h>
#include <string.h>

// With its newline, if it has one.
static inline size_t definition_line_size(const char *line)
{
    size_t size = strcspn(line, "\n");
    return size + (line[size] == '\n');
}

static inline bool definition_is_key(const char *line, const char *key)
{
    size_t size = strlen(key);
    return strncmp(line, key, size) == 0 && line[size] == ':';
}

// Whether a line starts a top-level key. All other lines belong to the key before them.
static inline bool definition_begins_key(const char *line)
{
    return (*line >= 'a' && *line <= 'z') || *line == '#';
}

#endif
