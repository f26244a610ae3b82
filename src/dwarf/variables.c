// SPDX-License-Identifier: GPL-3.0-or-later
// Finds variables by name. One walk through the module's scopes answers all queries. If no string
// section contains any of the names, the walk is not made.
#include "dwarf/variables.h"

#include "base/cleanup.h"
#include "dwarf/demangle.h"
#include "dwarf/functions.h"
#include "dwarf/scope.h"
#include "elf/names.h"

#include <dwarf.h>
#include <fnmatch.h>
#include <string.h>

#define NEST 200 // depth of nested scopes

// The best global so far for a query.
struct global {
    unsigned rank; // 0: none
    struct dwarf_variable variable;
};

enum rank {
    RANK_FUNCTION_STATIC = 1,
    RANK_FILE_STATIC,
    RANK_DECLARED, // defined elsewhere, but copied into this module by the linker
    RANK_EXTERNAL,
};

struct walk {
    struct dwarf_module *module;
    const struct dwarf_variable_query *queries;
    size_t count;
    const struct dwarf_variable_listener *listener;
    struct elf_names names;
    struct global *globals; // by query
    struct dwarf_locals locals;
};

struct scope {
    Dwarf_Die *function;   // innermost function, perhaps inlined; NULL at file level
    Dwarf_Die *subprogram; // the function that has the frame
    Dwarf_Die *code;       // innermost scope that has code addresses; NULL: none
    unsigned depth;
};

static void walk_deinit(struct walk *walk)
{
    elf_names_deinit(&walk->names);
    dwarf_locals_deinit(&walk->locals);
    free(walk->globals);
}

static void miss(const struct walk *walk, const struct dwarf_variable_query *query, const char *why)
{
    if (walk->listener->missed != NULL)
        walk->listener->missed(walk->listener->context, query->number, why);
}

static bool is_function(Dwarf_Die *die, const char *wanted)
{
    const char *name = dwarf_diename(die), *mangled = dwarf_linkage_name(die);
    if (name != NULL && fnmatch(wanted, name, 0) == 0)
        return true;
    if (mangled == NULL)
        return false;
    _cleanup_free_ char *demangled = dwarf_demangle(mangled, strchr(wanted, '(') != NULL);
    return strcmp(mangled, wanted) == 0 ||
           (demangled != NULL && dwarf_name_matches(wanted, demangled));
}

// Whether `function::name` may mean this variable: in that function, or a global in that namespace.
static bool is_in_place(const struct dwarf_variable_query *query, Dwarf_Die *die,
                        const struct scope *scope)
{
    if (query->function == NULL)
        return true;
    if (scope->function != NULL)
        return is_function(scope->function, query->function);
    const char *mangled = dwarf_linkage_name(die);
    _cleanup_free_ char *demangled = mangled != NULL ? dwarf_demangle(mangled, false) : NULL;
    _cleanup_free_ char *wanted = NULL;
    if (demangled == NULL || asprintf(&wanted, "%s::%s", query->function, query->name) < 0) {
        wanted = NULL;
        return false;
    }
    return dwarf_name_matches(wanted, demangled);
}

static bool is_set(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    bool value;
    return dwarf_attr_integrate(die, name, &attribute) != NULL &&
           dwarf_formflag(&attribute, &value) == 0 && value;
}

// Applies the query's selectors to the variable.
static const char *follow(const struct dwarf_variable_query *query, Dwarf_Die *die,
                          struct dwarf_variable *variable)
{
    struct dwarf_type type;
    if (!dwarf_type_of(die, &type))
        return "its type cannot be read";
    for (size_t i = 0; i < query->selector_count; i++) {
        const char *problem = dwarf_type_select(&type, &variable->place, &query->selectors[i]);
        if (problem != NULL)
            return problem;
    }
    return dwarf_type_read(&type, &variable->place, &variable->scalar);
}

static void offer_global(struct walk *walk, size_t index, Dwarf_Die *die, enum rank rank,
                         const struct dwarf_place *place)
{
    const struct dwarf_variable_query *query = &walk->queries[index];
    struct dwarf_variable variable = {
        .number = query->number, .lo = 0, .hi = UINT64_MAX, .place = *place};
    const char *problem = follow(query, die, &variable);
    if (problem != NULL)
        miss(walk, query, problem);
    else if (rank > walk->globals[index].rank)
        walk->globals[index] = (struct global){rank, variable};
}

// An external variable that is only declared here, but whose memory is in this module.
static struct error *offer_declared(struct walk *walk, size_t index, Dwarf_Die *die)
{
    const struct elf_symbols *symbols = NULL;
    const char *name = dwarf_linkage_name(die);
    if (name == NULL)
        name = dwarf_diename(die);
    TRY(dwarf_module_symbols(walk->module, &symbols));
    for (size_t i = 0; name != NULL && i < symbols->data.count; i++) {
        const struct elf_symbol *symbol = &symbols->data.items[i];
        if (strlen(name) != symbol->name_size || memcmp(name, symbol->name, symbol->name_size) != 0)
            continue;
        struct dwarf_place place = {.base = DWARF_BASE_STATIC, .offset = (int64_t)symbol->start};
        offer_global(walk, index, die, RANK_DECLARED, &place);
        break;
    }
    return NULL;
}

// The frame base at an address, and up to where it holds.
static bool find_frame_base(Dwarf_Die *subprogram, uint64_t address, struct dwarf_place *ret_place,
                            uint64_t *ret_hi)
{
    Dwarf_Attribute attribute;
    Dwarf_Addr base, lo, hi;
    Dwarf_Op *operations;
    size_t count;
    ptrdiff_t at = 0;
    if (subprogram == NULL ||
        dwarf_attr_integrate(subprogram, DW_AT_frame_base, &attribute) == NULL)
        return false;
    while ((at = dwarf_getlocations(&attribute, at, &base, &lo, &hi, &operations, &count)) > 0)
        if (address >= lo && address < hi) {
            *ret_hi = hi;
            return dwarf_place_evaluate(&attribute, operations, count, NULL, ret_place) == NULL;
        }
    return false;
}

// One entry of a variable's location, for one query.
struct location {
    size_t index; // of the query
    Dwarf_Die *die;
    Dwarf_Attribute *attribute;
    const Dwarf_Op *operations;
    size_t count;
};

static bool uses_frame_base(const struct location *location)
{
    for (size_t i = 0; i < location->count; i++)
        if (location->operations[i].atom == DW_OP_fbreg)
            return true;
    return false;
}

static struct error *offer_local(struct walk *walk, const struct location *location,
                                 const struct scope *scope, uint64_t lo, uint64_t hi)
{
    const struct dwarf_variable_query *query = &walk->queries[location->index];
    bool framed = uses_frame_base(location);
    while (lo < hi) {
        struct dwarf_place frame_base;
        struct dwarf_variable variable = {.number = query->number, .lo = lo, .hi = hi};
        if (framed && !find_frame_base(scope->subprogram, lo, &frame_base, &variable.hi)) {
            miss(walk, query, "its function's frame base cannot be read");
            return NULL;
        }
        if (variable.hi > hi)
            variable.hi = hi;
        const char *problem =
            dwarf_place_evaluate(location->attribute, location->operations, location->count,
                                 framed ? &frame_base : NULL, &variable.place);
        if (problem == NULL)
            problem = follow(query, location->die, &variable);
        if (problem != NULL)
            miss(walk, query, problem);
        else
            TRY(dwarf_locals_add(&walk->locals, &variable, scope->depth));
        lo = variable.hi;
    }
    return NULL;
}

static struct error *offer_in_scope(struct walk *walk, const struct location *location,
                                    const struct scope *scope)
{
    Dwarf_Addr base, lo, hi;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(scope->code, at, &base, &lo, &hi)) > 0)
        TRY(offer_local(walk, location, scope, lo, hi));
    return NULL;
}

static bool is_static(const struct location *location, struct dwarf_place *ret_place)
{
    return dwarf_place_evaluate(location->attribute, location->operations, location->count, NULL,
                                ret_place) == NULL &&
           ret_place->base == DWARF_BASE_STATIC;
}

static enum rank rank_global(Dwarf_Die *die, const struct scope *scope)
{
    if (is_set(die, DW_AT_external))
        return RANK_EXTERNAL;
    return scope->function == NULL ? RANK_FILE_STATIC : RANK_FUNCTION_STATIC;
}

static struct error *shadow_scope(struct walk *walk, unsigned number, const struct scope *scope)
{
    Dwarf_Addr base, lo, hi;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(scope->code, at, &base, &lo, &hi)) > 0)
        if (lo < hi)
            TRY(dwarf_locals_shadow(&walk->locals, number, scope->depth, lo, hi));
    return NULL;
}

// The register that a location consists of, or -1.
static int lone_register(const Dwarf_Op *operations, size_t count)
{
    bool lone = count == 1 && operations[0].atom >= DW_OP_reg0 && operations[0].atom <= DW_OP_reg15;
    return lone ? operations[0].atom - DW_OP_reg0 : -1;
}

// clang says that a parameter is in its argument register up to the call that destroys it, and only
// after the call in the register where it was saved. During the call, which is when it is read, it
// seems lost. If the code shows the save, the second place is valid one byte earlier.
struct handover {
    uint64_t lo, hi;
    int reg; // -1: none
};

static uint64_t start_of(const struct walk *walk, const struct handover *last, uint64_t lo,
                         const Dwarf_Op *operations, size_t count)
{
    const struct dwarf_variable_listener *listener = walk->listener;
    int reg = lone_register(operations, count);
    if (listener->copied == NULL || last->reg < 0 || reg < 0 || last->hi != lo ||
        last->lo >= last->hi)
        return lo;
    struct dwarf_place place;
    bool lost = dwarf_place_evaluate(NULL, &(Dwarf_Op){.atom = (uint8_t)(DW_OP_reg0 + last->reg)},
                                     1, NULL, &place) != NULL;
    return lost && listener->copied(listener->context, last->lo, last->hi, (unsigned)last->reg,
                                    (unsigned)reg)
               ? lo - 1
               : lo;
}

// Offers every entry of the variable's location to the query.
static struct error *offer_locations(struct walk *walk, size_t index, Dwarf_Die *die,
                                     Dwarf_Attribute *attribute, const struct scope *scope)
{
    Dwarf_Addr base, lo, hi;
    Dwarf_Op *operations;
    size_t count;
    ptrdiff_t at = 0;
    bool is_local = false;
    struct handover last = {.reg = -1};
    while ((at = dwarf_getlocations(attribute, at, &base, &lo, &hi, &operations, &count)) > 0) {
        struct location location = {index, die, attribute, operations, count};
        struct dwarf_place place;
        if (is_static(&location, &place)) {
            offer_global(walk, index, die, rank_global(die, scope), &place);
            continue;
        }
        is_local = scope->code != NULL;
        if (scope->code == NULL) {
            const char *problem = dwarf_place_evaluate(attribute, operations, count, NULL, &place);
            miss(walk, &walk->queries[index], problem != NULL ? problem : "it has no frame");
        } else if (lo == 0 && hi == (Dwarf_Addr)-1)
            TRY(offer_in_scope(walk, &location, scope));
        else {
            TRY(offer_local(walk, &location, scope, start_of(walk, &last, lo, operations, count),
                            hi));
            last = (struct handover){lo, hi, lone_register(operations, count)};
        }
    }
    return is_local ? shadow_scope(walk, walk->queries[index].number, scope) : NULL;
}

static struct error *visit_variable(struct walk *walk, Dwarf_Die *die, const struct scope *scope)
{
    const char *name = dwarf_diename(die);
    if (name == NULL)
        return NULL;
    const struct elf_name *entry = NULL;
    while ((entry = elf_names_next(&walk->names, entry, name, strlen(name))) != NULL) {
        const struct dwarf_variable_query *query = &walk->queries[entry->number];
        Dwarf_Attribute attribute;
        if (!is_in_place(query, die, scope))
            continue;
        if (dwarf_attr_integrate(die, DW_AT_location, &attribute) != NULL)
            TRY(offer_locations(walk, entry->number, die, &attribute, scope));
        else if (is_set(die, DW_AT_declaration) && is_set(die, DW_AT_external))
            TRY(offer_declared(walk, entry->number, die));
        else {
            miss(walk, query, "the compiler optimised it away");
            if (scope->code != NULL)
                TRY(shadow_scope(walk, query->number, scope));
        }
    }
    return NULL;
}

static bool has_code(Dwarf_Die *die)
{
    Dwarf_Addr base, lo, hi;
    return dwarf_ranges(die, 0, &base, &lo, &hi) > 0;
}

static struct error *visit_scope(struct walk *walk, Dwarf_Die *die, const struct scope *scope);

static struct error *visit_child(struct walk *walk, Dwarf_Die *child, const struct scope *scope)
{
    struct scope inner = *scope;
    inner.depth++;
    switch (dwarf_tag(child)) {
    case DW_TAG_variable:
    case DW_TAG_formal_parameter:
        return visit_variable(walk, child, scope);
    case DW_TAG_subprogram:
        inner.function = inner.subprogram = child;
        inner.code = has_code(child) ? child : NULL;
        break;
    case DW_TAG_inlined_subroutine:
        inner.function = child;
        inner.code = has_code(child) ? child : NULL;
        break;
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
        if (has_code(child))
            inner.code = child;
        break;
    case DW_TAG_namespace:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        break;
    default:
        return NULL;
    }
    TRY(visit_scope(walk, child, &inner));
    // Functions do not shadow each other, so the locals of one are complete when it ends.
    if (scope->function == NULL)
        return dwarf_locals_flush(&walk->locals, walk->listener);
    return NULL;
}

static struct error *visit_scope(struct walk *walk, Dwarf_Die *die, const struct scope *scope)
{
    Dwarf_Die child;
    if (scope->depth >= NEST || dwarf_child(die, &child) != 0)
        return NULL;
    do
        TRY(visit_child(walk, &child, scope));
    while (dwarf_siblingof(&child, &child) == 0);
    return NULL;
}

static struct error *visit_units(struct walk *walk, Dwarf *dwarf)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    uint8_t kind;
    while (dwarf_get_units(dwarf, unit, &unit, NULL, &kind, &die, &split) == 0) {
        bool is_split = kind == DW_UT_skeleton && split.addr != NULL;
        TRY(visit_scope(walk, is_split ? &split : &die, &(struct scope){0}));
    }
    return NULL;
}

// Without DWARF, a global of 1, 2, 4 or 8 bytes can still be read, as a signed integer.
static struct error *offer_symbols(struct walk *walk)
{
    const struct elf_symbols *symbols = NULL;
    TRY(dwarf_module_symbols(walk->module, &symbols));
    for (size_t i = 0; i < symbols->data.count; i++) {
        const struct elf_symbol *symbol = &symbols->data.items[i];
        uint64_t size = symbol->end - symbol->start;
        const struct elf_name *entry = NULL;
        while ((entry = elf_names_next(&walk->names, entry, symbol->name, symbol->name_size)) !=
               NULL) {
            const struct dwarf_variable_query *query = &walk->queries[entry->number];
            if (query->function != NULL || query->selector_count != 0 ||
                (size != 1 && size != 2 && size != 4 && size != 8)) {
                miss(walk, query, "there is no debugging information that tells its type");
                continue;
            }
            walk->globals[entry->number] = (struct global){
                RANK_EXTERNAL,
                {.number = query->number,
                 .hi = UINT64_MAX,
                 .place = {.base = DWARF_BASE_STATIC, .offset = (int64_t)symbol->start},
                 .scalar = {.width = (unsigned)size, .is_signed = true}}};
        }
    }
    return NULL;
}

static struct error *prepare(struct walk *walk, bool has_dwarf, bool *ret_worthwhile)
{
    walk->globals = calloc(walk->count, sizeof *walk->globals);
    if (walk->globals == NULL)
        return error_no_memory();
    *ret_worthwhile = !has_dwarf;
    for (size_t i = 0; i < walk->count; i++) {
        const char *name = walk->queries[i].name;
        TRY(elf_names_add(&walk->names, name, strlen(name), (uint32_t)i));
        if (!*ret_worthwhile)
            *ret_worthwhile = dwarf_module_mentions(walk->module, DWARF_TEXT_NAME, name);
    }
    return NULL;
}

struct error *dwarf_variables_find(struct dwarf_module *module,
                                   const struct dwarf_variable_query *queries, size_t count,
                                   const struct dwarf_variable_listener *listener)
{
    if (count == 0)
        return NULL;
    _cleanup_(walk_deinit) struct walk walk = {
        .module = module, .queries = queries, .count = count, .listener = listener};
    bool worthwhile = false;
    TRY(prepare(&walk, dwarf_module_has_dwarf(module), &worthwhile));
    if (!worthwhile)
        return NULL;
    Dwarf *dwarf = dwarf_module_dwarf(module);
    if (dwarf != NULL)
        TRY(visit_units(&walk, dwarf));
    else
        TRY(offer_symbols(&walk));
    for (size_t i = 0; i < count; i++)
        if (walk.globals[i].rank != 0)
            TRY(listener->found(listener->context, &walk.globals[i].variable));
    return NULL;
}
