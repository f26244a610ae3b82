// SPDX-License-Identifier: GPL-3.0-or-later
// Forwards the C library's mathematical functions to libm, loaded on first use. A function that is
// called but missing from the lists below links libm itself, which is then loaded at every start.
// tests/e2e/start.test checks for that.
#include "cli/mathematics.h"

#include "base/late-library.h"
#include "cli/command.h"

#include <gnu/lib-names.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// clang-format off
#define OF_ONE(DO) \
    DO(acos) DO(acosh) DO(asin) DO(asinh) DO(atan) DO(atanh) DO(ceil) DO(cos) DO(cosh) DO(exp) \
    DO(expm1) DO(log) DO(log1p) DO(log2) DO(sin) DO(sinh) DO(sqrt) DO(tan) DO(tanh) DO(trunc)
#define OF_TWO(DO) DO(atan2) DO(fmax) DO(fmin) DO(fmod) DO(hypot) DO(pow)
#define ALL(DO) OF_ONE(DO) OF_TWO(DO) DO(ldexp) DO(llround) DO(sincos)
// clang-format on

#define FIELD(name) __typeof__(name) *name;
struct functions {
    ALL(FIELD)
};
static struct functions functions;

#define NAME(name) {#name, &functions.name},
static const struct late_function names[] = {ALL(NAME)};
static struct late_library library = LATE_LIBRARY(names);

struct error *mathematics_load(void)
{
    struct error *error =
        late_library_is_ready(&library) ? NULL : late_library_need(&library, LIBM_SO);
    return error != NULL ? error_prefix(error, "cannot load mathematical functions") : NULL;
}

static const struct functions *loaded(void)
{
    struct error *error = mathematics_load();
    if (error != NULL) {
        fprintf(stderr, "ordeal: %s\n", error_message(error));
        _Exit(EXIT_CANNOT_RUN);
    }
    return &functions;
}

#define DEFINE_OF_ONE(name)                                                                        \
    double name(double x)                                                                          \
    {                                                                                              \
        return loaded()->name(x);                                                                  \
    }
#define DEFINE_OF_TWO(name)                                                                        \
    double name(double x, double y)                                                                \
    {                                                                                              \
        return loaded()->name(x, y);                                                               \
    }
OF_ONE(DEFINE_OF_ONE)
OF_TWO(DEFINE_OF_TWO)

double ldexp(double x, int exponent)
{
    return loaded()->ldexp(x, exponent);
}

long long llround(double x)
{
    return loaded()->llround(x);
}

void sincos(double x, double *ret_sine, double *ret_cosine)
{
    loaded()->sincos(x, ret_sine, ret_cosine);
}
