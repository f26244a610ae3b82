// SPDX-License-Identifier: GPL-3.0-or-later
// Faults of two levels, compared by type and place.
#include "mutate/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct match_counts counts[MODEL_KINDS];

static void compare(const struct match_fault *left, size_t left_count,
                    const struct match_fault *right, size_t right_count)
{
    assert_null(match_compare((struct match_list){left, left_count, NULL, 0},
                              (struct match_list){right, right_count, NULL, 0}, counts));
}

// The example of the thesis: A-10 is correct, A-20 is spurious, B-5 is omitted.
static void example(void **state)
{
    const struct match_fault source[] = {{MODEL_MFC, "A", "f", 10, 0, "", false},
                                         {MODEL_MFC, "B", "g", 5, 0, "", false}};
    const struct match_fault binary[] = {{MODEL_MFC, "/build/A", "f", 10, 0, "", false},
                                         {MODEL_MFC, "/build/A", "f", 20, 0, "", false}};
    compare(source, 2, binary, 2);
    assert_int_equal(counts[MODEL_MFC].correct, 1);
    assert_int_equal(counts[MODEL_MFC].omitted[MATCH_OTHER], 1);
    assert_int_equal(counts[MODEL_MFC].spurious[MATCH_OTHER], 1);
}

// Of N and M faults at one place the smaller number are the same ones.
static void several(void **state)
{
    const struct match_fault three[] = {{MODEL_MLAC, "A", "f", 1, 0, "", false},
                                        {MODEL_MLAC, "A", "f", 1, 0, "", false},
                                        {MODEL_MLAC, "A", "f", 1, 0, "", false}};
    compare(three, 3, three, 1);
    assert_int_equal(counts[MODEL_MLAC].correct, 1);
    assert_int_equal(counts[MODEL_MLAC].omitted[MATCH_OTHER], 2);
    compare(three, 1, three, 3);
    assert_int_equal(counts[MODEL_MLAC].correct, 1);
    assert_int_equal(counts[MODEL_MLAC].spurious[MATCH_OTHER], 2);
    assert_int_equal(counts[MODEL_MLAC].reference, 1);
    assert_int_equal(counts[MODEL_MLAC].compared, 3);
}

static void other_types(void **state)
{
    const struct match_fault source = {MODEL_MIA, "A", "f", 1, 0, "", false};
    const struct match_fault binary = {MODEL_MIFS, "A", "f", 1, 0, "", false};
    compare(&source, 1, &binary, 1);
    assert_int_equal(counts[MODEL_MIA].correct + counts[MODEL_MIFS].correct, 0);
    assert_int_equal(counts[MODEL_MIA].omitted[MATCH_OTHER], 1);
    assert_int_equal(counts[MODEL_MIFS].spurious[MATCH_OTHER], 1);
}

// A copy in another function was inlined there; clones that a compiler names belong to the
// function.
static void causes(void **state)
{
    const struct match_fault source[] = {{MODEL_MIA, "A", "f", 1, 0, "", false},
                                         {MODEL_MIA, "A.h", "f", 7, 0, "", true}};
    const struct match_fault binary[] = {{MODEL_MIA, "A", "f.constprop.0", 1, 0, "", false},
                                         {MODEL_MIA, "A", "g", 1, 0, "", false},
                                         {MODEL_MIA, "A", "f", 9, 0, "", false},
                                         {MODEL_MIA, "unknown.c", "f", 9, 0, "", false}};
    const struct match_use use = {"A", 9};
    assert_null(match_compare((struct match_list){source, 2, &use, 1},
                              (struct match_list){binary, 4, NULL, 0}, counts));
    assert_int_equal(counts[MODEL_MIA].correct, 1);
    assert_int_equal(counts[MODEL_MIA].omitted[MATCH_MACRO], 1);
    assert_int_equal(counts[MODEL_MIA].spurious[MATCH_INLINE], 1);
    assert_int_equal(counts[MODEL_MIA].spurious[MATCH_MACRO], 1);
    assert_int_equal(counts[MODEL_MIA].spurious[MATCH_OTHER], 0);
    assert_int_equal(counts[MODEL_MIA].compared, 3); // the reference knows no unknown.c
}

// The same place is not yet the same change: another argument, another operator.
static void changes(void **state)
{
    const struct match_fault source[] = {{MODEL_WPFV, "A", "f", 1, 1, "", false},
                                         {MODEL_WPFV, "A", "f", 1, 2, "", false},
                                         {MODEL_WAEP, "A", "f", 1, 1, "-", false},
                                         {MODEL_WAEP, "A", "f", 2, 1, "-", false}};
    const struct match_fault binary[] = {{MODEL_WPFV, "A", "f", 1, 2, "", false},
                                         {MODEL_WPFV, "A", "f", 1, 3, "", false},
                                         {MODEL_WAEP, "A", "f", 1, 1, "-", false},
                                         {MODEL_WAEP, "A", "f", 2, 1, "+", false}};
    compare(source, 4, binary, 4);
    assert_int_equal(counts[MODEL_WPFV].correct, 2);
    assert_int_equal(counts[MODEL_WPFV].same, 1);
    assert_int_equal(counts[MODEL_WAEP].correct, 2);
    assert_int_equal(counts[MODEL_WAEP].same, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example),     cmocka_unit_test(several), cmocka_unit_test(changes),
        cmocka_unit_test(other_types), cmocka_unit_test(causes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
