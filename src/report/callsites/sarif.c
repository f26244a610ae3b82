// SPDX-License-Identifier: GPL-3.0-or-later
// Calls with unchecked failures as SARIF 2.1.0: one rule per class, one result per call.
#include "report/sarif.h"
#include "base/cleanup.h"
#include "callsite/danger.h"
#include "report/callsites/callsites.h"
#include "report/text.h"

struct kind {
    const char *id, *meaning, *level;
};
static const struct kind kinds[] = {
    {"unchecked-failure", "A failure of a library function is not told apart from success.",
     "warning"},
    {"partly-checked-failure",
     "Some failures of a library function are not told apart from "
     "success.",
     "warning"},
    {"late-check", "The result of a library function is used before it is checked.", "note"},
};

// The index in `kinds`, or -1.
static int kind_of(const struct site *site)
{
    if (site->class == SITE_UNCHECKED)
        return 0;
    if (site->class == SITE_PARTLY)
        return 1;
    return site_is_late(site) ? 2 : -1;
}

// The danger decides at both ends: at most a note for a low one, an error for a high one. In
// between the class decides.
static const char *level_of(const struct callsites_entry *entry, int kind)
{
    return entry->danger < 45 ? "note" : entry->danger >= 90 ? "error" : kinds[kind].level;
}

static struct error *put_message(const struct callsites_entry *entry, struct buffer *message)
{
    TRY(buffer_printf(message, "The result of "));
    TRY(text_put(message, entry->callee->name, SIZE_MAX, 0));
    TRY(buffer_printf(message, "() is "));
    TRY(callsites_put_use(message, entry));
    if (entry->site->unchecked == 0)
        return buffer_printf(message, ".");
    TRY(buffer_printf(message, "; not checked: "));
    TRY(callsites_put_codes(message, entry, 8));
    return buffer_printf(message, ".");
}

static struct error *add_result(struct json_builder *builder, json_t *results,
                                const struct callsites_report *report, size_t number, int kind)
{
    const struct callsites_entry *entry = &report->entries.items[number];
    const char *module = report->modules.items[entry->module].path;
    _cleanup_(buffer_deinit) struct buffer message = {0}, place = {0};
    json_t *result = json_add_object(builder, results, NULL);
    json_add_string(builder, result, "ruleId", kinds[kind].id);
    json_add_signed(builder, result, "ruleIndex", kind);
    json_add_string(builder, result, "level", level_of(entry, kind));
    TRY(put_message(entry, &message));
    sarif_add_message(builder, result, "message", message.data);
    json_t *location = json_add_object(builder, json_add_array(builder, result, "locations"), NULL);
    TRY(sarif_add_place(builder, location, report->directory,
                        entry->at.file != NULL ? entry->at.file : module, entry->at.line));
    TRY(callsites_put_place(&place, report, entry));
    sarif_add_logical(builder, location, entry->at.symbol != NULL ? entry->at.symbol : place.data);
    json_add_real(builder, result, "rank", entry->danger);
    json_t *properties = json_add_object(builder, result, "properties");
    json_add_string(builder, properties, "module", module);
    json_add_format(builder, properties, "address", "0x%llx",
                    (unsigned long long)entry->site->address);
    json_add_string(builder, properties, "function", entry->callee->name);
    json_add_string(builder, properties, "use", site_use_name(entry->site->use));
    return NULL;
}

struct error *callsites_sarif(const struct callsites_report *report, struct buffer *text)
{
    _cleanup_(json_release) json_t *root = json_object();
    struct json_builder builder = {.failed = root == NULL};
    const struct sarif_run start = sarif_begin(&builder, root, ORDEAL_VERSION);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        sarif_add_rule(&builder, &start, kinds[i].id, kinds[i].meaning, kinds[i].level);
    TRY(sarif_add_base(&builder, start.run, report->directory));
    json_t *results = json_add_array(&builder, start.run, "results");
    for (size_t i = 0; i < report->entries.count && !builder.failed; i++) {
        int kind = kind_of(report->entries.items[i].site);
        if (kind >= 0)
            TRY(add_result(&builder, results, report, i, kind));
    }
    return json_write(&builder, root, text);
}
