// SPDX-License-Identifier: GPL-3.0-or-later
// Call sites as JSON. docs/ordeal-callsites.1 describes the format.
#include "report/json.h"
#include "base/cleanup.h"
#include "report/callsites/callsites.h"
#include "scenario/tables.h"

static const char *const check_names[] = {"none", "before", "after", "some"};
static const char *const place_names[] = {"here", "errno", "callers", "called"};

static void add_position(struct json_builder *builder, json_t *object,
                         const struct dwarf_position *position)
{
    if (position->symbol != NULL) {
        json_add_string(builder, object, "symbol", position->symbol);
        json_add_integer(builder, object, "symbol_offset", position->symbol_offset);
    }
    if (position->file != NULL) {
        json_add_string(builder, object, "file", position->file);
        json_add_integer(builder, object, "line", position->line);
    }
}

static void add_check(struct json_builder *builder, json_t *object,
                      const struct callsites_entry *entry)
{
    const struct site *site = entry->site;
    if (site->check == SITE_CHECK_NONE)
        return;
    json_t *check = json_add_object(builder, object, "check");
    json_add_string(builder, check, "when", check_names[site->check]);
    json_add_string(builder, check, "where", place_names[site->place]);
    if (site->check_address != 0)
        json_add_format(builder, check, "address", "0x%llx",
                        (unsigned long long)site->check_address);
    add_position(builder, check, &entry->checked_at);
}

static void add_use(struct json_builder *builder, json_t *object,
                    const struct callsites_entry *entry)
{
    const struct site *site = entry->site;
    json_add_string(builder, object, "use", site_use_name(site->use));
    if (site->use_address != 0)
        json_add_format(builder, object, "use_address", "0x%llx",
                        (unsigned long long)site->use_address);
    if (site->use == SITE_PASSED) {
        json_add_integer(builder, object, "argument", site->argument + 1u);
        if (entry->passed_to != NULL)
            json_add_string(builder, object, "passed_to", entry->passed_to);
    }
    if (site->callers != 0) {
        json_add_integer(builder, object, "callers", site->callers);
        json_add_integer(builder, object, "callers_checked", site->callers_checked);
    }
    if (site->wrapper != FLOW_NONE)
        json_add_string(builder, object, "wrapper", entry->wrapper != NULL ? entry->wrapper : "");
    if (site->role != SITE_ROLE_NONE)
        json_add_string(builder, object, "role",
                        site->role == SITE_ROLE_GUARDS ? "guards" : "passes");
}

static void add_site(struct json_builder *builder, json_t *sites,
                     const struct callsites_report *report, size_t number)
{
    const struct callsites_entry *entry = &report->entries.items[number];
    const struct site *site = entry->site;
    json_t *object = json_add_object(builder, sites, NULL);
    json_add_integer(builder, object, "rank", number + 1);
    json_add_integer(builder, object, "danger", entry->danger);
    json_add_string(builder, object, "class", site_class_name(site->class));
    json_add_string(builder, object, "function", entry->callee->name);
    if (entry->callee->version != NULL)
        json_add_string(builder, object, "version", entry->callee->version);
    json_add_string(builder, object, "module", report->modules.items[entry->module].path);
    json_add_format(builder, object, "address", "0x%llx", (unsigned long long)site->address);
    if (site->after != 0)
        json_add_format(builder, object, "after", "0x%llx", (unsigned long long)site->after);
    add_position(builder, object, &entry->at);
    json_t *codes = json_add_array(builder, object, "codes");
    for (size_t i = 0; i < entry->callee->count && !builder->failed; i++)
        if ((site->unchecked >> i & 1) != 0)
            json_add_signed(builder, codes, NULL, entry->callee->codes[i]);
    const char *name = constant_name(CONSTANT_ERRNO, entry->error);
    if (entry->error != 0 && name != NULL)
        json_add_string(builder, object, "errno", name);
    add_use(builder, object, entry);
    add_check(builder, object, entry);
    if (site->class == SITE_UNKNOWN && site->reason != NULL)
        json_add_string(builder, object, "reason", site->reason);
}

struct error *callsites_json(const struct callsites_report *report, struct buffer *text)
{
    _cleanup_(json_release) json_t *root = json_object();
    struct json_builder builder = {.failed = root == NULL};
    json_add_string(&builder, root, "ordeal", ORDEAL_VERSION);
    json_t *summary = json_add_object(&builder, root, "summary");
    for (int i = 0; i < CALLSITES_CLASSES; i++)
        json_add_integer(&builder, summary, site_class_name((enum site_class)i), report->counts[i]);
    json_add_integer(&builder, summary, "late", report->late);
    json_add_integer(&builder, summary, "calls", report->calls);
    json_add_integer(&builder, summary, "unresolved", report->unresolved);
    json_t *modules = json_add_array(&builder, root, "modules");
    for (size_t i = 0; i < report->modules.count && !builder.failed; i++)
        json_add_string(&builder, modules, NULL, report->modules.items[i].path);
    json_t *sites = json_add_array(&builder, root, "sites");
    for (size_t i = 0; i < report->entries.count && !builder.failed; i++)
        add_site(&builder, sites, report, i);
    return json_write(&builder, root, text);
}
