// SPDX-License-Identifier: GPL-3.0-or-later
// Cuts inner locals out of the ranges of outer locals with the same name, and reports the rest.
#include "dwarf/scope.h"

#include "base/cleanup.h"

#include <stdlib.h>

void dwarf_locals_deinit(struct dwarf_locals *locals)
{
    ARRAY_DEINIT(&locals->found);
    ARRAY_DEINIT(&locals->shadows);
}

struct error *dwarf_locals_add(struct dwarf_locals *locals, const struct dwarf_variable *variable,
                               unsigned depth)
{
    struct dwarf_local *local = ARRAY_ADD(&locals->found);
    if (local == NULL)
        return error_no_memory();
    *local = (struct dwarf_local){*variable, depth};
    return NULL;
}

struct error *dwarf_locals_shadow(struct dwarf_locals *locals, unsigned number, unsigned depth,
                                  uint64_t lo, uint64_t hi)
{
    struct dwarf_shadow *shadow = ARRAY_ADD(&locals->shadows);
    if (shadow == NULL)
        return error_no_memory();
    *shadow = (struct dwarf_shadow){number, depth, lo, hi};
    return NULL;
}

static bool covers(const struct dwarf_shadow *shadow, const struct dwarf_local *local, uint64_t lo,
                   uint64_t hi)
{
    return shadow->number == local->variable.number && shadow->depth > local->depth &&
           shadow->lo < hi && shadow->hi > lo;
}

// Reports what shadows from index `at` on leave of [lo, hi): the part before a shadow, then what is
// left behind it.
static struct error *report(const struct dwarf_locals *locals, const struct dwarf_local *local,
                            uint64_t lo, uint64_t hi, size_t at,
                            const struct dwarf_variable_listener *listener)
{
    for (; at < locals->shadows.count; at++) {
        const struct dwarf_shadow *shadow = &locals->shadows.items[at];
        if (!covers(shadow, local, lo, hi))
            continue;
        if (lo < shadow->lo)
            TRY(report(locals, local, lo, shadow->lo, at + 1, listener));
        if (shadow->hi >= hi)
            return NULL;
        lo = shadow->hi;
    }
    struct dwarf_variable variable = local->variable;
    variable.lo = lo;
    variable.hi = hi;
    return listener->found(listener->context, &variable);
}

static int compare_shadows(const void *left, const void *right)
{
    const struct dwarf_shadow *a = left, *b = right;
    if (a->lo != b->lo)
        return a->lo < b->lo ? -1 : 1;
    return (a->hi > b->hi) - (a->hi < b->hi);
}

struct error *dwarf_locals_flush(struct dwarf_locals *locals,
                                 const struct dwarf_variable_listener *listener)
{
    // Sorted by address: later shadows do not touch the part before a shadow, so the recursion in
    // report() stays flat.
    if (locals->shadows.count != 0)
        qsort(locals->shadows.items, locals->shadows.count, sizeof *locals->shadows.items,
              compare_shadows);
    for (size_t i = 0; i < locals->found.count; i++) {
        const struct dwarf_local *local = &locals->found.items[i];
        TRY(report(locals, local, local->variable.lo, local->variable.hi, 0, listener));
    }
    locals->found.count = locals->shadows.count = 0;
    return NULL;
}
