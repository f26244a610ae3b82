// SPDX-License-Identifier: GPL-3.0-or-later
// Names places. A variable is found whose own place is the beginning of the one that is asked for;
// its type then tells which members the rest of the way leads through.
#include "dwarf/naming.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "dwarf/types.h"

#include <dwarf.h>
#include <string.h>

#define CHAIN       64 // links of typedefs and qualifiers, and nested members
#define FRAME_ABOVE 16 // the frame's address above what the frame pointer holds
#define FRAME_REG   6

void dwarf_name_deinit(struct dwarf_name *name)
{
    free(name->expression);
    free(name->member);
    *name = (struct dwarf_name){0};
}

// An expression while it grows.
struct naming {
    struct buffer text;
    struct buffer member;
    struct dwarf_type type;
    bool pointed; // the text is a pointer, and the type what it points to
    bool local;
};

static void naming_deinit(struct naming *naming)
{
    buffer_deinit(&naming->text);
    buffer_deinit(&naming->member);
}

static int peel(struct dwarf_type *type)
{
    for (int i = 0; i < CHAIN && !type->is_void; i++) {
        int tag = dwarf_tag(&type->die);
        if (tag != DW_TAG_typedef && tag != DW_TAG_const_type && tag != DW_TAG_volatile_type &&
            tag != DW_TAG_restrict_type && tag != DW_TAG_atomic_type)
            return tag;
        if (!dwarf_type_of(&type->die, type))
            return 0;
    }
    return 0;
}

static bool size_of(const struct dwarf_type *type, uint64_t *ret_size)
{
    Dwarf_Die die = type->die;
    Dwarf_Word size;
    if (type->is_void || dwarf_aggregate_size(&die, &size) != 0)
        return false;
    *ret_size = size;
    return true;
}

// The member of a structure that covers an offset.
static bool find_member(const struct dwarf_type *type, uint64_t offset, Dwarf_Die *ret_member,
                        struct dwarf_type *ret_type, uint64_t *ret_rest)
{
    Dwarf_Die structure = type->die, child;
    if (dwarf_child(&structure, &child) != 0)
        return false;
    do {
        Dwarf_Attribute attribute;
        Dwarf_Word at = 0;
        uint64_t size;
        struct dwarf_type own;
        if (dwarf_tag(&child) != DW_TAG_member || dwarf_hasattr(&child, DW_AT_bit_size) ||
            !dwarf_type_of(&child, &own))
            continue;
        if (dwarf_attr(&child, DW_AT_data_member_location, &attribute) != NULL &&
            dwarf_formudata(&attribute, &at) != 0)
            continue;
        if (offset < at || !size_of(&own, &size) || offset - at >= size)
            continue;
        *ret_member = child;
        *ret_type = own;
        *ret_rest = offset - at;
        return true;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

static struct error *name_member(struct naming *naming, const struct dwarf_type *structure,
                                 Dwarf_Die *member)
{
    Dwarf_Die die = structure->die;
    const char *name = dwarf_diename(member), *of = dwarf_diename(&die);
    if (name == NULL) // of an anonymous structure or union: it adds nothing to what is written
        return NULL;
    TRY(buffer_printf(&naming->text, "%s%s", naming->pointed ? "->" : ".", name));
    naming->pointed = naming->local = false;
    naming->member.size = 0;
    return of != NULL ? buffer_printf(&naming->member, "%s.%s", of, name) : NULL;
}

// Goes to the scalar or pointer at an offset of what the expression means. *ret_known is false if
// the type has nothing of that kind there.
static struct error *descend(struct naming *naming, int64_t offset, bool *ret_known)
{
    *ret_known = false;
    for (int i = 0; i < CHAIN && offset >= 0; i++) {
        int tag = peel(&naming->type);
        if (tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type) {
            Dwarf_Die member;
            struct dwarf_type inner;
            uint64_t rest;
            if (!find_member(&naming->type, (uint64_t)offset, &member, &inner, &rest))
                return NULL;
            TRY(name_member(naming, &naming->type, &member));
            naming->type = inner;
            offset = (int64_t)rest;
            continue;
        }
        if (tag == DW_TAG_array_type && !naming->pointed) {
            struct dwarf_type item;
            uint64_t size;
            if (!dwarf_type_of(&naming->type.die, &item) || !size_of(&item, &size) || size == 0)
                return NULL;
            TRY(buffer_printf(&naming->text, "[%llu]",
                              (unsigned long long)((uint64_t)offset / size)));
            naming->local = false;
            naming->type = item;
            offset = (int64_t)((uint64_t)offset % size);
            continue;
        }
        if (tag == 0 || offset != 0)
            return NULL;
        if (naming->pointed) {
            _cleanup_free_ char *pointer = TAKE(naming->text.data);
            naming->text = (struct buffer){0};
            TRY(buffer_printf(&naming->text, "*%s", pointer));
            naming->pointed = naming->local = false;
        }
        *ret_known = true;
        return NULL;
    }
    return NULL;
}

// Follows a pointer: the type becomes what it points to.
static bool follow(struct naming *naming)
{
    if (peel(&naming->type) != DW_TAG_pointer_type ||
        !dwarf_type_of(&naming->type.die, &naming->type))
        return false;
    naming->pointed = true;
    return true;
}

// Names the place of a variable of that type, and what the steps make of it.
static struct error *name_from(struct naming *naming, Dwarf_Die *variable, int64_t offset,
                               bool in_register, const struct dwarf_place *place, bool *ret_known)
{
    const char *name = dwarf_diename(variable);
    *ret_known = false;
    naming->text.size = naming->member.size = 0;
    naming->pointed = false;
    naming->local = true;
    if (name == NULL || !dwarf_type_of(variable, &naming->type))
        return NULL;
    TRY(buffer_printf(&naming->text, "%s", name));
    if (in_register && !follow(naming))
        return NULL;
    bool known;
    TRY(descend(naming, offset, &known));
    for (size_t i = 0; known && i < place->step_count; i++) {
        if (place->steps[i].load && !follow(naming))
            return NULL;
        TRY(descend(naming, place->steps[i].offset, &known));
    }
    *ret_known = known;
    return NULL;
}

// Where a variable is at `pc`.
struct location {
    enum dwarf_base base;
    unsigned reg;
    int64_t offset;
};

static bool frame_is_pointer(Dwarf_Die *function, uint64_t pc)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t count;
    return dwarf_attr_integrate(function, DW_AT_frame_base, &attribute) != NULL &&
           dwarf_getlocation_addr(&attribute, pc, &operations, &count, 1) == 1 && count == 1 &&
           operations[0].atom == DW_OP_reg0 + FRAME_REG;
}

static bool frame_is_cfa(Dwarf_Die *function, uint64_t pc)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t count;
    return dwarf_attr_integrate(function, DW_AT_frame_base, &attribute) != NULL &&
           dwarf_getlocation_addr(&attribute, pc, &operations, &count, 1) == 1 && count == 1 &&
           operations[0].atom == DW_OP_call_frame_cfa;
}

static bool locate(Dwarf_Die *variable, Dwarf_Die *function, uint64_t pc, struct location *location)
{
    Dwarf_Attribute attribute;
    Dwarf_Op *operations;
    size_t count;
    if (dwarf_attr_integrate(variable, DW_AT_location, &attribute) == NULL ||
        dwarf_getlocation_addr(&attribute, pc, &operations, &count, 1) != 1 || count != 1)
        return false;
    unsigned atom = operations[0].atom;
    if (atom == DW_OP_addr) {
        *location = (struct location){DWARF_BASE_STATIC, 0, (int64_t)operations[0].number};
        return true;
    }
    if (atom == DW_OP_addrx || atom == DW_OP_GNU_addr_index) { // clang's
        Dwarf_Attribute indirect;
        Dwarf_Addr address;
        if (dwarf_getlocation_attr(&attribute, &operations[0], &indirect) != 0 ||
            dwarf_formaddr(&indirect, &address) != 0)
            return false;
        *location = (struct location){DWARF_BASE_STATIC, 0, (int64_t)address};
        return true;
    }
    if (atom >= DW_OP_reg0 && atom <= DW_OP_reg31) {
        *location = (struct location){DWARF_BASE_REGISTER, atom - DW_OP_reg0, 0};
        return true;
    }
    if (atom != DW_OP_fbreg || function == NULL)
        return false;
    int64_t offset = (int64_t)operations[0].number;
    if (frame_is_pointer(function, pc))
        offset -= FRAME_ABOVE;
    else if (!frame_is_cfa(function, pc))
        return false;
    *location = (struct location){DWARF_BASE_CFA, 0, offset};
    return true;
}

static struct error *try_variable(struct naming *naming, Dwarf_Die *variable, Dwarf_Die *function,
                                  uint64_t pc, const struct dwarf_place *place, bool *ret_known)
{
    struct location location;
    struct dwarf_type type;
    uint64_t size;
    *ret_known = false;
    if (!locate(variable, function, pc, &location) || location.base != place->base)
        return NULL;
    if (location.base == DWARF_BASE_REGISTER)
        return location.reg == place->reg
                   ? name_from(naming, variable, place->offset, true, place, ret_known)
                   : NULL;
    if (place->offset < location.offset || !dwarf_type_of(variable, &type) ||
        !size_of(&type, &size) || (uint64_t)(place->offset - location.offset) >= size)
        return NULL;
    return name_from(naming, variable, place->offset - location.offset, false, place, ret_known);
}

static struct error *try_scope(struct naming *naming, Dwarf_Die *scope, Dwarf_Die *function,
                               uint64_t pc, const struct dwarf_place *place, bool *ret_known)
{
    Dwarf_Die child;
    *ret_known = false;
    if (dwarf_child(scope, &child) != 0)
        return NULL;
    do {
        int tag = dwarf_tag(&child);
        if (tag == DW_TAG_variable || tag == DW_TAG_formal_parameter)
            TRY(try_variable(naming, &child, function, pc, place, ret_known));
    } while (!*ret_known && dwarf_siblingof(&child, &child) == 0);
    return NULL;
}

static Dwarf_Die *function_of(Dwarf_Die *scopes, int count)
{
    for (int i = 0; i < count; i++)
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
            return &scopes[i];
    return NULL;
}

// Asks the scopes around the code, from the innermost to the file.
static struct error *try_scopes(struct naming *naming, Dwarf_Die *unit, uint64_t pc,
                                const struct dwarf_place *place, bool *ret_known)
{
    _cleanup_free_ Dwarf_Die *scopes = NULL;
    *ret_known = false;
    int count = dwarf_getscopes(unit, pc, &scopes);
    if (count <= 0)
        return NULL;
    Dwarf_Die *function = function_of(scopes, count);
    for (int i = 0; !*ret_known && i < count; i++)
        TRY(try_scope(naming, &scopes[i], function, pc, place, ret_known));
    return NULL;
}

static struct error *try_units(struct naming *naming, Dwarf *dwarf, uint64_t pc,
                               const struct dwarf_place *place, bool *ret_known)
{
    Dwarf_Off at = 0, next;
    size_t header;
    *ret_known = false;
    while (!*ret_known && dwarf_nextcu(dwarf, at, &next, &header, NULL, NULL, NULL) == 0) {
        Dwarf_Die unit;
        if (dwarf_offdie(dwarf, at + header, &unit) != NULL) {
            bool here = dwarf_haspc(&unit, pc) == 1;
            if (here)
                TRY(try_scopes(naming, &unit, pc, place, ret_known));
            if (!*ret_known && place->base == DWARF_BASE_STATIC)
                TRY(try_scope(naming, &unit, NULL, pc, place, ret_known));
            if (here && place->base != DWARF_BASE_STATIC)
                return NULL;
        }
        at = next;
    }
    return NULL;
}

struct error *dwarf_place_name(struct dwarf_module *module, uint64_t pc,
                               const struct dwarf_place *place, struct dwarf_name *ret_name)
{
    _cleanup_(naming_deinit) struct naming naming = {0};
    Dwarf *dwarf = dwarf_module_dwarf(module);
    bool known = false;
    *ret_name = (struct dwarf_name){0};
    if (dwarf == NULL)
        return NULL;
    TRY(try_units(&naming, dwarf, pc, place, &known));
    if (!known)
        return NULL;
    ret_name->local = naming.local && place->base != DWARF_BASE_STATIC;
    ret_name->expression = TAKE(naming.text.data);
    if (naming.member.size != 0)
        ret_name->member = TAKE(naming.member.data);
    return NULL;
}
