// SPDX-License-Identifier: GPL-3.0-or-later
// Applies member, index and dereference operators to types. Chains of types are followed a limited
// number of times, because in a broken file they may form a ring.
#include "dwarf/types.h"

#include <dwarf.h>
#include <string.h>

#define CHAIN 64 // links of typedefs and qualifiers
#define NEST  32 // depth of nested anonymous members

static const char broken[] = "its type cannot be read";
static const char no_member[] = "it has no such member";
static const char not_a_struct[] = "it is not a struct or union";
static const char not_a_pointer[] = "it is not a pointer or array";
static const char incomplete[] = "its type is incomplete in the debugging information";

bool dwarf_type_of(Dwarf_Die *die, struct dwarf_type *ret_type)
{
    struct dwarf_type type = {0};
    Dwarf_Attribute attribute;
    if (dwarf_attr_integrate(die, DW_AT_type, &attribute) == NULL)
        type.is_void = true;
    else if (dwarf_formref_die(&attribute, &type.die) == NULL)
        return false;
    *ret_type = type;
    return true;
}

static bool is_qualifier(int tag)
{
    return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
           tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type || tag == DW_TAG_shared_type ||
           tag == DW_TAG_packed_type || tag == DW_TAG_immutable_type;
}

int dwarf_type_peel(struct dwarf_type *type)
{
    for (int i = 0; i < CHAIN; i++) {
        if (type->is_void)
            return DW_TAG_unspecified_type;
        int tag = dwarf_tag(&type->die);
        if (!is_qualifier(tag))
            return tag;
        if (!dwarf_type_of(&type->die, type))
            return 0;
    }
    return 0;
}

static bool is_pointer(int tag)
{
    return tag == DW_TAG_pointer_type;
}

static bool is_reference(int tag)
{
    return tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

static bool is_struct(int tag)
{
    return tag == DW_TAG_structure_type || tag == DW_TAG_union_type || tag == DW_TAG_class_type;
}

// A struct in a type unit is represented by a declaration that carries the unit's signature.
static void follow_signature(struct dwarf_type *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Die definition;
    if (dwarf_attr(&type->die, DW_AT_signature, &attribute) != NULL &&
        dwarf_formref_die(&attribute, &definition) != NULL)
        type->die = definition;
}

int dwarf_type_core(struct dwarf_type *type)
{
    int tag = dwarf_type_peel(type);
    if (is_struct(tag))
        follow_signature(type);
    return tag;
}

// Peels, and goes through a reference to what it refers to.
static const char *peel_reference(struct dwarf_type *type, struct dwarf_place *place, int *ret_tag)
{
    int tag = dwarf_type_peel(type);
    if (is_reference(tag)) {
        const char *problem = dwarf_place_load(place);
        if (problem != NULL)
            return problem;
        if (!dwarf_type_of(&type->die, type))
            return broken;
        tag = dwarf_type_peel(type);
    }
    if (is_struct(tag))
        follow_signature(type);
    *ret_tag = tag;
    return tag != 0 ? NULL : broken;
}

static bool unsigned_attribute(Dwarf_Die *die, unsigned name, uint64_t *ret_value)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    if (dwarf_attr_integrate(die, name, &attribute) == NULL ||
        dwarf_formudata(&attribute, &value) != 0)
        return false;
    *ret_value = value;
    return true;
}

static bool extent_of_subrange(Dwarf_Die *die, uint64_t *ret_count)
{
    uint64_t lower = 0;
    if (unsigned_attribute(die, DW_AT_count, ret_count))
        return true;
    if (!unsigned_attribute(die, DW_AT_upper_bound, ret_count))
        return false;
    unsigned_attribute(die, DW_AT_lower_bound, &lower);
    *ret_count = *ret_count - lower + 1;
    return true;
}

// The product of an array's dimensions from `first` on. *ret_dimensions is how many it has.
static bool count_elements(Dwarf_Die *array, unsigned first, uint64_t *ret_product,
                           unsigned *ret_dimensions)
{
    Dwarf_Die child;
    uint64_t product = 1, count;
    unsigned dimension = 0;
    if (dwarf_child(array, &child) != 0)
        return false;
    do {
        if (dwarf_tag(&child) != DW_TAG_subrange_type || dimension++ < first)
            continue;
        if (!extent_of_subrange(&child, &count) || __builtin_mul_overflow(product, count, &product))
            return false;
    } while (dwarf_siblingof(&child, &child) == 0);
    *ret_product = product;
    *ret_dimensions = dimension;
    return true;
}

static bool size_of_simple(Dwarf_Die *die, int tag, uint64_t *ret_size)
{
    if (tag == DW_TAG_unspecified_type || tag == DW_TAG_subroutine_type)
        *ret_size = 1; // as gcc counts
    else if (!unsigned_attribute(die, DW_AT_byte_size, ret_size)) {
        if (!is_pointer(tag) && !is_reference(tag))
            return false;
        *ret_size = 8;
    }
    return true;
}

bool dwarf_type_size(struct dwarf_type type, uint64_t *ret_size)
{
    uint64_t product = 1, count, size;
    unsigned dimensions;
    for (int i = 0; i < CHAIN; i++) {
        int tag = dwarf_type_peel(&type);
        if (tag == 0)
            return false;
        if (is_struct(tag))
            follow_signature(&type);
        if (tag != DW_TAG_array_type)
            return size_of_simple(&type.die, tag, &size) &&
                   !__builtin_mul_overflow(product, size, ret_size);
        if (!count_elements(&type.die, type.dimension, &count, &dimensions) ||
            __builtin_mul_overflow(product, count, &product) || !dwarf_type_of(&type.die, &type))
            return false;
    }
    return false;
}

// DW_AT_data_member_location: a number, or in old files an expression that adds one.
bool dwarf_member_offset(Dwarf_Die *member, uint64_t *ret_offset)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value;
    Dwarf_Op *operations;
    size_t count;
    *ret_offset = 0;
    if (dwarf_attr(member, DW_AT_data_member_location, &attribute) == NULL)
        return true; // of a union
    if (dwarf_formudata(&attribute, &value) == 0) {
        *ret_offset = value;
        return true;
    }
    if (dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1 ||
        operations[0].atom != DW_OP_plus_uconst)
        return false;
    *ret_offset = operations[0].number;
    return true;
}

// DW_AT_data_bit_offset counts from the struct's start; the older DW_AT_bit_offset from the most
// significant bit of a storage unit at the member's location.
static const char *select_bits(Dwarf_Die *member, struct dwarf_type *type,
                               struct dwarf_place *place, uint64_t bit_width)
{
    uint64_t bit_offset, from_top, offset, size;
    if (bit_width == 0 || bit_width > 64 || !dwarf_member_offset(member, &offset) ||
        offset > 1u << 30)
        return broken;
    if (!unsigned_attribute(member, DW_AT_data_bit_offset, &bit_offset)) {
        if (!unsigned_attribute(member, DW_AT_bit_offset, &from_top))
            from_top = 0;
        if (!unsigned_attribute(member, DW_AT_byte_size, &size) && !dwarf_type_size(*type, &size))
            return broken;
        if (size > 8 || from_top + bit_width > size * 8)
            return broken;
        bit_offset = offset * 8 + size * 8 - from_top - bit_width;
    }
    if (bit_offset % 8 + bit_width > 64)
        return "its bits are spread over more than eight bytes";
    return dwarf_place_bits(place, bit_offset, (unsigned)bit_width);
}

static const char *take_member(Dwarf_Die *member, struct dwarf_type *type,
                               struct dwarf_place *place)
{
    uint64_t offset, bit_width;
    if (!dwarf_type_of(member, type))
        return broken;
    if (unsigned_attribute(member, DW_AT_bit_size, &bit_width))
        return select_bits(member, type, place, bit_width);
    if (!dwarf_member_offset(member, &offset))
        return "its place in the object is not fixed";
    return dwarf_place_add(place, (int64_t)offset);
}

static const char *find_member(struct dwarf_type *type, struct dwarf_place *place, const char *name,
                               int depth);

// Looks into an anonymous struct or union, or into a base class.
static const char *find_inside(Dwarf_Die *member, struct dwarf_type *type,
                               struct dwarf_place *place, const char *name, int depth)
{
    struct dwarf_type inner;
    struct dwarf_place inner_place = *place;
    uint64_t offset;
    if (depth == 0 || !dwarf_type_of(member, &inner) || !is_struct(dwarf_type_peel(&inner)) ||
        !dwarf_member_offset(member, &offset) ||
        dwarf_place_add(&inner_place, (int64_t)offset) != NULL)
        return no_member;
    follow_signature(&inner);
    const char *problem = find_member(&inner, &inner_place, name, depth - 1);
    if (problem != NULL)
        return problem;
    *type = inner;
    *place = inner_place;
    return NULL;
}

static const char *find_member(struct dwarf_type *type, struct dwarf_place *place, const char *name,
                               int depth)
{
    Dwarf_Die child;
    if (dwarf_hasattr(&type->die, DW_AT_declaration))
        return incomplete;
    if (dwarf_child(&type->die, &child) != 0)
        return no_member;
    do {
        int tag = dwarf_tag(&child);
        const char *member = dwarf_diename(&child);
        if (tag == DW_TAG_member && member != NULL && strcmp(member, name) == 0)
            return dwarf_hasattr(&child, DW_AT_declaration) ? "it is a static member"
                                                            : take_member(&child, type, place);
        if (((tag == DW_TAG_member && member == NULL) || tag == DW_TAG_inheritance) &&
            find_inside(&child, type, place, name, depth) == NULL)
            return NULL;
    } while (dwarf_siblingof(&child, &child) == 0);
    return no_member;
}

static const char *select_index(struct dwarf_type *type, struct dwarf_place *place, int64_t index)
{
    int tag;
    const char *problem = peel_reference(type, place, &tag);
    if (problem != NULL)
        return problem;
    uint64_t below = 1, size;
    unsigned dimensions = 0;
    struct dwarf_type element;
    if (!is_pointer(tag) && tag != DW_TAG_array_type)
        return not_a_pointer;
    if (tag == DW_TAG_array_type &&
        !count_elements(&type->die, type->dimension + 1, &below, &dimensions))
        return broken;
    if (!dwarf_type_of(&type->die, &element) || !dwarf_type_size(element, &size))
        return incomplete;
    if (is_pointer(tag) && (problem = dwarf_place_load(place)) != NULL)
        return problem;
    int64_t stride, offset;
    if (__builtin_mul_overflow(below, size, &stride) ||
        __builtin_mul_overflow(stride, index, &offset))
        return "the index is too large";
    if (tag == DW_TAG_array_type && type->dimension + 1 < dimensions)
        type->dimension++;
    else
        *type = element;
    return dwarf_place_add(place, offset);
}

const char *dwarf_type_select(struct dwarf_type *type, struct dwarf_place *place,
                              const struct dwarf_selector *selector)
{
    int tag;
    const char *problem;
    switch (selector->kind) {
    case DWARF_SELECT_INDEX:
        return select_index(type, place, selector->index);
    case DWARF_SELECT_DEREFERENCE:
        return select_index(type, place, 0);
    case DWARF_SELECT_ARROW:
        problem = select_index(type, place, 0);
        break;
    case DWARF_SELECT_MEMBER:
        problem = NULL;
        break;
    default:
        return broken;
    }
    if (problem == NULL)
        problem = peel_reference(type, place, &tag);
    if (problem != NULL)
        return problem;
    if (!is_struct(tag))
        return selector->kind == DWARF_SELECT_MEMBER && is_pointer(tag)
                   ? "it is a pointer: use -> instead of ."
                   : not_a_struct;
    return find_member(type, place, selector->name, NEST);
}

static bool is_signed(struct dwarf_type type, int tag)
{
    uint64_t encoding;
    if (tag == DW_TAG_enumeration_type && !dwarf_hasattr(&type.die, DW_AT_encoding)) {
        struct dwarf_type underlying;
        if (!dwarf_type_of(&type.die, &underlying) || underlying.is_void ||
            dwarf_type_peel(&underlying) != DW_TAG_base_type)
            return false;
        return is_signed(underlying, DW_TAG_base_type);
    }
    return unsigned_attribute(&type.die, DW_AT_encoding, &encoding) &&
           (encoding == DW_ATE_signed || encoding == DW_ATE_signed_char);
}

static bool is_integer(Dwarf_Die *base)
{
    uint64_t encoding;
    if (!unsigned_attribute(base, DW_AT_encoding, &encoding))
        return false;
    return encoding == DW_ATE_signed || encoding == DW_ATE_unsigned ||
           encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char ||
           encoding == DW_ATE_boolean || encoding == DW_ATE_UTF || encoding == DW_ATE_address;
}

// The bytes that hold a bit field: the fewest, so that no load leaves the object.
static unsigned width_for_bits(const struct dwarf_place *place)
{
    unsigned bits = place->bit_offset + place->bit_width;
    return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

// Turns a value that the recipe computes into something that can be read: a register, a load, or
// an address that is the value.
static const char *settle_value(struct dwarf_place *place, unsigned size,
                                struct dwarf_scalar *scalar)
{
    bool whole = place->bit_offset == 0 && place->bit_width == 0;
    if (place->base == DWARF_BASE_REGISTER && place->step_count == 0) {
        if (place->bit_offset != 0 && place->bit_width == 0)
            place->bit_width = size * 8;
        return place->bit_offset + place->bit_width <= 64 ? NULL : broken;
    }
    struct dwarf_step *last =
        place->step_count != 0 ? &place->steps[place->step_count - 1] : &(struct dwarf_step){0};
    place->is_value = false;
    if (last->load && last->offset == 0) {
        place->step_count--;
        return NULL;
    }
    scalar->width = 0;
    return whole && size == 8 ? NULL : "its value is computed in a way that cannot be followed";
}

static const char *read_scalar(struct dwarf_type *type, int tag, struct dwarf_place *place,
                               struct dwarf_scalar *ret_scalar)
{
    uint64_t size;
    bool scalar = tag == DW_TAG_base_type || tag == DW_TAG_enumeration_type || is_pointer(tag) ||
                  tag == DW_TAG_ptr_to_member_type;
    if (tag == DW_TAG_base_type && !is_integer(&type->die))
        return "it is not an integer";
    if (!scalar || !dwarf_type_size(*type, &size))
        return incomplete;
    if (size != 1 && size != 2 && size != 4 && size != 8)
        return "it is larger than 8 bytes";
    ret_scalar->width = place->bit_width != 0 ? width_for_bits(place) : (unsigned)size;
    ret_scalar->is_signed = is_signed(*type, tag);
    return place->is_value ? settle_value(place, (unsigned)size, ret_scalar) : NULL;
}

const char *dwarf_type_read(struct dwarf_type *type, struct dwarf_place *place,
                            struct dwarf_scalar *ret_scalar)
{
    int tag;
    const char *problem = peel_reference(type, place, &tag);
    if (problem != NULL)
        return problem;
    if (is_struct(tag))
        return "it is a struct or union: name one of its members";
    if (tag != DW_TAG_array_type && tag != DW_TAG_subroutine_type)
        return read_scalar(type, tag, place, ret_scalar);
    *ret_scalar = (struct dwarf_scalar){0};
    return place->is_value ? "it has no address" : NULL;
}
