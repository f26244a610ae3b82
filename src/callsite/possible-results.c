// SPDX-License-Identifier: GPL-3.0-or-later
// Chooses the results of a function that are followed: all its failure codes, and examples of
// success that checks treat differently.
#include "callsite/follow.h"

_Static_assert(SITE_CODES + 4 <= CONTENT_LANES, "lanes for every code and for successes");

#define ORDINARY  111 // as a character, a descriptor or a process
#define FULL      4096
#define A_POINTER 0x7f3516a5c340

static bool is_code(const struct site_callee *callee, int64_t number)
{
    for (size_t i = 0; i < callee->count; i++)
        if (callee->codes[i] == number)
            return true;
    return false;
}

static int add_success(const struct site_callee *callee, struct possible_results *possible,
                       int64_t number, bool counts)
{
    if (is_code(callee, number))
        return -1;
    unsigned lane = possible->lanes++;
    possible->numbers[lane] = number;
    if (counts)
        possible->successes |= 1ull << lane;
    return (int)lane;
}

void possible_results_make(const struct site_callee *callee, struct possible_results *ret_possible)
{
    int zero = -1;
    struct possible_results possible = {.ordinary = -1, .full = -1};
    for (size_t i = 0; i < callee->count; i++) {
        possible.failures |= 1ull << possible.lanes;
        possible.numbers[possible.lanes++] = callee->codes[i];
    }
    switch (callee->success) {
    case SITE_SUCCESS_ZERO:
        add_success(callee, &possible, 0, true);
        break;
    case SITE_SUCCESS_LENGTH: // code often treats 0 apart: the end of the file
        add_success(callee, &possible, 0, false);
        possible.full = add_success(callee, &possible, FULL, true);
        break;
    case SITE_SUCCESS_POSITION:
        possible.zero_full = true;
        add_success(callee, &possible, 0, false);
        possible.full = add_success(callee, &possible, FULL, true);
        break;
    case SITE_SUCCESS_BELOW:
        add_success(callee, &possible, 0, false);
        possible.below = true;
        possible.full = add_success(callee, &possible, FULL, true);
        break;
    case SITE_SUCCESS_DESCRIPTOR:
        zero = add_success(callee, &possible, 0, false);
        possible.ordinary = add_success(callee, &possible, ORDINARY, true);
        break;
    case SITE_SUCCESS_CONVERTED:
    case SITE_SUCCESS_TIME:
    case SITE_SUCCESS_VALUE: // code often treats 0 apart: the child, no file
        possible.by_errno = callee->success == SITE_SUCCESS_CONVERTED;
        possible.fills_day = callee->success == SITE_SUCCESS_TIME;
        add_success(callee, &possible, 0, false);
        possible.ordinary = add_success(callee, &possible, ORDINARY, true);
        break;
    case SITE_SUCCESS_POINTER:
        add_success(callee, &possible, A_POINTER, true);
        break;
    default:
        possible.lenient = true;
        add_success(callee, &possible, 0, true);
        add_success(callee, &possible, 1, true);
        possible.ordinary = add_success(callee, &possible, ORDINARY, true);
        break;
    }
    if (possible.successes == 0)
        possible.ordinary = add_success(callee, &possible, ORDINARY, true);
    possible.usual = possible.successes | (zero >= 0 ? 1ull << zero : 0);
    *ret_possible = possible;
}
