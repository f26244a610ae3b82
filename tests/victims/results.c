// SPDX-License-Identifier: GPL-3.0-or-later
// flags: -O1 -lresults
// Prints what the functions of libresults.so return.
#include "results.h"

#include <stdio.h>

int main(void)
{
    struct two two = give_two();
    struct numbers numbers = give_numbers();
    struct mixed mixed = give_mixed();
    struct large large = give_large();
    complex long double wide = give_complex();
    long double long_double = give_long_double();
    printf("%ld %ld, %g %g, %g %ld, %ld, %Lg %Lg, %Lg\n", two.first, two.second, numbers.first,
           numbers.second, mixed.first, mixed.second, large.fields[2], creall(wide), cimagl(wide),
           long_double);
    return 0;
}
