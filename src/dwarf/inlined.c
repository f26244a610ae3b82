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
    dwarf_call_found *call_found; // instead
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

bool dwarf_inlined_asked(Dwarf_Die *inlined)
{
    Dwarf_Attribute storage;
    Dwarf_Word value;
    return dwarf_formudata(dwarf_attr_integrate(inlined, DW_AT_inline, &storage), &value) == 0 &&
           value == DW_INL_declared_inlined;
}

const char *dwarf_inlined_call(Dwarf_Die *unit, Dwarf_Die *inlined, unsigned *ret_line)
{
    Dwarf_Attribute storage;
    Dwarf_Files *files;
    Dwarf_Word number, line;
    size_t count;
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &storage), &number) != 0 ||
        dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &storage), &line) != 0 ||
        dwarf_getsrcfiles(unit, &files, &count) != 0 || number >= count)
        return NULL;
    *ret_line = (unsigned)line;
    return dwarf_filesrc(files, number, NULL, NULL);
}

// Code that is not optimised copies arguments into the frame right before an inlined function.
// Compilers give these copies the line of the statement that stands before them; NULL if there are
// none.
static const char *copies_parameters(Dwarf_Die *unit, Dwarf_Die *inlined, unsigned *ret_line)
{
    Dwarf_Die child;
    Dwarf_Attribute storage;
    Dwarf_Op *location;
    Dwarf_Addr begin;
    Dwarf_Line *row;
    size_t size;
    int line;
    if (dwarf_child(inlined, &child) != 0 || dwarf_tag(&child) != DW_TAG_formal_parameter ||
        dwarf_attr(&child, DW_AT_location, &storage) == NULL ||
        dwarf_whatform(&storage) != DW_FORM_exprloc ||
        dwarf_getlocation(&storage, &location, &size) != 0 || size != 1 ||
        location[0].atom != DW_OP_fbreg || dwarf_lowpc(inlined, &begin) != 0 || begin == 0)
        return NULL;
    row = dwarf_getsrc_die(unit, begin - 1);
    if (row == NULL || dwarf_lineno(row, &line) != 0 || line <= 0)
        return NULL;
    *ret_line = (unsigned)line;
    return dwarf_linesrc(row, NULL, NULL);
}

static struct error *visit_call(struct walk *walk, Dwarf_Die *unit, Dwarf_Die *die)
{
    unsigned line;
    const char *file = dwarf_inlined_call(unit, die, &line);
    if (file == NULL)
        return NULL;
    bool asked = dwarf_inlined_asked(die);
    TRY(walk->call_found(walk->context, file, line, asked));
    file = copies_parameters(unit, die, &line);
    return file != NULL ? walk->call_found(walk->context, file, line, asked) : NULL;
}

static struct error *visit(struct walk *walk, Dwarf_Die *unit, Dwarf_Die *die, int depth)
{
    Dwarf_Die child;
    if (depth == 0 || dwarf_child(die, &child) != 0)
        return NULL;
    do {
        int tag = dwarf_tag(&child);
        bool function = tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
        if (function && walk->found != NULL)
            TRY(visit_function(walk, &child));
        if (tag == DW_TAG_inlined_subroutine && walk->call_found != NULL)
            TRY(visit_call(walk, unit, &child));
        if (function || tag == DW_TAG_lexical_block || tag == DW_TAG_namespace ||
            tag == DW_TAG_try_block || tag == DW_TAG_catch_block || tag == DW_TAG_class_type ||
            tag == DW_TAG_structure_type)
            TRY(visit(walk, unit, &child, depth - 1));
    } while (dwarf_siblingof(&child, &child) == 0);
    return NULL;
}

static struct error *visit_units(struct walk *walk, struct dwarf_module *module)
{
    Dwarf *dwarf = dwarf_module_dwarf(module);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    uint8_t kind;
    while (dwarf != NULL && dwarf_get_units(dwarf, unit, &unit, NULL, &kind, &die, &split) == 0) {
        Dwarf_Die *root = kind == DW_UT_skeleton && split.addr != NULL ? &split : &die;
        TRY(visit(walk, root, root, NEST));
    }
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
    TRY(name_queries(&walk, count));
    return visit_units(&walk, module);
}

struct error *dwarf_inlined_calls(struct dwarf_module *module, dwarf_call_found *found,
                                  void *context)
{
    struct walk walk = {.call_found = found, .context = context};
    return visit_units(&walk, module);
}
