// SPDX-License-Identifier: GPL-3.0-or-later
// Computes operators on constants. The runtime does the same to values.
#include "scenario/expression.h"

bool expression_fold(enum wire_op op, int64_t left, int64_t right, int64_t *ret_value)
{
    uint64_t a = (uint64_t)left, b = (uint64_t)right;
    if ((op == WIRE_OP_DIVIDE || op == WIRE_OP_REMAINDER) && right == 0)
        return false;
    switch (op) {
    case WIRE_OP_ADD:
        *ret_value = (int64_t)(a + b);
        break;
    case WIRE_OP_SUBTRACT:
        *ret_value = (int64_t)(a - b);
        break;
    case WIRE_OP_MULTIPLY:
        *ret_value = (int64_t)(a * b);
        break;
    case WIRE_OP_DIVIDE:
        *ret_value = right == -1 ? (int64_t)(0 - a) : left / right;
        break;
    case WIRE_OP_REMAINDER:
        *ret_value = right == -1 ? 0 : left % right;
        break;
    case WIRE_OP_AND:
        *ret_value = (int64_t)(a & b);
        break;
    case WIRE_OP_OR:
        *ret_value = (int64_t)(a | b);
        break;
    case WIRE_OP_XOR:
        *ret_value = (int64_t)(a ^ b);
        break;
    case WIRE_OP_SHIFT_LEFT:
        *ret_value = (int64_t)(a << (b & 63));
        break;
    case WIRE_OP_SHIFT_RIGHT:
        *ret_value = left >> (b & 63);
        break;
    case WIRE_OP_EQUAL:
        *ret_value = left == right;
        break;
    case WIRE_OP_NOT_EQUAL:
        *ret_value = left != right;
        break;
    case WIRE_OP_LESS:
        *ret_value = left < right;
        break;
    case WIRE_OP_LESS_EQUAL:
        *ret_value = left <= right;
        break;
    case WIRE_OP_GREATER:
        *ret_value = left > right;
        break;
    case WIRE_OP_GREATER_EQUAL:
        *ret_value = left >= right;
        break;
    case WIRE_OP_NEGATE:
        *ret_value = (int64_t)(0 - a);
        break;
    case WIRE_OP_COMPLEMENT:
        *ret_value = ~left;
        break;
    case WIRE_OP_NOT:
        *ret_value = left == 0;
        break;
    default:
        return false;
    }
    return true;
}
