// SPDX-License-Identifier: GPL-3.0-or-later
// Works out what a condition that held says about the compared place.
#include "profile/place.h"

bool place_bounds_of(enum isa_condition condition, int64_t number, struct bounds *ret_bounds)
{
    struct bounds inside = {.low = INT64_MIN, .high = INT64_MAX};
    switch (condition & ~1u) {
    case ISA_IF_E:
        inside = (struct bounds){.low = number, .high = number};
        break;
    case ISA_IF_S:
        if (number != 0)
            return false;
        inside.high = -1;
        break;
    case ISA_IF_L:
        if (number == INT64_MIN)
            return false;
        inside.high = number - 1;
        break;
    case ISA_IF_LE:
        inside.high = number;
        break;
    case ISA_IF_B: // unsigned: below a negative number means outside of [number, -1]
        inside = number < 0 ? (struct bounds){.low = number, .high = -1, .outside = true}
                            : (struct bounds){.low = 0, .high = number - 1};
        break;
    case ISA_IF_BE:
        inside = number < 0 ? (struct bounds){.low = number + 1, .high = -1, .outside = true}
                            : (struct bounds){.low = 0, .high = number};
        break;
    default:
        return false;
    }
    if ((condition & 1) != 0)
        inside.outside = !inside.outside;
    *ret_bounds = inside;
    return true;
}

// What is known of the result of the instruction.
static bool bounds_after(enum isa_condition condition, struct known_bounds *bounds)
{
    bounds->after = true;
    return place_bounds_of(condition, 0, &bounds->bounds);
}

// For flags that describe a result: what they say about the operand, as if it had been compared.
static bool bounds_of_result(const struct isa_insn *insn, enum isa_condition condition,
                             struct known_bounds *bounds)
{
    enum isa_condition plain = condition & ~1u;
    bounds->place = place_register(insn->dst);
    if (insn->kind == ISA_NEGATE && plain == ISA_IF_B) // carry: the operand was not zero
        return place_bounds_of(condition ^ 1 ^ ISA_IF_B ^ ISA_IF_E, 0, &bounds->bounds);
    if (plain == ISA_IF_S)
        return bounds_after(condition, bounds);
    if (plain != ISA_IF_E)
        return false;
    if (insn->kind == ISA_ADD && insn->src == ISA_NONE)
        return place_bounds_of(condition, -insn->value, &bounds->bounds);
    if (insn->kind == ISA_NEGATE ||
        ((insn->kind == ISA_AND || insn->kind == ISA_OR) && insn->src == insn->dst))
        return place_bounds_of(condition, 0, &bounds->bounds);
    return plain == ISA_IF_E && bounds_after(condition, bounds);
}

bool place_bounds(const struct flow_image *image, const struct flow_block *block, uint32_t at,
                  enum isa_condition condition, struct known_bounds *ret_bounds)
{
    if (condition >= ISA_IF_UNKNOWN)
        return false;
    for (uint32_t i = at; i-- > block->first;) {
        const struct isa_insn *insn = &image->insns.items[i];
        if ((insn->flags & ISA_FLAGS) == 0)
            continue;
        ret_bounds->insn = i;
        ret_bounds->after = false;
        bool compares = insn->kind == ISA_COMPARE || insn->kind == ISA_TEST;
        if (!compares)
            return (insn->flags & ISA_RESULT) != 0 && bounds_of_result(insn, condition, ret_bounds);
        if (insn->src != ISA_NONE)
            ret_bounds->place = place_register(insn->src);
        else if (!place_of_memory(image, block, i, &ret_bounds->place))
            return false;
        int64_t number = insn->kind == ISA_TEST ? 0 : insn->value;
        // A register is tested with itself, or with some bits. If one of those is set, it is not 0.
        bool some = insn->dst == ISA_NONE && condition == ISA_IF_NE;
        if (insn->kind == ISA_TEST
                ? insn->src == ISA_NONE || (insn->src != insn->dst && !some)
                : insn->dst != ISA_NONE && !place_number(image, block, i, insn->dst, &number))
            return false;
        bool known = place_bounds_of(condition, number, &ret_bounds->bounds);
        ret_bounds->bounds.wide = insn->width == 8;
        return known;
    }
    return false;
}
