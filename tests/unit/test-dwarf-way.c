// SPDX-License-Identifier: GPL-3.0-or-later
// Offsets behind parameters of functions, in the words of their declarations.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dwarf/way.h"
#include "victim.h"

// Offsets: number 0, next 8, name 16, points 28, real 40, hidden 48, anything 56, matrix 64.
static const char source[] =
    "struct node { int number; struct node *next; char name[12]; struct { short x, y; } "
    "points[3];\n"
    "  union { double real; long whole; }; struct unknown *hidden; void *anything;\n"
    "  int matrix[2][5]; };\n"
    "typedef struct node *node_pointer;\n"
    "struct large { long words[5]; };\n"
    "struct node *way_of_nodes(struct node *first, double weight, const node_pointer *list,\n"
    "  int *numbers, void *data, struct unknown *hidden) { return first; }\n"
    "struct large way_large(int *numbers) { struct large all = {{0}}; return all; }\n"
    "int way_structure(struct large large, int *numbers) { return 0; }\n"
    "int main(void) { return 0; }\n";
#define NODE 104

static struct dwarf_module *module;

static char *name(const char *function, uint32_t parameter, const int64_t *offsets, size_t count)
{
    struct buffer text = {0};
    bool known;
    good(dwarf_way_name(module, function, parameter, offsets, count, &text, &known));
    assert_int_equal(known, text.size != 0);
    return text.size != 0 ? text.data : strdup("");
}

static void ways(void **state)
{
    static const struct {
        uint32_t parameter;
        int64_t offsets[3];
        size_t count;
        const char *name;
    } cases[] = {
        {0, {0}, 1, "first->number"},
        {0, {2}, 1, "first->number+2"},
        {0, {16 + 3}, 1, "first->name[3]"},
        {0, {28 + 6}, 1, "first->points[1].y"},
        {0, {40}, 1, "first->real"},
        {0, {64 + 28}, 1, "first->matrix[1][2]"},
        {0, {2 * NODE}, 1, "first[2].number"},
        {0, {-NODE}, 1, "first[-1].number"},
        {0, {8, 0}, 2, "first->next->number"},
        {0, {8, 8, 4 * NODE}, 3, "first->next->next[4].number"},
        {1, {0}, 1, "list[0]"}, // what is in a vector register is not counted
        {1, {16, 16}, 2, "list[2]->name[0]"},
        {2, {-4}, 1, "numbers[-1]"},
        {2, {9}, 1, "numbers[2]+1"},
        {DWARF_WAY_RESULT, {0}, 1, "result->number"},
        // Not known: no type, an incomplete one, no pointer, between members, no such parameter.
        {3, {0}, 1, ""},
        {4, {0}, 1, ""},
        {0, {0, 0}, 2, ""},
        {0, {48, 0}, 2, ""},
        {0, {56, 0}, 2, ""},
        {0, {4}, 1, ""},
        {5, {0}, 1, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        _cleanup_free_ char *found =
            name("way_of_nodes", cases[i].parameter, cases[i].offsets, cases[i].count);
        assert_string_equal(found, cases[i].name);
    }
}

static void parameters_in_memory(void **state)
{
    const int64_t offsets[] = {0};
    _cleanup_free_ char *hidden = name("way_large", 0, offsets, 1);
    _cleanup_free_ char *after = name("way_structure", 0, offsets, 1);
    _cleanup_free_ char *missing = name("way_nowhere", 0, offsets, 1);
    assert_string_equal(hidden, "");
    assert_string_equal(after, "");
    assert_string_equal(missing, "");
}

static int build(void **state)
{
    if (victim_setup(state) != 0)
        return -1;
    victim_build(victim_compiler(), "way", source, "-g -w");
    good(dwarf_module_open(victim_path("way"), &module));
    return 0;
}

static int end(void **state)
{
    dwarf_module_close(module);
    return victim_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ways),
                                       cmocka_unit_test(parameters_in_memory)};
    return cmocka_run_group_tests(tests, build, end);
}
