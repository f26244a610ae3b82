// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of SARIF 2.1.0 that several reports share: the run with its rules, messages, and
// locations in files.
#include "report/sarif.h"

#include "base/cleanup.h"
#include "report/escape.h"

#define SCHEMA                                                                                     \
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
#define BASE "%SRCROOT%" // as code hosts call it

struct sarif_run sarif_begin(struct json_builder *builder, json_t *root, const char *version)
{
    json_add_string(builder, root, "$schema", SCHEMA);
    json_add_string(builder, root, "version", "2.1.0");
    json_t *run = json_add_object(builder, json_add_array(builder, root, "runs"), NULL);
    json_t *driver = json_add_object(builder, json_add_object(builder, run, "tool"), "driver");
    json_add_string(builder, driver, "name", "Ordeal");
    json_add_string(builder, driver, "informationUri", ORDEAL_INFORMATION_URI);
    if (version != NULL)
        json_add_string(builder, driver, "version", version);
    json_t *rules = json_add_array(builder, driver, "rules");
    // No path: the report may be read on another machine.
    json_t *bases = json_add_object(builder, run, "originalUriBaseIds");
    sarif_add_message(builder, json_add_object(builder, bases, BASE), "description",
                      "The root of the project's source tree.");
    return (struct sarif_run){run, rules};
}

void sarif_add_message(struct json_builder *builder, json_t *parent, const char *key,
                       const char *text)
{
    json_add_string(builder, json_add_object(builder, parent, key), "text", text);
}

void sarif_add_rule(struct json_builder *builder, const struct sarif_run *run,
                    const struct sarif_rule *rule)
{
    json_t *entry = json_add_object(builder, run->rules, NULL);
    json_add_string(builder, entry, "id", rule->id);
    sarif_add_message(builder, entry, "shortDescription", rule->meaning);
    sarif_add_message(builder, entry, "fullDescription", rule->description);
    json_t *help = json_add_object(builder, entry, "help");
    json_add_format(builder, help, "text", "%s %s", rule->description, rule->advice);
    json_add_format(builder, help, "markdown", "%s\n\n%s\n", rule->description, rule->advice);
    json_add_string(builder, json_add_object(builder, entry, "defaultConfiguration"), "level",
                    rule->level);
    json_t *properties = json_add_object(builder, entry, "properties");
    // Code hosts look at the number only if there is this tag.
    json_add_string(builder, properties, "security-severity", rule->score);
    json_t *tags = json_add_array(builder, properties, "tags");
    static const char *const words[] = {"reliability", "security", "error-handling",
                                        "external/cwe/cwe-755"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        json_add_string(builder, tags, NULL, words[i]);
}

// escape_uri() escapes colons, too, so no path can look like a URI scheme.
struct error *sarif_add_place(struct json_builder *builder, json_t *location, const char *name,
                              unsigned line)
{
    _cleanup_(buffer_deinit) struct buffer uri = {0};
    TRY(escape_uri(&uri, name));
    json_t *place = json_add_object(builder, location, "physicalLocation");
    json_t *artifact = json_add_object(builder, place, "artifactLocation");
    json_add_string(builder, artifact, "uri", uri.data != NULL ? uri.data : "");
    json_add_string(builder, artifact, "uriBaseId", BASE);
    json_add_integer(builder, json_add_object(builder, place, "region"), "startLine",
                     line != 0 ? line : 1);
    return NULL;
}

void sarif_add_function(struct json_builder *builder, json_t *location, const char *name)
{
    json_t *logical = json_add_array(builder, location, "logicalLocations");
    json_t *function = json_add_object(builder, logical, NULL);
    json_add_string(builder, function, "fullyQualifiedName", name);
    json_add_string(builder, function, "kind", "function");
}
