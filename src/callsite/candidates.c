// SPDX-License-Identifier: GPL-3.0-or-later
// See follow.h: which results of a function are followed.
#include "callsite/follow.h"

_Static_assert(SITE_CODES + 4 <= CONTENT_LANES, "lanes for every code and for successes");

#define ORDINARY  111 // a character, a descriptor, a process
#define FULL      4096
#define A_POINTER 0x7f3516a5c340

static bool is_code(const struct site_callee *callee, int64_t number)
{
    for (size_t i = 0; i < callee->count; i++)
        if (callee->codes[i] == number)
            return true;
    return false;
}

static int add_success(const struct site_callee *callee, struct candidates *candidates,
                       int64_t number, bool counts)
{
    if (is_code(callee, number))
        return -1;
    unsigned lane = candidates->lanes++;
    candidates->numbers[lane] = number;
    if (counts)
        candidates->successes |= 1ull << lane;
    return (int)lane;
}

void candidates_make(const struct site_callee *callee, struct candidates *ret_candidates)
{
    struct candidates candidates = {.ordinary = -1, .full = -1};
    for (size_t i = 0; i < callee->count; i++) {
        candidates.failures |= 1ull << candidates.lanes;
        candidates.numbers[candidates.lanes++] = callee->codes[i];
    }
    switch (callee->success) {
    case SITE_SUCCESS_ZERO:
        add_success(callee, &candidates, 0, true);
        break;
    case SITE_SUCCESS_LENGTH: // nothing at all is often told apart: the end
        add_success(callee, &candidates, 0, false);
        candidates.full = add_success(callee, &candidates, FULL, true);
        break;
    case SITE_SUCCESS_VALUE: // zero is often told apart: standard input, the child
        add_success(callee, &candidates, 0, false);
        candidates.ordinary = add_success(callee, &candidates, ORDINARY, true);
        break;
    case SITE_SUCCESS_POINTER:
        add_success(callee, &candidates, A_POINTER, true);
        break;
    default:
        candidates.lenient = true;
        add_success(callee, &candidates, 0, true);
        add_success(callee, &candidates, 1, true);
        candidates.ordinary = add_success(callee, &candidates, ORDINARY, true);
        break;
    }
    if (candidates.successes == 0)
        candidates.ordinary = add_success(callee, &candidates, ORDINARY, true);
    *ret_candidates = candidates;
}
