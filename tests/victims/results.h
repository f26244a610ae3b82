// SPDX-License-Identifier: GPL-3.0-or-later
// Functions whose results are not one number.
#include <complex.h>

struct two {
    long first, second;
};
struct numbers {
    double first, second;
};
struct mixed {
    double first;
    long second;
};
struct large {
    long fields[3];
};
struct two give_two(void);
struct numbers give_numbers(void);
struct mixed give_mixed(void);
struct large give_large(void);
complex long double give_complex(void);
long double give_long_double(void);
