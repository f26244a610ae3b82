// SPDX-License-Identifier: GPL-3.0-or-later
// Looks up lines by address and addresses by line. libdw decodes and sorts the line table of a unit
// once and keeps it.
#include "dwarf/lines.h"

#include "base/cleanup.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define UNPROVEN 16 // for more queries than this, searching the string sections does not pay

static int compare_ranges(const void *left, const void *right)
{
    const struct dwarf_unit_range *a = left, *b = right;
    return (a->lo > b->lo) - (a->lo < b->lo);
}

static struct error *add_unit(struct dwarf_units *units, Dwarf_Die *die)
{
    Dwarf_Addr base, lo, hi;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0) {
        if (lo >= hi)
            continue;
        struct dwarf_unit_range *range = ARRAY_ADD(&units->ranges);
        if (range == NULL)
            return error_no_memory();
        *range = (struct dwarf_unit_range){lo, hi, dwarf_dieoffset(die)};
    }
    return NULL;
}

struct error *dwarf_units_load(Dwarf *dwarf, struct dwarf_units *ret_units)
{
    _cleanup_(dwarf_units_deinit) struct dwarf_units units = {0};
    Dwarf_Off at = 0, next;
    size_t header_size;
    while (dwarf_nextcu(dwarf, at, &next, &header_size, NULL, NULL, NULL) == 0 && next > at) {
        Dwarf_Die die;
        if (dwarf_offdie(dwarf, at + header_size, &die) != NULL)
            TRY(add_unit(&units, &die));
        at = next;
    }
    if (units.ranges.count != 0)
        qsort(units.ranges.items, units.ranges.count, sizeof *units.ranges.items, compare_ranges);
    *ret_units = units;
    units = (struct dwarf_units){0};
    return NULL;
}

void dwarf_units_deinit(struct dwarf_units *units)
{
    ARRAY_DEINIT(&units->ranges);
}

bool dwarf_units_find(const struct dwarf_units *units, Dwarf *dwarf, uint64_t address,
                      Dwarf_Die *ret_die)
{
    size_t low = 0, high = units->ranges.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (units->ranges.items[middle].lo <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0 || units->ranges.items[low - 1].hi <= address)
        return false;
    return dwarf_offdie(dwarf, units->ranges.items[low - 1].unit, ret_die) != NULL;
}

Dwarf_Line *dwarf_units_find_line(const struct dwarf_units *units, Dwarf *dwarf, uint64_t address)
{
    Dwarf_Die die;
    return dwarf_units_find(units, dwarf, address, &die) ? dwarf_getsrc_die(&die, address) : NULL;
}

struct search {
    struct dwarf_line_query *queries; // by line
    size_t count;
    dwarf_line_found *found;
    void *context;
};

static int compare_queries(const void *left, const void *right)
{
    const struct dwarf_line_query *a = left, *b = right;
    return (a->line > b->line) - (a->line < b->line);
}

static bool is_path_suffix(const char *path, const char *suffix)
{
    while (strncmp(suffix, "./", 2) == 0)
        suffix += 2;
    size_t path_size = strlen(path), suffix_size = strlen(suffix);
    if (suffix_size > path_size || strcmp(path + path_size - suffix_size, suffix) != 0)
        return false;
    return suffix_size == path_size || *suffix == '/' || path[path_size - suffix_size - 1] == '/';
}

static size_t first_with_line(const struct search *search, unsigned line)
{
    size_t low = 0, high = search->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (search->queries[middle].line < line)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct error *visit_row(const struct search *search, Dwarf_Line *row, uint64_t lo,
                               uint64_t hi)
{
    int line;
    if (lo >= hi || dwarf_lineno(row, &line) != 0 || line <= 0)
        return NULL;
    for (size_t i = first_with_line(search, (unsigned)line);
         i < search->count && search->queries[i].line == (unsigned)line; i++) {
        const char *path = dwarf_linesrc(row, NULL, NULL);
        if (path != NULL && is_path_suffix(path, search->queries[i].file))
            TRY(search->found(search->context, search->queries[i].number, lo, hi));
    }
    return NULL;
}

// libdw has sorted the rows by address; each reaches to the next.
static struct error *visit_table(const struct search *search, Dwarf_Lines *rows, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++) {
        Dwarf_Line *row = dwarf_onesrcline(rows, i), *next = dwarf_onesrcline(rows, i + 1);
        Dwarf_Addr lo, hi;
        bool end;
        if (row == NULL || next == NULL || dwarf_lineendsequence(row, &end) != 0 || end ||
            dwarf_lineaddr(row, &lo) != 0 || dwarf_lineaddr(next, &hi) != 0)
            continue;
        TRY(visit_row(search, row, lo, hi));
    }
    return NULL;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool worth_reading(struct dwarf_module *module, const struct dwarf_line_query *queries,
                          size_t count)
{
    if (count > UNPROVEN)
        return true;
    for (size_t i = 0; i < count; i++)
        if (dwarf_module_mentions(module, DWARF_TEXT_FILE, file_name(queries[i].file)))
            return true;
    return false;
}

struct error *dwarf_lines_find(struct dwarf_module *module, const struct dwarf_line_query *queries,
                               size_t count, dwarf_line_found *found, void *context)
{
    if (count == 0 || !worth_reading(module, queries, count))
        return NULL;
    Dwarf *dwarf = dwarf_module_dwarf(module);
    if (dwarf == NULL)
        return NULL;
    _cleanup_free_ struct dwarf_line_query *sorted = calloc(count, sizeof *sorted);
    if (sorted == NULL)
        return error_no_memory();
    memcpy(sorted, queries, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_queries);
    struct search search = {sorted, count, found, context};
    Dwarf_CU *unit = NULL;
    Dwarf_Files *files;
    Dwarf_Lines *rows;
    size_t row_count;
    Dwarf_Off at = 0, next;
    while (dwarf_next_lines(dwarf, at, &next, &unit, &files, NULL, &rows, &row_count) == 0) {
        TRY(visit_table(&search, rows, row_count));
        if (next <= at)
            break;
        at = next;
    }
    return NULL;
}
