// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the definition of a campaign without its environment. It relies on the lines that Ordeal
// writes: a key starts at the beginning of a line, and what belongs to it is indented below.
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

// Whether a line starts a top-level key. All other lines belong to the key before them.
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
