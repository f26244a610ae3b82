// SPDX-License-Identifier: GPL-3.0-or-later
// Calls with unchecked failures as SARIF 2.1.0: one rule per class, one result per call.
#include "report/sarif.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "callsite/danger.h"
#include "callsite/identity.h"
#include "report/callsites/callsites.h"
#include "report/project.h"
#include "report/text.h"

#include <stdlib.h>
#include <string.h>

#define ADVICE                                                                                     \
    "Check the result before it is used, and report the failure or handle it. ordeal-test(1) "     \
    "shows "                                                                                       \
    "what happens when the call fails."

static const struct sarif_rule kinds[] = {
    {"unchecked-failure", "A failure of a library function is not told apart from success.",
     "The program goes on after this call as if it had succeeded, whatever the call returns.",
     ADVICE, "warning", "5.0"},
    {"partly-checked-failure",
     "Some failures of a library function are not told apart from success.",
     "The program checks the result of this call, but takes some values for success that the "
     "function returns when it fails.",
     ADVICE, "warning", "4.0"},
    {"late-check", "The result of a library function is used before it is checked.",
     "The program checks the result of this call, but only after it has used it.", ADVICE, "note",
     "2.0"},
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

// Where a call is shown: its source file if that is in the project's tree, otherwise its module.
struct shown_place {
    char *name;
    unsigned line; // 0: not known
};

static struct error *find_place(const struct project *project, const struct callsites_entry *entry,
                                const char *module, struct shown_place *ret_place)
{
    struct shown_place place = {.line = entry->at.line};
    TRY(project_name_file(project, entry->at.file, module, &place.name));
    if (place.name == NULL) {
        place.line = 0;
        TRY(project_name_file(project, module, NULL, &place.name));
    }
    if (place.name == NULL && (place.name = strdup(file_base_name(module))) == NULL)
        return error_no_memory();
    *ret_place = place;
    return NULL;
}

static struct error *add_result(struct json_builder *builder, json_t *results,
                                const struct callsites_report *report,
                                const struct project *project, size_t number, int kind)
{
    const struct callsites_entry *entry = &report->entries.items[number];
    const char *module = report->modules.items[entry->module].path;
    _cleanup_(buffer_deinit) struct buffer message = {0}, place = {0};
    struct shown_place shown = {0};
    TRY(find_place(project, entry, module, &shown));
    _cleanup_free_ char *name = shown.name;
    json_t *result = json_add_object(builder, results, NULL);
    json_add_string(builder, result, "ruleId", kinds[kind].id);
    json_add_signed(builder, result, "ruleIndex", kind);
    json_add_string(builder, result, "level", level_of(entry, kind));
    TRY(put_message(entry, &message));
    TRY(callsites_put_place(&place, report, entry));
    if (shown.line == 0)
        TRY(buffer_printf(&message, " The call is at %s, in no source file of the project.",
                          place.data));
    sarif_add_message(builder, result, "message", message.data);
    json_t *location = json_add_object(builder, json_add_array(builder, result, "locations"), NULL);
    TRY(sarif_add_place(builder, location, name, shown.line));
    sarif_add_function(builder, location, entry->at.symbol != NULL ? entry->at.symbol : place.data);
    json_add_real(builder, result, "rank", entry->danger);
    json_t *prints = json_add_object(builder, result, "partialFingerprints");
    json_add_format(
        builder, prints, "ordealSite/v1", "%016llx %s",
        (unsigned long long)site_identity(report->modules.items[entry->module].image, entry->site),
        entry->callee->name);
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
        sarif_add_rule(&builder, &start, &kinds[i]);
    _cleanup_(project_deinit) struct project project = {0};
    TRY(project_find(report->directory, &project));
    json_t *results = json_add_array(&builder, start.run, "results");
    for (size_t i = 0; i < report->entries.count && !builder.failed; i++) {
        int kind = kind_of(report->entries.items[i].site);
        if (kind >= 0)
            TRY(add_result(&builder, results, report, &project, i, kind));
    }
    return json_write(&builder, root, text);
}
