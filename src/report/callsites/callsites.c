// SPDX-License-Identifier: GPL-3.0-or-later
// Collects the call sites that a report shows, finds their names and source positions, and ranks
// them. Also writes the phrases that all formats share.
#include "report/callsites/callsites.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "callsite/danger.h"
#include "report/text.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct error *callsites_report_init(struct callsites_report *report)
{
    *report = (struct callsites_report){.directory = getcwd(NULL, 0)};
    return dwarf_symbolizer_new(&report->symbolizer);
}

void callsites_report_deinit(struct callsites_report *report)
{
    for (size_t i = 0; i < report->modules.count; i++)
        sites_deinit(&report->modules.items[i].sites);
    for (size_t i = 0; i < report->texts.count; i++)
        free(report->texts.items[i]);
    ARRAY_DEINIT(&report->modules);
    ARRAY_DEINIT(&report->entries);
    ARRAY_DEINIT(&report->texts);
    dwarf_symbolizer_free(report->symbolizer);
    free(report->directory);
}

struct error *callsites_report_add(struct callsites_report *report, const char *path,
                                   const struct flow_image *image, struct sites *sites)
{
    struct callsites_module *module = ARRAY_ADD(&report->modules);
    if (module == NULL)
        return error_no_memory();
    *module = (struct callsites_module){.path = path, .image = image, .sites = *sites};
    *sites = (struct sites){0};
    return NULL;
}

static struct error *keep(struct callsites_report *report, const char *text, size_t size,
                          const char **ret_text)
{
    char **slot = ARRAY_ADD(&report->texts);
    if (slot == NULL || (*slot = strndup(text, size)) == NULL)
        return error_no_memory();
    *ret_text = *slot;
    return NULL;
}

// The name of a function of the module, or of an import. NULL if it has none.
static struct error *name_callee(struct callsites_report *report, const struct flow_image *image,
                                 uint32_t callee, const char **ret_name)
{
    *ret_name = NULL;
    if (callee == FLOW_NONE)
        return NULL;
    if (flow_callee_is_import(callee)) {
        *ret_name = image->imports.items[flow_callee_import(callee)].name;
        return NULL;
    }
    const struct flow_function *function = &image->functions.items[callee];
    return function->name != NULL ? keep(report, function->name, function->name_size, ret_name)
                                  : NULL;
}

static bool is_wanted(const struct callsites_options *options, const char *name)
{
    for (size_t i = 0; i < options->function_count; i++)
        if (fnmatch(options->functions[i], name, 0) == 0)
            return true;
    return options->function_count == 0;
}

static bool class_is_wanted(const struct callsites_options *options, unsigned class)
{
    bool any = false;
    for (size_t i = 0; i < CALLSITES_CLASSES; i++)
        any |= options->classes[i];
    return !any || options->classes[class];
}

// The value a scenario makes the call return: the first failure that the caller does not notice.
static int64_t result_of(const struct site *site, const struct site_callee *callee)
{
    for (size_t i = 0; i < callee->count; i++)
        if ((site->unchecked >> i & 1) != 0)
            return callee->codes[i];
    return callee->codes[0];
}

static struct error *add_entry(struct callsites_report *report,
                               const struct callsites_options *options, uint32_t number,
                               const struct site *site)
{
    const struct callsites_module *module = &report->modules.items[number];
    const struct site_callee *callee = &module->sites.callees.items[site->callee];
    if (!is_wanted(options, callee->name))
        return NULL;
    report->counts[site->class]++;
    report->late += site_is_late(site);
    if (!class_is_wanted(options, site->class))
        return NULL;
    struct callsites_entry entry = {.site = site,
                                    .callee = callee,
                                    .module = number,
                                    .danger = site_danger(site, callee),
                                    .result = result_of(site, callee)};
    if (site->use == SITE_PASSED)
        TRY(name_callee(report, module->image, site->passed_to, &entry.passed_to));
    TRY(name_callee(report, module->image, site->wrapper, &entry.wrapper));
    struct callsites_entry *slot = ARRAY_ADD(&report->entries);
    if (slot == NULL)
        return error_no_memory();
    *slot = entry;
    return NULL;
}

static int by_danger(const void *a_data, const void *b_data)
{
    const struct callsites_entry *a = a_data, *b = b_data;
    if (a->danger != b->danger)
        return a->danger > b->danger ? -1 : 1;
    if (a->module != b->module)
        return a->module < b->module ? -1 : 1;
    return (a->site->address > b->site->address) - (a->site->address < b->site->address);
}

struct error *
callsites_report_finish(struct callsites_report *report, const struct callsites_options *options,
                        int (*error_of)(void *data, size_t module, uint32_t import, int64_t result),
                        void *data)
{
    for (uint32_t i = 0; i < report->modules.count; i++) {
        const struct sites *sites = &report->modules.items[i].sites;
        report->calls += sites->calls;
        report->unresolved += sites->unresolved;
        for (size_t j = 0; j < sites->items.count; j++)
            TRY(add_entry(report, options, i, &sites->items.items[j]));
    }
    if (report->entries.count != 0)
        qsort(report->entries.items, report->entries.count, sizeof *report->entries.items,
              by_danger);
    for (size_t i = 0; i < report->entries.count; i++) {
        struct callsites_entry *entry = &report->entries.items[i];
        const char *path = report->modules.items[entry->module].path;
        entry->at = dwarf_symbolizer_find(report->symbolizer, path, entry->site->address);
        if (entry->site->check_address != 0 && entry->at.file != NULL)
            entry->checked_at =
                dwarf_symbolizer_find(report->symbolizer, path, entry->site->check_address);
        entry->error = error_of(data, entry->module, entry->callee->import, entry->result);
    }
    return dwarf_symbolizer_check(report->symbolizer);
}

struct error *callsites_put_code(struct buffer *text, const struct site_callee *callee,
                                 int64_t code)
{
    if (callee->success == SITE_SUCCESS_POINTER && code == 0)
        return buffer_printf(text, "NULL");
    if (strcmp(callee->name, "mmap") == 0 || strcmp(callee->name, "mmap64") == 0)
        return buffer_printf(text, code == -1 ? "MAP_FAILED" : "%lld", (long long)code);
    return buffer_printf(text, "%lld", (long long)code);
}

struct error *callsites_put_codes(struct buffer *text, const struct callsites_entry *entry,
                                  size_t most)
{
    size_t shown = 0, left = 0;
    for (size_t i = 0; i < entry->callee->count; i++) {
        if ((entry->site->unchecked >> i & 1) == 0)
            continue;
        if (shown == most) {
            left++;
            continue;
        }
        TRY(buffer_printf(text, "%s", shown++ != 0 ? ", " : ""));
        TRY(callsites_put_code(text, entry->callee, entry->callee->codes[i]));
    }
    return left != 0 ? buffer_printf(text, " and %zu more", left) : NULL;
}

static struct error *put_use_alone(struct buffer *text, const struct callsites_entry *entry)
{
    const struct site *site = entry->site;
    switch ((enum site_use)site->use) {
    case SITE_IGNORED:
        return buffer_printf(text, "ignored");
    case SITE_CHECKED_FIRST:
        return buffer_printf(text, "checked first");
    case SITE_DEREFERENCED:
        return buffer_printf(text, "dereferenced");
    case SITE_STORED_GLOBAL:
        return buffer_printf(text, "stored in a variable");
    case SITE_STORED_ELSEWHERE:
        return buffer_printf(text, "stored");
    case SITE_CALCULATED:
        return buffer_printf(text, "calculated with");
    case SITE_COMPARED:
        return buffer_printf(text, "compared with something else");
    case SITE_RETURNED:
        if (site->callers == 0)
            return buffer_printf(text, "returned");
        return buffer_printf(text, "returned; %u of %u callers check", site->callers_checked,
                             site->callers);
    case SITE_PASSED:
        break;
    }
    if (entry->passed_to == NULL)
        return buffer_printf(text, "passed on as argument %u", site->argument + 1u);
    TRY(buffer_printf(text, "passed to "));
    return text_put(text, entry->passed_to, SIZE_MAX, 0);
}

struct error *callsites_put_use(struct buffer *text, const struct callsites_entry *entry)
{
    const struct site *site = entry->site;
    TRY(put_use_alone(text, entry));
    if (site->class == SITE_UNKNOWN && site->reason != NULL)
        return buffer_printf(text, " (%s)", site->reason);
    if (site->wrapper != FLOW_NONE) {
        TRY(buffer_printf(text, ", got through "));
        TRY(entry->wrapper != NULL ? text_put(text, entry->wrapper, SIZE_MAX, 0)
                                   : buffer_printf(text, "a wrapper"));
    }
    if (site->role == SITE_ROLE_GUARDS)
        return buffer_printf(text, ", for all callers");
    if (site->check == SITE_CHECK_AFTER || site->check == SITE_CHECK_SOME) {
        TRY(buffer_printf(text, site->check == SITE_CHECK_AFTER ? ", checked after that"
                                                                : ", checked on some ways"));
        if (entry->checked_at.line != 0)
            return buffer_printf(text, " (line %u)", entry->checked_at.line);
    }
    return NULL;
}

struct error *callsites_put_place(struct buffer *text, const struct callsites_report *report,
                                  const struct callsites_entry *entry)
{
    const struct dwarf_position *at = &entry->at;
    if (at->file != NULL) {
        size_t size = report->directory != NULL ? strlen(report->directory) : 0;
        bool below =
            size > 1 && strncmp(at->file, report->directory, size) == 0 && at->file[size] == '/';
        TRY(text_put(text, at->file + (below ? size + 1 : 0), SIZE_MAX, 0));
        return buffer_printf(text, ":%u", at->line);
    }
    if (at->symbol != NULL) {
        TRY(text_put(text, at->symbol, SIZE_MAX, 0));
        return buffer_printf(text, "+0x%llx", (unsigned long long)at->symbol_offset);
    }
    const char *path = report->modules.items[entry->module].path;
    TRY(text_put(text, file_base_name(path), SIZE_MAX, 0));
    return buffer_printf(text, "+0x%llx", (unsigned long long)entry->site->address);
}
