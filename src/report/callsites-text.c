// SPDX-License-Identifier: GPL-3.0-or-later
// Call sites as a table for the terminal. Columns are as wide as their content, within limits.
#include "base/cleanup.h"
#include "callsite/danger.h"
#include "report/callsites.h"
#include "report/text.h"

#include <string.h>

enum { COLUMN_RANK, COLUMN_CLASS, COLUMN_FUNCTION, COLUMN_WHERE, COLUMN_MISSING, COLUMN_USE };
#define COLUMNS (COLUMN_USE + 1)
static const char *const titles[COLUMNS] = {"rank",  "class",       "function",
                                            "where", "not checked", "what becomes of it"};
static const size_t widest[COLUMNS] = {8, 12, 32, 48, 32, 0};

static struct error *put_cell(const struct callsites_report *report, size_t number, int column,
                              struct buffer *cell)
{
    const struct callsites_entry *entry = &report->entries.items[number];
    switch (column) {
    case COLUMN_RANK:
        return buffer_printf(cell, "%zu", number + 1);
    case COLUMN_CLASS:
        return buffer_printf(
            cell, "%s", site_is_late(entry->site) ? "late" : site_class_name(entry->site->class));
    case COLUMN_FUNCTION:
        return text_put(cell, entry->callee->name, SIZE_MAX, 0);
    case COLUMN_WHERE:
        return callsites_put_place(cell, report, entry);
    case COLUMN_MISSING:
        return callsites_put_codes(cell, entry, 3);
    default:
        return callsites_put_use(cell, entry);
    }
}

static bool is_shown(const struct callsites_entry *entry, bool all)
{
    return all || entry->site->class == SITE_UNCHECKED || entry->site->class == SITE_PARTLY ||
           site_is_late(entry->site);
}

static struct error *measure(const struct callsites_report *report, bool all,
                             size_t widths[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++)
        widths[i] = strlen(titles[i]);
    _cleanup_(buffer_deinit) struct buffer cell = {0};
    for (size_t i = 0; i < report->entries.count; i++)
        for (int j = 0; j < COLUMN_USE && is_shown(&report->entries.items[i], all); j++) {
            cell.size = 0;
            TRY(put_cell(report, i, j, &cell));
            if (cell.size > widths[j])
                widths[j] = cell.size < widest[j] ? cell.size : widest[j];
        }
    return NULL;
}

static struct error *put_row(const struct callsites_report *report, size_t number,
                             const size_t widths[COLUMNS], struct buffer *text)
{
    _cleanup_(buffer_deinit) struct buffer cell = {0};
    for (int i = 0; i < COLUMNS; i++) {
        cell.size = 0;
        TRY(put_cell(report, number, i, &cell));
        int width = i == COLUMN_USE ? 0 : (int)widths[i];
        const char *content = cell.size != 0 ? cell.data : "";
        TRY(buffer_printf(text, i == COLUMN_RANK ? "%*.*s" : "  %-*.*s", width, (int)cell.size,
                          content));
    }
    while (text->size != 0 && text->data[text->size - 1] == ' ')
        text->size--;
    return buffer_append(text, "\n", 1);
}

static struct error *put_summary(const struct callsites_report *report, struct buffer *text)
{
    size_t all = 0;
    for (int i = 0; i < CALLSITES_CLASSES; i++)
        all += report->counts[i];
    TRY(buffer_printf(text, "%zu call%s of functions that can fail: %zu unchecked, %zu partly, ",
                      all, all == 1 ? "" : "s", report->counts[SITE_UNCHECKED],
                      report->counts[SITE_PARTLY]));
    TRY(buffer_printf(text, "%zu checked", report->counts[SITE_CHECKED]));
    if (report->late != 0)
        TRY(buffer_printf(text, " (%zu late)", report->late));
    TRY(buffer_printf(text, ", %zu unknown", report->counts[SITE_UNKNOWN]));
    if (report->modules.count > 1)
        TRY(buffer_printf(text, "; in %zu modules", report->modules.count));
    return buffer_append(text, "\n", 1);
}

struct error *callsites_text(const struct callsites_report *report, bool all, struct buffer *text)
{
    size_t widths[COLUMNS];
    TRY(measure(report, all, widths));
    bool any = false;
    for (size_t i = 0; i < report->entries.count; i++) {
        if (!is_shown(&report->entries.items[i], all))
            continue;
        if (!any)
            for (int j = 0; j < COLUMNS; j++)
                TRY(buffer_printf(text, j == COLUMN_RANK ? "%*s" : "  %-*s",
                                  j == COLUMN_USE ? 0 : (int)widths[j], titles[j]));
        TRY(buffer_append(text, "\n", any ? 0 : 1));
        any = true;
        TRY(put_row(report, i, widths, text));
    }
    TRY(buffer_append(text, "\n", any ? 1 : 0));
    return put_summary(report, text);
}
