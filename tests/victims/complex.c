// SPDX-License-Identifier: GPL-3.0-or-later
// flags: -lm -fno-builtin -ffp-contract=off
// Prints results of functions that return complex numbers and structures, real and imaginary parts.
#include <complex.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

volatile double one = 1, two = 2;

int main(void)
{
    for (int i = 0; i < 20; i++) { // an x87 register that is left behind shows after eight of them
        complex long double wide = csqrtl((long double)one + (long double)two * I);
        complex double plain = csqrt(one + two * I);
        complex float narrow = csqrtf((float)one + (float)two * I);
        ldiv_t parts = ldiv((long)one * 17, (long)two * 5);
        long double sum = (long double)one + two; // needs a register
        if (i == 19)
            printf("%Lg %Lg, %g %g, %g %g, %ld %ld, %Lg\n", creall(wide), cimagl(wide),
                   creal(plain), cimag(plain), (double)crealf(narrow), (double)cimagf(narrow),
                   parts.quot, parts.rem, sum);
    }
    return (int)mallinfo2().arena & 0;
}
