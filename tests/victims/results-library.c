// SPDX-License-Identifier: GPL-3.0-or-later
#include "results.h"

struct two give_two(void)
{
    return (struct two){1, 2};
}
struct numbers give_numbers(void)
{
    return (struct numbers){1, 2};
}
struct mixed give_mixed(void)
{
    return (struct mixed){1, 2};
}
struct large give_large(void)
{
    return (struct large){{1, 2, 3}};
}
complex long double give_complex(void)
{
    return 1 + 2 * I;
}
long double give_long_double(void)
{
    return 1;
}
