// SPDX-License-Identifier: GPL-3.0-or-later
// Reads scenario files: finds out whether it is YAML or XML, and in which directory relative names
// of plug-ins are looked up.
#include "scenario/model.h"

#include "base/cleanup.h"

#include <string.h>

static bool looks_like_xml(const struct buffer *text)
{
    size_t at = text->size >= 3 && memcmp(text->data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < text->size && strchr(" \t\r\n", text->data[at]) != NULL && text->data[at] != '\0')
        at++;
    return at < text->size && text->data[at] == '<';
}

struct error *scenario_add_file(struct scenario *scenario, const char *path)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    TRY(buffer_read_file(path, SCENARIO_FILE_LIMIT, &text));
    const char *slash = strrchr(path, '/');
    struct text outer = scenario->directory;
    if (slash == NULL)
        TRY(scenario_text(scenario, ".", 1, &scenario->directory));
    else
        TRY(scenario_text(scenario, path, slash == path ? 1 : (size_t)(slash - path),
                          &scenario->directory));
    struct error *error = looks_like_xml(&text)
                              ? scenario_add_xml(scenario, path, text.data, text.size)
                              : scenario_add_yaml(scenario, path, text.data, text.size);
    scenario->directory = outer;
    return error;
}
