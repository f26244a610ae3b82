// SPDX-License-Identifier: GPL-3.0-or-later
// Classifies the results of functions. Only what tells registers from memory is looked at; where
// DWARF is broken or says too little, the result is unknown.
#include "dwarf/results.h"

#include "dwarf/functions.h"
#include "dwarf/types.h"

#include <dwarf.h>
#include <string.h>

#define NEST 16 // depth of structures in structures, and of name spaces

enum {
    HAS_GENERAL = 1 << 0,
    HAS_VECTOR = 1 << 1,
    HAS_X87 = 1 << 2,
    HAS_UNKNOWN = 1 << 3,
    IN_MEMORY = 1 << 4,
};

// What the two eightbytes of a result hold.
struct parts {
    unsigned eightbytes[2];
    unsigned all;
};

static void add(struct parts *parts, uint64_t offset, unsigned what)
{
    parts->all |= what;
    if (offset < 16)
        parts->eightbytes[offset / 8] |= what;
}

static void add_base(struct parts *parts, Dwarf_Die *die, uint64_t offset, uint64_t size)
{
    Dwarf_Attribute attribute;
    Dwarf_Word encoding;
    if (dwarf_attr_integrate(die, DW_AT_encoding, &attribute) == NULL ||
        dwarf_formudata(&attribute, &encoding) != 0) {
        add(parts, offset, HAS_UNKNOWN);
        return;
    }
    bool floating = encoding == DW_ATE_float || encoding == DW_ATE_complex_float;
    unsigned what = !floating                                        ? HAS_GENERAL
                    : encoding == DW_ATE_float && size == 16         ? HAS_X87
                    : encoding == DW_ATE_complex_float && size == 32 ? HAS_X87
                                                                     : HAS_VECTOR;
    add(parts, offset, what);
    if (size > 8 && what != HAS_X87)
        add(parts, offset + 8, what);
}

static void add_type(struct parts *parts, struct dwarf_type type, uint64_t offset, int depth);

static void add_members(struct parts *parts, Dwarf_Die *structure, uint64_t offset, int depth)
{
    Dwarf_Die child;
    if (dwarf_child(structure, &child) != 0)
        return;
    do {
        uint64_t inside;
        struct dwarf_type type;
        int tag = dwarf_tag(&child);
        if (tag != DW_TAG_member && tag != DW_TAG_inheritance)
            continue;
        if (dwarf_hasattr(&child, DW_AT_external) || dwarf_hasattr(&child, DW_AT_declaration))
            continue; // a static member
        if (!dwarf_member_offset(&child, &inside) || !dwarf_type_of(&child, &type))
            add(parts, offset, HAS_UNKNOWN);
        else
            add_type(parts, type, offset + inside, depth - 1);
    } while (dwarf_siblingof(&child, &child) == 0);
}

// C++ objects with constructors or destructors of their own are always in memory.
static bool is_by_reference(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Word convention;
    return dwarf_attr(die, DW_AT_calling_convention, &attribute) != NULL &&
           dwarf_formudata(&attribute, &convention) == 0 && convention == DW_CC_pass_by_reference;
}

static void add_type(struct parts *parts, struct dwarf_type type, uint64_t offset, int depth)
{
    uint64_t size = 0, whole = 0;
    int tag = depth > 0 ? dwarf_type_peel(&type) : 0;
    if (tag == 0 || !dwarf_type_size(type, &size)) {
        add(parts, offset, HAS_UNKNOWN);
        return;
    }
    switch (tag) {
    case DW_TAG_base_type:
        add_base(parts, &type.die, offset, size);
        break;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
        if (is_by_reference(&type.die))
            parts->all |= IN_MEMORY;
        add_members(parts, &type.die, offset, depth);
        break;
    case DW_TAG_array_type: // its elements, as far as they are in registers
        whole = size;
        if (!dwarf_type_of(&type.die, &type) || !dwarf_type_size(type, &size) || size == 0) {
            add(parts, offset, HAS_UNKNOWN);
            break;
        }
        for (uint64_t at = 0; at < whole && offset + at < 16; at += size)
            add_type(parts, type, offset + at, depth - 1);
        break;
    default: // pointers, references, enumerations
        add(parts, offset, HAS_GENERAL);
        break;
    }
}

static bool is_aggregate(int tag)
{
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static enum dwarf_result classify(struct dwarf_type type)
{
    uint64_t size;
    struct parts parts = {0};
    int tag = dwarf_type_peel(&type);
    if (tag == 0)
        return DWARF_RESULT_UNKNOWN;
    if (type.is_void)
        return DWARF_RESULT_NONE;
    if (!dwarf_type_size(type, &size))
        return DWARF_RESULT_UNKNOWN;
    add_type(&parts, type, 0, NEST);
    if ((parts.all & HAS_UNKNOWN) != 0)
        return DWARF_RESULT_UNKNOWN;
    if ((parts.all & IN_MEMORY) != 0 || (is_aggregate(tag) && size > 16))
        return DWARF_RESULT_MEMORY;
    if ((parts.all & HAS_X87) != 0)
        return parts.all != HAS_X87 ? DWARF_RESULT_MEMORY
               : size == 32         ? DWARF_RESULT_COMPLEX_LONG
                                    : DWARF_RESULT_LONG_DOUBLE;
    bool general = false, vector = false;
    for (size_t i = 0; i < 2; i++) { // one integer makes a general register of an eightbyte
        general |= (parts.eightbytes[i] & HAS_GENERAL) != 0;
        vector |= parts.eightbytes[i] == HAS_VECTOR;
    }
    return general && vector ? DWARF_RESULT_MIXED
           : vector          ? DWARF_RESULT_VECTOR
                             : DWARF_RESULT_GENERAL;
}

static bool is_named(Dwarf_Die *die, const char *function)
{
    const char *linkage = dwarf_linkage_name(die), *name = dwarf_diename(die);
    if (linkage != NULL)
        return strcmp(linkage, function) == 0;
    return name != NULL && strcmp(name, function) == 0 &&
           dwarf_hasattr_integrate(die, DW_AT_external);
}

static struct dwarf_result_type describe(struct dwarf_type type)
{
    struct dwarf_result_type result = {.kind = classify(type)};
    int tag = dwarf_type_peel(&type);
    if (result.kind == DWARF_RESULT_UNKNOWN || result.kind == DWARF_RESULT_NONE ||
        !dwarf_type_size(type, &result.bytes))
        result.bytes = 0;
    result.is_pointer = tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
                        tag == DW_TAG_rvalue_reference_type;
    return result;
}

static unsigned registers_of(struct dwarf_type type)
{
    switch (classify(type)) {
    case DWARF_RESULT_VECTOR:
    case DWARF_RESULT_LONG_DOUBLE:
    case DWARF_RESULT_COMPLEX_LONG:
    case DWARF_RESULT_MEMORY:
        return 0;
    case DWARF_RESULT_MIXED:
        return 1;
    case DWARF_RESULT_GENERAL: {
        uint64_t size;
        return dwarf_type_size(type, &size) && size <= 8 ? 1 : 2;
    }
    default:
        return DWARF_PARAMETER_REGISTERS;
    }
}

// Of a definition or a declaration with a prototype; `hidden` for memory of the result.
static unsigned count_registers(Dwarf_Die *function, unsigned hidden)
{
    Dwarf_Die child;
    struct dwarf_type type;
    unsigned count = hidden;
    if (!dwarf_hasattr_integrate(function, DW_AT_prototyped) &&
        dwarf_linkage_name(function) == NULL)
        return DWARF_PARAMETER_REGISTERS;
    if (dwarf_child(function, &child) != 0)
        return count;
    do {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_formal_parameter)
            count += dwarf_type_of(&child, &type) ? registers_of(type) : DWARF_PARAMETER_REGISTERS;
        else if (tag == DW_TAG_unspecified_parameters)
            count = DWARF_PARAMETER_REGISTERS;
    } while (count < DWARF_PARAMETER_REGISTERS && dwarf_siblingof(&child, &child) == 0);
    return count < DWARF_PARAMETER_REGISTERS ? count : DWARF_PARAMETER_REGISTERS;
}

static bool visit(Dwarf_Die *scope, const char *function, int depth, Dwarf_Die *ret_die)
{
    Dwarf_Die child;
    struct dwarf_type type;
    if (depth == 0 || dwarf_child(scope, &child) != 0)
        return false;
    do {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_subprogram && is_named(&child, function) &&
            dwarf_type_of(&child, &type)) {
            *ret_die = child;
            return true;
        }
        if (tag == DW_TAG_namespace && visit(&child, function, depth - 1, ret_die))
            return true;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

bool dwarf_function_declared(struct dwarf_module *module, const char *function, Dwarf_Die *ret_die)
{
    if (!dwarf_module_has_dwarf(module) ||
        !dwarf_module_mentions(module, DWARF_TEXT_NAME, function))
        return false;
    Dwarf *dwarf = dwarf_module_dwarf(module);
    Dwarf_CU *unit = NULL;
    Dwarf_Die die, split;
    uint8_t kind;
    while (dwarf != NULL && dwarf_get_units(dwarf, unit, &unit, NULL, &kind, &die, &split) == 0)
        if (visit(kind == DW_UT_skeleton && split.addr != NULL ? &split : &die, function, NEST,
                  ret_die))
            return true;
    return false;
}

enum dwarf_result dwarf_result_of(struct dwarf_module *module, const char *function)
{
    return dwarf_result_type_of(module, function).kind;
}

struct dwarf_result_type dwarf_result_type_of(struct dwarf_module *module, const char *function)
{
    Dwarf_Die die;
    struct dwarf_type type;
    struct dwarf_result_type result = {.kind = DWARF_RESULT_UNKNOWN,
                                       .registers = DWARF_PARAMETER_REGISTERS};
    if (!dwarf_function_declared(module, function, &die) || !dwarf_type_of(&die, &type))
        return result;
    result = describe(type);
    result.registers = count_registers(&die, result.kind == DWARF_RESULT_MEMORY);
    return result;
}
