// SPDX-License-Identifier: GPL-3.0-or-later
// Follows offsets through types. Where DWARF is broken or a type is not complete, the way is not
// known.
#include "dwarf/way.h"

#include "base/cleanup.h"
#include "dwarf/results.h"
#include "dwarf/types.h"

#include <dwarf.h>
#include <inttypes.h>
#include <string.h>

#define NEST 32 // structures and arrays in each other

struct way {
    struct buffer text;
    struct dwarf_type type; // of what is named so far
    uint64_t offset;        // in it
};

static bool is_structure(int tag)
{
    return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

static bool is_pointer(int tag)
{
    return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
           tag == DW_TAG_rvalue_reference_type;
}

static int64_t divide_down(int64_t number, int64_t by)
{
    return number / by - (number % by < 0);
}

// The first member, or base class, that the offset is in. Members of a union are all alike.
static bool find_member(struct dwarf_type *structure, uint64_t offset, Dwarf_Die *ret_member,
                        struct dwarf_type *ret_type, uint64_t *ret_inside)
{
    if (dwarf_hasattr(&structure->die, DW_AT_declaration) ||
        dwarf_child(&structure->die, ret_member) != 0)
        return false;
    do {
        uint64_t start, size;
        int tag = dwarf_tag(ret_member);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
            dwarf_hasattr(ret_member, DW_AT_external) ||
            dwarf_hasattr(ret_member, DW_AT_declaration) ||
            !dwarf_member_offset(ret_member, &start) || !dwarf_type_of(ret_member, ret_type) ||
            !dwarf_type_size(*ret_type, &size) || offset < start || offset - start >= size)
            continue;
        *ret_inside = offset - start;
        return true;
    } while (dwarf_siblingof(ret_member, ret_member) == 0);
    return false;
}

static struct error *name_member(struct way *way, bool *arrow, bool *known)
{
    Dwarf_Die member;
    struct dwarf_type type;
    *known = find_member(&way->type, way->offset, &member, &type, &way->offset);
    if (!*known)
        return NULL;
    way->type = type;
    const char *name = dwarf_tag(&member) == DW_TAG_member ? dwarf_diename(&member) : NULL;
    if (name == NULL)
        return NULL; // anonymous, or a base class: its members are its owner's
    TRY(buffer_printf(&way->text, "%s%s", *arrow ? "->" : ".", name));
    *arrow = false;
    return NULL;
}

static struct error *name_element(struct way *way, bool *known)
{
    struct dwarf_type element = way->type;
    struct dwarf_place nowhere = {0};
    const struct dwarf_selector first = {.kind = DWARF_SELECT_INDEX};
    uint64_t size;
    *known = dwarf_type_select(&element, &nowhere, &first) == NULL &&
             dwarf_type_size(element, &size) && size != 0;
    if (!*known)
        return NULL;
    TRY(buffer_printf(&way->text, "[%" PRIu64 "]", way->offset / size));
    way->type = element;
    way->offset %= size;
    return NULL;
}

// Down to a number or pointer. With `arrow`, what is named so far is a pointer to the type.
static struct error *name_inside(struct way *way, bool arrow, bool *known)
{
    *known = true;
    for (int depth = 0; *known; depth++) {
        int tag = dwarf_type_core(&way->type);
        if (is_structure(tag))
            TRY(name_member(way, &arrow, known));
        else if (tag == DW_TAG_array_type)
            TRY(name_element(way, known));
        else
            break;
        *known &= depth < NEST;
    }
    if (*known && arrow)
        TRY(buffer_printf(&way->text, "[0]"));
    return NULL;
}

// What is named so far is a pointer; goes where it leads to.
static struct error *follow(struct way *way, int64_t offset, bool *known)
{
    uint64_t size = 0;
    *known = is_pointer(dwarf_type_core(&way->type)) && way->offset == 0 &&
             dwarf_type_of(&way->type.die, &way->type) && !way->type.is_void;
    int tag = *known ? dwarf_type_core(&way->type) : 0;
    *known &= tag != 0 && tag != DW_TAG_subroutine_type && dwarf_type_size(way->type, &size) &&
              size != 0 && size <= INT32_MAX;
    if (!*known)
        return NULL;
    int64_t index = divide_down(offset, (int64_t)size);
    way->offset = (uint64_t)(offset - index * (int64_t)size);
    bool arrow = index == 0;
    if (!arrow)
        TRY(buffer_printf(&way->text, "[%" PRId64 "]", index));
    return name_inside(way, arrow, known);
}

// Parameters in floating-point registers, and structures, which may be anywhere, are not counted:
// what comes after a structure is not known.
static bool find_parameter(Dwarf_Die *function, uint32_t number, Dwarf_Die *ret_parameter)
{
    uint32_t seen = 0;
    if (dwarf_child(function, ret_parameter) != 0)
        return false;
    do {
        struct dwarf_type type;
        if (dwarf_tag(ret_parameter) != DW_TAG_formal_parameter)
            continue;
        if (!dwarf_type_of(ret_parameter, &type))
            return false;
        int tag = dwarf_type_core(&type);
        Dwarf_Attribute attribute;
        Dwarf_Word encoding = 0;
        if (tag == 0 || is_structure(tag))
            return false;
        if (tag == DW_TAG_base_type && (dwarf_attr(&type.die, DW_AT_encoding, &attribute) == NULL ||
                                        dwarf_formudata(&attribute, &encoding) != 0))
            return false;
        if (encoding == DW_ATE_float || encoding == DW_ATE_complex_float)
            continue;
        if (seen++ == number)
            return true;
    } while (dwarf_siblingof(ret_parameter, ret_parameter) == 0);
    return false;
}

static struct error *begin(struct dwarf_module *module, const char *function, uint32_t parameter,
                           struct way *way, bool *known)
{
    Dwarf_Die die, declared;
    *known = dwarf_function_declared(module, function, &die);
    if (!*known)
        return NULL;
    if (parameter == DWARF_WAY_RESULT) {
        *known = dwarf_type_of(&die, &way->type);
        return buffer_printf(&way->text, "result");
    }
    // A large result is in memory that a hidden first parameter leads to.
    *known = dwarf_result_of(module, function) != DWARF_RESULT_MEMORY &&
             find_parameter(&die, parameter, &declared) && dwarf_type_of(&declared, &way->type) &&
             dwarf_diename(&declared) != NULL;
    return *known ? buffer_printf(&way->text, "%s", dwarf_diename(&declared)) : NULL;
}

static void way_deinit(struct way *way)
{
    buffer_deinit(&way->text);
}

struct error *dwarf_way_name(struct dwarf_module *module, const char *function, uint32_t parameter,
                             const int64_t *offsets, size_t count, struct buffer *text,
                             bool *ret_known)
{
    _cleanup_(way_deinit) struct way way = {0};
    TRY(begin(module, function, parameter, &way, ret_known));
    for (size_t i = 0; i < count && *ret_known; i++)
        TRY(follow(&way, offsets[i], ret_known));
    if (*ret_known && way.offset != 0)
        TRY(buffer_printf(&way.text, "+%" PRIu64, way.offset));
    return *ret_known ? buffer_append(text, way.text.data, way.text.size) : NULL;
}
