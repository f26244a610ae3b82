// SPDX-License-Identifier: GPL-3.0-or-later
// Call sites as a table for the terminal. Each column is as wide as its content, within limits.
#include "report/text.h"
#include "base/cleanup.h"
#include "callsite/danger.h"
#include "report/callsites/callsites.h"

#include <stdlib.h>
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

static bool is_shown(const struct callsites_entry *entry, enum callsites_shown shown)
{
    if (shown == CALLSITES_BRIEF && site_is_harmless(entry->site, entry->callee))
        return false;
    return shown == CALLSITES_ALL || entry->site->class == SITE_UNCHECKED ||
           entry->site->class == SITE_PARTLY || site_is_late(entry->site);
}

static struct error *measure(const struct callsites_report *report, enum callsites_shown shown,
                             size_t widths[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++)
        widths[i] = strlen(titles[i]);
    _cleanup_(buffer_deinit) struct buffer cell = {0};
    for (size_t i = 0; i < report->entries.count; i++)
        for (int j = 0; j < COLUMN_USE && is_shown(&report->entries.items[i], shown); j++) {
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

// ---- ignored results that are only counted ----

#define MOST_NAMED 4

struct ignored {
    const char *name;
    size_t count;
};

static int compare_names(const void *left, const void *right)
{
    return strcmp(((const struct ignored *)left)->name, ((const struct ignored *)right)->name);
}

static int compare_counts(const void *left, const void *right)
{
    const struct ignored *a = left, *b = right;
    return a->count != b->count ? (a->count < b->count ? 1 : -1) : strcmp(a->name, b->name);
}

// Merges entries of the same function, in place. Returns how many are left.
static size_t merge(struct ignored *items, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept != 0 && strcmp(items[kept - 1].name, items[i].name) == 0)
            items[kept - 1].count += items[i].count;
        else
            items[kept++] = items[i];
    }
    return kept;
}

static struct error *put_ignored(const struct callsites_report *report, struct buffer *text)
{
    size_t count = 0;
    _cleanup_free_ struct ignored *items = calloc(report->entries.count + 1, sizeof *items);
    if (items == NULL)
        return error_no_memory();
    for (size_t i = 0; i < report->entries.count; i++) {
        const struct callsites_entry *entry = &report->entries.items[i];
        if (site_is_harmless(entry->site, entry->callee))
            items[count++] = (struct ignored){entry->callee->name, 1};
    }
    if (count == 0)
        return NULL;
    qsort(items, count, sizeof *items, compare_names);
    size_t names = merge(items, count);
    qsort(items, names, sizeof *items, compare_counts);
    TRY(buffer_printf(text, "not shown: %zu ignored result%s that hardly anybody looks at (", count,
                      count == 1 ? "" : "s"));
    for (size_t i = 0; i < names && i < MOST_NAMED; i++) {
        TRY(buffer_append(text, ", ", i == 0 ? 0 : 2));
        TRY(text_put(text, items[i].name, SIZE_MAX, 0));
        TRY(buffer_printf(text, " %zu", items[i].count));
    }
    if (names > MOST_NAMED)
        TRY(buffer_printf(text, " and %zu more", names - MOST_NAMED));
    return buffer_printf(text, "); --class unchecked shows %s\n", count == 1 ? "it" : "them");
}

struct error *callsites_text(const struct callsites_report *report, enum callsites_shown shown,
                             struct buffer *text)
{
    size_t widths[COLUMNS];
    TRY(measure(report, shown, widths));
    bool any = false;
    for (size_t i = 0; i < report->entries.count; i++) {
        if (!is_shown(&report->entries.items[i], shown))
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
    if (shown == CALLSITES_BRIEF)
        TRY(put_ignored(report, text));
    return put_summary(report, text);
}
