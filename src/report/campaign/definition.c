// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the definition of a campaign without its environment.
#include "report/campaign/facts.h"

#include "base/cleanup.h"
#include "store/definition-lines.h"

struct error *campaign_put_definition(const char *definition, struct buffer *text)
{
    bool left_out = false;
    for (const char *line = definition; *line != '\0'; line += definition_line_size(line)) {
        if (definition_is_key(line, "environment")) {
            left_out = true;
            TRY(buffer_printf(
                text,
                "# environment: not in reports; ordeal-store(5) says what the store has of it\n"));
            continue;
        }
        left_out = left_out && !definition_begins_key(line);
        if (!left_out)
            TRY(buffer_append(text, line, definition_line_size(line)));
    }
    return NULL;
}
