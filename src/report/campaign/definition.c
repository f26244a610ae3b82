// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the definition of a campaign without its environment, and reads what reports need from it.
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

// Whether the definition says `key: value` one level below `section`.
static bool says(const char *definition, const char *section, const char *key, const char *value)
{
    bool inside = false;
    size_t size = strlen(value);
    for (const char *line = definition; *line != '\0'; line += definition_line_size(line)) {
        if (definition_begins_key(line))
            inside = definition_is_key(line, section);
        const char *at = line + strspn(line, " ");
        if (!inside || at == line || !definition_is_key(at, key))
            continue;
        at += strlen(key) + 1;
        at += strspn(at, " ");
        return strncmp(at, value, size) == 0 && (at[size] == '\n' || at[size] == '\0');
    }
    return false;
}

const char *campaign_caution(const char *definition)
{
    if (definition == NULL)
        return NULL;
    if (says(definition, "sandbox", "kind", "none"))
        return "the campaign has no sandbox: this command acts on the real files, and may destroy "
               "them";
    if (says(definition, "sandbox", "kind", "copy"))
        return "the sandbox is a copy of the working directory: outside of it this command acts on "
               "the real files, and may destroy them";
    return NULL;
}
