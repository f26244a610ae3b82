// SPDX-License-Identifier: GPL-3.0-or-later
// Decides whether a condition holds for a lane: from the operation that set the flags and from its
// operands.
#include "callsite/machine.h"

bool machine_flags_derived(const struct machine *machine, const struct contents *contents)
{
    return machine->flags.kind != ISA_OTHER && (content_derived(contents, machine->flags.left) ||
                                                content_derived(contents, machine->flags.right));
}

struct bits { // of the flags register: 0, 1, or -1 if unknown
    int carry, zero, sign, overflow;
};

static void of_subtraction(int64_t left, int64_t right, unsigned width, struct bits *bits)
{
    int64_t a = number_signed(left, width), b = number_signed(right, width);
    int64_t difference = number_signed((int64_t)((uint64_t)a - (uint64_t)b), width);
    bits->carry = (uint64_t)number_unsigned(left, width) < (uint64_t)number_unsigned(right, width);
    bits->zero = a == b;
    bits->sign = difference < 0;
    bits->overflow = (a < b) != (difference < 0);
}

static void of_addition(int64_t left, int64_t right, unsigned width, struct bits *bits)
{
    int64_t a = number_signed(left, width), b = number_signed(right, width);
    int64_t sum = number_signed((int64_t)((uint64_t)a + (uint64_t)b), width);
    // A subtraction of a constant looks like an addition of a negative one. Its carry is the
    // opposite, so the carry is unknown then.
    bits->carry =
        right < 0 ? -1
                  : (uint64_t)number_unsigned(sum, width) < (uint64_t)number_unsigned(left, width);
    bits->zero = sum == 0;
    bits->sign = sum < 0;
    bits->overflow = (a < 0) == (b < 0) && (sum < 0) != (a < 0);
}

static void of_result(int64_t result, unsigned width, struct bits *bits)
{
    bits->zero = number_signed(result, width) == 0;
    bits->sign = number_signed(result, width) < 0;
}

static bool find_bits(const struct machine_flags *flags, int64_t left, int64_t right,
                      struct bits *bits)
{
    unsigned width = flags->width;
    uint64_t by = (uint64_t)right & (width == 8 ? 63 : 31);
    *bits = (struct bits){-1, -1, -1, -1};
    switch (flags->kind) {
    case ISA_COMPARE:
    case ISA_SUBTRACT:
        of_subtraction(left, right, width, bits);
        return true;
    case ISA_NEGATE:
        of_subtraction(0, left, width, bits);
        return true;
    case ISA_ADD:
        of_addition(left, right, width, bits);
        return true;
    case ISA_TEST:
    case ISA_AND:
    case ISA_OR:
    case ISA_XOR:
        bits->carry = bits->overflow = 0;
        of_result(flags->kind == ISA_OR    ? left | right
                  : flags->kind == ISA_XOR ? left ^ right
                                           : left & right,
                  width, bits);
        return true;
    case ISA_SHIFT_LEFT:
        of_result((int64_t)((uint64_t)left << by), width, bits);
        return true;
    case ISA_SHIFT_RIGHT:
        of_result((int64_t)((uint64_t)number_unsigned(left, width) >> by), width, bits);
        return true;
    case ISA_SHIFT_SIGNED:
        of_result(number_signed(left, width) >> by, width, bits);
        return true;
    case ISA_BIT:
        bits->carry = (int)((uint64_t)left >> by & 1);
        return true;
    default:
        return false;
    }
}

static int either(int a, int b)
{
    if (a == 1 || b == 1)
        return 1;
    return a < 0 || b < 0 ? -1 : 0;
}

static int differ(int a, int b)
{
    return a < 0 || b < 0 ? -1 : a != b;
}

static bool find_operands(const struct machine_flags *flags, const struct contents *contents,
                          unsigned lane, bool is_sign, int64_t *ret_left, int64_t *ret_right)
{
    *ret_left = *ret_right = 0;
    bool left = content_number(contents, flags->left, lane, ret_left);
    bool right =
        flags->kind == ISA_NEGATE || content_number(contents, flags->right, lane, ret_right);
    // if (r >= 0 && f() < 0) is compiled as a sign of ~r & f(): r is taken for success.
    if ((flags->kind == ISA_TEST || flags->kind == ISA_AND) && left != right && is_sign) {
        *(left ? ret_right : ret_left) = -1;
        return content_derived(contents, left ? flags->left : flags->right);
    }
    if (flags->kind == ISA_OR) // what was gathered before is taken for success: content_apply()
        return (left && content_derived(contents, flags->left)) ||
               (right && content_derived(contents, flags->right)) || (left && right);
    return left && right;
}

// No unsigned number is below 0. So NULL is not above any pointer, and no pointer is below NULL.
static int compare_with_zero(const struct machine_flags *flags, const struct contents *contents,
                             enum isa_condition condition, unsigned lane)
{
    int64_t number;
    bool below = (condition & ~1u) == ISA_IF_B, below_or_equal = (condition & ~1u) == ISA_IF_BE;
    if (flags->kind != ISA_COMPARE || (!below && !below_or_equal))
        return -1;
    if (!content_number(contents, below ? flags->right : flags->left, lane, &number) ||
        number_unsigned(number, flags->width) != 0)
        return -1;
    bool holds = below_or_equal;
    return (condition & 1) == 0 ? holds : !holds;
}

int condition_holds(const struct machine_flags *flags, int64_t left, int64_t right,
                    enum isa_condition condition)
{
    struct bits bits;
    int holds;
    if (condition >= ISA_IF_UNKNOWN || !find_bits(flags, left, right, &bits))
        return -1;
    switch (condition & ~1u) {
    case ISA_IF_O:
        holds = bits.overflow;
        break;
    case ISA_IF_B:
        holds = bits.carry;
        break;
    case ISA_IF_E:
        holds = bits.zero;
        break;
    case ISA_IF_BE:
        holds = either(bits.carry, bits.zero);
        break;
    case ISA_IF_S:
        holds = bits.sign;
        break;
    case ISA_IF_L:
        holds = differ(bits.sign, bits.overflow);
        break;
    case ISA_IF_LE:
        holds = either(bits.zero, differ(bits.sign, bits.overflow));
        break;
    default:
        return -1;
    }
    return holds < 0 || (condition & 1) == 0 ? holds : !holds;
}

int machine_condition(const struct machine *machine, const struct contents *contents,
                      enum isa_condition condition, unsigned lane)
{
    int64_t left, right;
    if (condition >= ISA_IF_UNKNOWN || machine->flags.kind == ISA_OTHER)
        return -1;
    bool is_sign = (condition & ~1u) == ISA_IF_S;
    if (!find_operands(&machine->flags, contents, lane, is_sign, &left, &right))
        return compare_with_zero(&machine->flags, contents, condition, lane);
    return condition_holds(&machine->flags, left, right, condition);
}
