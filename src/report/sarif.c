// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of SARIF 2.1.0 that several reports share: the run with its rules, messages, and
// locations in files.
#include "report/sarif.h"

#include "base/cleanup.h"
#include "report/escape.h"

#include <string.h>

#define SCHEMA                                                                                     \
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

struct sarif_run sarif_begin(struct json_builder *builder, json_t *root, const char *version)
{
    json_add_string(builder, root, "$schema", SCHEMA);
    json_add_string(builder, root, "version", "2.1.0");
    json_t *run = json_add_object(builder, json_add_array(builder, root, "runs"), NULL);
    json_t *driver = json_add_object(builder, json_add_object(builder, run, "tool"), "driver");
    json_add_string(builder, driver, "name", "Ordeal");
    if (version != NULL)
        json_add_string(builder, driver, "version", version);
    return (struct sarif_run){run, json_add_array(builder, driver, "rules")};
}

void sarif_add_message(struct json_builder *builder, json_t *parent, const char *key,
                       const char *text)
{
    json_add_string(builder, json_add_object(builder, parent, key), "text", text);
}

void sarif_add_rule(struct json_builder *builder, const struct sarif_run *run, const char *id,
                    const char *meaning, const char *level)
{
    json_t *rule = json_add_object(builder, run->rules, NULL);
    json_add_string(builder, rule, "id", id);
    sarif_add_message(builder, rule, "shortDescription", meaning);
    json_add_string(builder, json_add_object(builder, rule, "defaultConfiguration"), "level",
                    level);
}

struct error *sarif_add_base(struct json_builder *builder, json_t *run, const char *directory)
{
    if (directory == NULL || directory[0] != '/')
        return NULL;
    _cleanup_(buffer_deinit) struct buffer uri = {0};
    TRY(buffer_printf(&uri, "file://"));
    TRY(escape_uri(&uri, directory));
    if (uri.data[uri.size - 1] != '/')
        TRY(buffer_append(&uri, "/", 1));
    json_t *bases = json_add_object(builder, run, "originalUriBaseIds");
    json_add_string(builder, json_add_object(builder, bases, "SRCROOT"), "uri", uri.data);
    return NULL;
}

// The part of the path below the directory, or NULL if it is elsewhere. A relative path is taken as
// below it.
static const char *below(const char *path, const char *directory)
{
    if (path[0] != '/')
        return path;
    size_t size = directory != NULL ? strlen(directory) : 0;
    while (size > 1 && directory[size - 1] == '/')
        size--;
    if (size < 2 || strncmp(path, directory, size) != 0 || path[size] != '/')
        return NULL;
    return path + size + 1;
}

// escape_uri() escapes colons, too, so no path can look like a URI scheme.
struct error *sarif_add_place(struct json_builder *builder, json_t *location, const char *directory,
                              const char *file, unsigned line)
{
    const char *relative = below(file, directory);
    _cleanup_(buffer_deinit) struct buffer uri = {0};
    if (relative == NULL)
        TRY(buffer_printf(&uri, "file://"));
    TRY(escape_uri(&uri, relative != NULL ? relative : file));
    json_t *place = json_add_object(builder, location, "physicalLocation");
    json_t *artifact = json_add_object(builder, place, "artifactLocation");
    json_add_string(builder, artifact, "uri", uri.data != NULL ? uri.data : "");
    if (relative != NULL && directory != NULL && directory[0] == '/')
        json_add_string(builder, artifact, "uriBaseId", "SRCROOT");
    if (line != 0)
        json_add_integer(builder, json_add_object(builder, place, "region"), "startLine", line);
    return NULL;
}

void sarif_add_logical(struct json_builder *builder, json_t *location, const char *name)
{
    json_t *logical = json_add_array(builder, location, "logicalLocations");
    json_add_string(builder, json_add_object(builder, logical, NULL), "fullyQualifiedName", name);
}
