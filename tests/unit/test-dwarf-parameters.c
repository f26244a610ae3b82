// SPDX-License-Identifier: GPL-3.0-or-later
// In how many general registers a function can have parameters.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dwarf/results.h"
#include "skip.h"
#include "victim.h"

static const char source[] =
    "struct two { long a, b; };\n"
    "struct large { long a[5]; };\n"
    "struct point { double x, y; };\n"
    "int none(void) { return 1; }\n"
    "void one(char *a) { *a = 1; }\n"
    "long three(int a, double b, char *c, short d) { return a + b + *c + d; }\n"
    "long pair(struct two a, int b) { return a.a + b; }\n"
    "long memory(struct large a, int b) { return a.a[0] + b; }\n"
    "double vector(struct point a, float b) { return a.x + b; }\n"
    "struct large hidden(int a) { return (struct large){{a}}; }\n"
    "int many(int a, int b, int c, int d, int e, int f, int g) { return a + g; }\n"
    "int variadic(const char *a, ...) { return *a; }\n";

static void test_registers(void **state)
{
    static const struct {
        const char *function;
        unsigned registers;
    } rows[] = {{"none", 0},   {"one", 1},    {"three", 3}, {"pair", 3},     {"memory", 1},
                {"vector", 0}, {"hidden", 2}, {"many", 6},  {"variadic", 6}, {"missing", 6}};
    static const char *const compilers[] = {"gcc", "clang"};
    for (size_t c = 0; c < sizeof compilers / sizeof *compilers; c++) {
        struct dwarf_module *module;
        if (!victim_has(compilers[c])) {
            skip_in_part("%s is not installed", compilers[c]);
            continue;
        }
        victim_build(compilers[c], "parameters.so", source, "-shared -fPIC -g -O1");
        good(dwarf_module_open(victim_path("parameters.so"), &module));
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            unsigned found = dwarf_result_type_of(module, rows[i].function).registers;
            if (found != rows[i].registers)
                fail_msg("%s: %s has %u, not %u", compilers[c], rows[i].function, found,
                         rows[i].registers);
        }
        dwarf_module_close(module);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_registers)};
    return cmocka_run_group_tests(tests, victim_setup, victim_teardown);
}
