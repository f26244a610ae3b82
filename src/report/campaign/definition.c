// SPDX-License-Identifier: GPL-3.0-or-later
// A campaign's definition as reports show it. It is read as the lines that Ordeal writes it in: a
// key at the beginning of a line, and what belongs to it below it, further in.
#include "report/campaign/facts.h"

#include "base/cleanup.h"

#include <string.h>

static size_t line_size(const char *line)
{
    size_t size = strcspn(line, "\n");
    return size + (line[size] == '\n');
}

static bool is_key(const char *line, const char *key)
{
    size_t size = strlen(key);
    return strncmp(line, key, size) == 0 && line[size] == ':';
}

// Whether a line begins a key of the first level: all others belong to the one before them.
static bool begins_key(const char *line)
{
    return (*line >= 'a' && *line <= 'z') || *line == '#';
}

struct error *campaign_put_definition(const char *definition, struct buffer *text)
{
    bool left_out = false;
    for (const char *line = definition; *line != '\0'; line += line_size(line)) {
        if (is_key(line, "environment")) {
            left_out = true;
            TRY(buffer_printf(text, "# environment: not in reports; the store has it\n"));
            continue;
        }
        left_out = left_out && !begins_key(line);
        if (!left_out)
            TRY(buffer_append(text, line, line_size(line)));
    }
    return NULL;
}
