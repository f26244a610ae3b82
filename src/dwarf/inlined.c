// SPDX-License-Identifier: GPL-3.0-or-later
// Finds inlined code by walking through the DWARF of every function of the module once.
#include "dwarf/inlined.h"

#include "base/cleanup.h"
#include "dwarf/demangle.h"
#include "elf/names.h"

#include <dwarf.h>
#include <string.h>

#define NEST 200 // depth of nested scopes

struct walk {
    const struct dwarf_function_query *queries;
    struct elf_names names; // by last component
    dwarf_function_found *found;
    void *context;
};

static void walk_deinit(struct walk *walk)
{
    elf_names_deinit(&walk->names);
}

static bool is_qualified(Dwarf_Die *die, const char *wanted)
{
    const char *mangled = dwarf_linkage_name(die);
    _cleanup_free_ char *name =
        mangled != NULL ? dwarf_demangle(mangled, strchr(wanted, '(') != NULL) : NULL;
    return name != NULL && dwarf_name_matches(wanted, name);
}

static struct error *report_ranges(struct walk *walk, Dwarf_Die *die, unsigned number)
{
    Dwarf_Addr base, lo, hi;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0)
        if (lo < hi)
            TRY(walk->found(walk->context, number, lo, hi));
    return NULL;
}

static struct error *visit_function(struct walk *walk, Dwarf_Die *die)
{
    const char *name = dwarf_diename(die);
    if (name == NULL)
        return NULL;
    size_t size = strcspn(name, "<");
    const struct elf_name *entry = NULL;
    while ((entry = elf_names_next(&walk->names, entry, name, size)) != NULL) {
        const struct dwarf_function_query *query = &walk->queries[entry->number];
        if (strcmp(query->name, name) == 0 || is_qualified(die, query->name))
            TRY(report_ranges(walk, die, query->number));
    }
    return NULL;
}

static struct error *visit(struct walk *walk, Dwarf_Die *die, int depth)
{
    Dwarf_Die child;
    if (depth == 0 || dwarf_child(die, &child) != 0)
        return NULL;
    do {
        int tag = dwarf_tag(&child);
        bool function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
        if (function)
            TRY(visit_function(walk, &child));
        if (function || tag == DW_TAG_lexical_block || tag == DW_TAG_namespace ||
            tag == DW_TAG_try_block || tag == DW_TAG_catch_block || tag == DW_TAG_class_type ||
            tag == DW_TAG_structure_type)
            TRY(visit(walk, &child, depth - 1));
    } while (dwarf_siblingof(&child, &child) == 0);
    return NULL;
}

static struct error *name_queries(struct walk *walk, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t size;
        const char *last = dwarf_name_last(walk->queries[i].name, &size);
        TRY(elf_names_add(&walk->names, last, size, (uint32_t)i));
    }
    return NULL;
}

struct error *dwarf_inlined_find(struct dwarf_module *module,
                                 const struct dwarf_function_query *queries, size_t count,
                                 dwarf_function_found *found, void *context)
{
    _cleanup_(walk_deinit) struct walk walk = {
        .queries = queries, .found = found, .context = context};
    Dwarf *dwarf = dwarf_module_dwarf(module);
    if (dwarf == NULL)
        return NULL;
    TRY(name_queries(&walk, count));
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    uint8_t kind;
    while (dwarf_get_units(dwarf, unit, &unit, NULL, &kind, &die, &split) == 0)
        TRY(visit(&walk, kind == DW_UT_skeleton && split.addr != NULL ? &split : &die, NEST));
    return NULL;
}
