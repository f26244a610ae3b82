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

const char *campaign_definition_value(const char *definition, const char *section, const char *key,
                                      size_t *ret_size)
{
    bool inside = section == NULL;
    for (const char *line = definition; *line != '\0'; line += definition_line_size(line)) {
        if (section != NULL && definition_begins_key(line))
            inside = definition_is_key(line, section);
        const char *at = line + strspn(line, " ");
        if (!inside || (at == line) != (section == NULL) || !definition_is_key(at, key))
            continue;
        at += strlen(key) + 1;
        at += strspn(at, " ");
        *ret_size = strcspn(at, "\n");
        return *ret_size != 0 && strncmp(at, "[]", 2) != 0 ? at : NULL;
    }
    return NULL;
}

static bool says(const char *definition, const char *section, const char *key, const char *value)
{
    size_t size = 0;
    const char *said = campaign_definition_value(definition, section, key, &size);
    return said != NULL && size == strlen(value) && memcmp(said, value, size) == 0;
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
