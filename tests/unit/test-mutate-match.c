// SPDX-License-Identifier: GPL-3.0-or-later
// Faults of two levels, compared by type and place.
#include "mutate/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct match_counts counts[MODEL_KINDS];
static uint8_t verdicts[2][8]; // of the reference, of what is compared

static void compare_lists(struct match_list left, struct match_list right)
{
    struct match_result result;
    assert_null(match_compare(left, right, &result));
    memcpy(counts, result.counts, sizeof counts);
    memcpy(verdicts[0], result.reference, left.count);
    memcpy(verdicts[1], result.compared, right.count);
    match_result_deinit(&result);
}

static void compare(const struct match_fault *left, size_t left_count,
                    const struct match_fault *right, size_t right_count)
{
    compare_lists((struct match_list){left, left_count, NULL, 0},
                  (struct match_list){right, right_count, NULL, 0});
}

// The example of the thesis: A-10 is correct, A-20 is spurious, B-5 is omitted.
static void example(void **state)
{
    const struct match_fault source[] = {
        {MODEL_MFC, "A", "f", 10, 0, "", false, NULL, false, false, false},
        {MODEL_MFC, "B", "g", 5, 0, "", false, NULL, false, false, false}};
    const struct match_fault binary[] = {
        {MODEL_MFC, "/build/A", "f", 10, 0, "", false, NULL, false, false, false},
        {MODEL_MFC, "/build/A", "f", 20, 0, "", false, NULL, false, false, false}};
    compare(source, 2, binary, 2);
    assert_int_equal(counts[MODEL_MFC].correct, 1);
    assert_int_equal(counts[MODEL_MFC].omitted[MATCH_OTHER], 1);
    assert_int_equal(counts[MODEL_MFC].spurious[MATCH_OTHER], 1);
}

// Of N and M faults at one place the smaller number are the same ones.
static void several(void **state)
{
    const struct match_fault three[] = {
        {MODEL_MLAC, "A", "f", 1, 0, "", false, NULL, false, false, false},
        {MODEL_MLAC, "A", "f", 1, 0, "", false, NULL, false, false, false},
        {MODEL_MLAC, "A", "f", 1, 0, "", false, NULL, false, false, false}};
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
    const struct match_fault source = {MODEL_MIA, "A",  "f",   1,     0,    "",
                                       false,     NULL, false, false, false};
    const struct match_fault binary = {MODEL_MIFS, "A",  "f",   1,     0,    "",
                                       false,      NULL, false, false, false};
    compare(&source, 1, &binary, 1);
    assert_int_equal(counts[MODEL_MIA].correct + counts[MODEL_MIFS].correct, 0);
    assert_int_equal(counts[MODEL_MIA].omitted[MATCH_OTHER], 1);
    assert_int_equal(counts[MODEL_MIFS].spurious[MATCH_OTHER], 1);
}

// A copy in another function was inlined there; clones that a compiler names belong to the
// function.
static void causes(void **state)
{
    const struct match_fault source[] = {
        {MODEL_MIA, "A", "f", 1, 0, "", false, NULL, false, false, false},
        {MODEL_MIA, "A.h", "f", 7, 0, "", true, NULL, false, false, false}};
    const struct match_fault binary[] = {
        {MODEL_MIA, "A", "f.constprop.0", 1, 0, "", false, NULL, false, false, false},
        {MODEL_MIA, "A", "g", 1, 0, "", false, NULL, false, false, false},
        {MODEL_MIA, "A", "f", 9, 0, "", false, NULL, false, false, false},
        {MODEL_MIA, "unknown.c", "f", 9, 0, "", false, NULL, false, false, false}};
    const struct construct_line use = {CONSTRUCT_MACRO, "A", 9};
    compare_lists((struct match_list){source, 2, &use, 1}, (struct match_list){binary, 4, NULL, 0});
    assert_int_equal(counts[MODEL_MIA].correct, 1);
    assert_int_equal(counts[MODEL_MIA].omitted[MATCH_MACRO], 1);
    assert_int_equal(counts[MODEL_MIA].spurious[MATCH_INLINE_CHOSEN], 1);
    assert_int_equal(counts[MODEL_MIA].spurious[MATCH_MACRO], 1);
    assert_int_equal(counts[MODEL_MIA].spurious[MATCH_OTHER], 0);
    assert_int_equal(counts[MODEL_MIA].compared, 3); // the reference knows no unknown.c
}

// Code that was copied: debug information says from which function, and who wanted it.
static void copies(void **state)
{
    const struct match_fault source[] = {
        {MODEL_MVAV, "A", "only", 3, 0, "", false, NULL, false, false, false},
        {MODEL_MFC, "A", "f", 8, 0, "", false, NULL, false, false, false}};
    const struct match_fault binary[] = {
        {MODEL_MVAE, "A", "f", 4, 0, "", false, "only", true, false, false},
        {MODEL_MVAE, "A", "f", 5, 0, "", false, "small", false, false, false}};
    const struct construct_line call = {CONSTRUCT_CHOSEN, "/build/A", 8};
    compare_lists((struct match_list){source, 2, NULL, 0},
                  (struct match_list){binary, 2, &call, 1});
    assert_int_equal(verdicts[0][0], MATCH_INLINE); // `only` has no code of its own
    assert_int_equal(verdicts[0][1], MATCH_INLINE_CHOSEN);
    assert_int_equal(verdicts[1][0], MATCH_INLINE);
    assert_int_equal(verdicts[1][1], MATCH_INLINE_CHOSEN);
}

// Faults whose mutants were compiled: what makes no other object code, or is a copy, does not
// count.
static void compiled(void **state)
{
    const struct match_fault source[] = {
        {MODEL_MIA, "A", "f", 1, 0, "", false, NULL, false, true, true},
        {MODEL_MIA, "A", "f", 2, 0, "", false, NULL, false, true, true},
        {MODEL_MIA, "A", "f", 3, 0, "", false, NULL, false, true, false},
        {MODEL_MIA, "A", "f", 4, 0, "", true, NULL, false, true, true},
        {MODEL_MIA, "A", "f", 5, 0, "", false, NULL, false, false, true}};
    const struct match_fault binary[] = {
        {MODEL_MIA, "A", "f", 1, 0, "", false, NULL, false, false, false},
        {MODEL_MIA, "A", "f", 3, 0, "", false, NULL, false, false, false},
        {MODEL_MIA, "A", "f", 5, 0, "", false, NULL, false, false, false}};
    compare(source, 5, binary, 3);
    assert_int_equal(counts[MODEL_MIA].checked, 4);
    assert_int_equal(counts[MODEL_MIA].differ, 2);
    assert_int_equal(counts[MODEL_MIA].differ_correct, 1);
    assert_int_equal(counts[MODEL_MIA].alike_correct, 1);
}

// A construct explains some types only.
static void constructs(void **state)
{
    const struct match_fault source[] = {
        {MODEL_MFC, "A", "f", 2, 0, "", false, NULL, false, false, false}};
    const struct match_fault binary[] = {
        {MODEL_MIA, "A", "f", 2, 0, "", false, NULL, false, false, false},
        {MODEL_MVAV, "A", "f", 2, 0, "", false, NULL, false, false, false},
        {MODEL_MIA, "A", "f", 3, 0, "", false, NULL, false, false, false}};
    const struct construct_line here = {CONSTRUCT_SWITCH, "A", 2};
    compare_lists((struct match_list){source, 1, &here, 1},
                  (struct match_list){binary, 3, NULL, 0});
    const uint8_t expected[] = {MATCH_SWITCH, MATCH_OTHER, MATCH_OTHER};
    assert_memory_equal(verdicts[1], expected, 3);
    assert_int_equal(verdicts[0][0], MATCH_OTHER);
    for (int i = 0; i < MATCH_CAUSES; i++) {
        assert_non_null(match_reasons[i].word);
        assert_true((i >= MATCH_BUILTIN) == (match_reasons[i].kinds != 0));
    }
}

// The same place is not yet the same change: another argument, another operator.
static void changes(void **state)
{
    const struct match_fault source[] = {
        {MODEL_WPFV, "A", "f", 1, 1, "", false, NULL, false, false, false},
        {MODEL_WPFV, "A", "f", 1, 2, "", false, NULL, false, false, false},
        {MODEL_WAEP, "A", "f", 1, 1, "-", false, NULL, false, false, false},
        {MODEL_WAEP, "A", "f", 2, 1, "-", false, NULL, false, false, false}};
    const struct match_fault binary[] = {
        {MODEL_WPFV, "A", "f", 1, 2, "", false, NULL, false, false, false},
        {MODEL_WPFV, "A", "f", 1, 3, "", false, NULL, false, false, false},
        {MODEL_WAEP, "A", "f", 1, 1, "-", false, NULL, false, false, false},
        {MODEL_WAEP, "A", "f", 2, 1, "+", false, NULL, false, false, false}};
    compare(source, 4, binary, 4);
    assert_int_equal(counts[MODEL_WPFV].correct, 2);
    assert_int_equal(counts[MODEL_WPFV].same, 1);
    assert_int_equal(counts[MODEL_WAEP].correct, 2);
    assert_int_equal(counts[MODEL_WAEP].same, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example),     cmocka_unit_test(several),    cmocka_unit_test(changes),
        cmocka_unit_test(other_types), cmocka_unit_test(causes),     cmocka_unit_test(copies),
        cmocka_unit_test(compiled),    cmocka_unit_test(constructs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
