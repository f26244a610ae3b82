// See lines.h. libdw decodes and sorts a unit's table once and keeps it.
#include "dwarf/lines.h"

#include "base/cleanup.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

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

Dwarf_Line *dwarf_units_find_line(const struct dwarf_units *units, Dwarf *dwarf, uint64_t address)
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
        return NULL;
    Dwarf_Die die;
    if (dwarf_offdie(dwarf, units->ranges.items[low - 1].unit, &die) == NULL)
        return NULL;
    return dwarf_getsrc_die(&die, address);
}
