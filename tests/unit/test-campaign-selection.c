// SPDX-License-Identifier: GPL-3.0-or-later
// Tests which candidates are chosen: how many, of which group, and with which probability.
#include "trial-help.h"

#include "campaign/selection.h"
#include "definition/weights.h"

#include <math.h>

#define COUNT 60

// Sixty candidates: types a, b, c by turns; functions f0..f5; series s0..s9 with six positions
// each.
static struct candidate candidates[COUNT];

static int make_candidates(void **state)
{
    static char texts[COUNT][3][8];
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(texts[i][0], 8, "%c", 'a' + i % 3);
        snprintf(texts[i][1], 8, "f%u", i % 6);
        snprintf(texts[i][2], 8, "s%u", i % 10);
        candidates[i] = (struct candidate){.spec = texts[i][0],
                                           .type = texts[i][0],
                                           .function = texts[i][1],
                                           .series = texts[i][2],
                                           .position = 100 - i, // not in the order of the array
                                           .weight = 1};
    }
    return enter_scratch(state);
}

static bool *choose(const struct selection *selection, uint64_t seed)
{
    bool *chosen = NULL;
    for (size_t i = 0; i < COUNT; i++)
        candidates[i].weight = 1;
    must(selection_choose(selection, seed, candidates, COUNT, &chosen));
    return chosen;
}

static size_t chosen_of(const bool *chosen, const char *type)
{
    size_t count = 0;
    for (size_t i = 0; i < COUNT; i++)
        count += chosen[i] && (type == NULL || strcmp(candidates[i].type, type) == 0);
    return count;
}

static void all_are_all(void **state)
{
    bool *chosen = choose(&(struct selection){.kind = SELECT_ALL}, 1);
    assert_int_equal(chosen_of(chosen, NULL), COUNT);
    free(chosen);
    must(selection_choose(&(struct selection){.kind = SELECT_SAMPLE, .sample = 3}, 1, NULL, 0,
                          &chosen));
    free(chosen); // nothing of nothing
}

static void a_sample_is_as_large_as_asked(void **state)
{
    for (uint64_t n = 1; n <= COUNT + 5; n++) {
        bool *chosen = choose(&(struct selection){.kind = SELECT_SAMPLE, .sample = n}, n);
        assert_int_equal(chosen_of(chosen, NULL), n < COUNT ? n : COUNT);
        free(chosen);
    }
}

static void the_same_seed_chooses_the_same(void **state)
{
    const struct selection selection = {.kind = SELECT_SAMPLE, .sample = 10};
    bool *a = choose(&selection, 7), *b = choose(&selection, 7), *c = choose(&selection, 8);
    assert_memory_equal(a, b, COUNT * sizeof *a);
    assert_memory_not_equal(a, c, COUNT * sizeof *a);
    free(a);
    free(b);
    free(c);
}

// 4000 samples of 6 out of 60: each is expected 400 times, with a deviation of 19.
static void every_candidate_has_the_same_chance(void **state)
{
    unsigned hits[COUNT] = {0};
    for (uint64_t seed = 0; seed < 4000; seed++) {
        bool *chosen = choose(&(struct selection){.kind = SELECT_SAMPLE, .sample = 6}, seed);
        for (size_t i = 0; i < COUNT; i++)
            hits[i] += chosen[i];
        free(chosen);
    }
    for (size_t i = 0; i < COUNT; i++)
        assert_in_range(hits[i], 400 - 5 * 19, 400 + 5 * 19);
}

static void so_many_of_every_group(void **state)
{
    const struct selection selection = {.kind = SELECT_SAMPLE, .sample = 4, .per = (char *)"type"};
    bool *chosen = choose(&selection, 1);
    assert_int_equal(chosen_of(chosen, "a"), 4);
    assert_int_equal(chosen_of(chosen, "b"), 4);
    assert_int_equal(chosen_of(chosen, "c"), 4);
    free(chosen);
    // Without a module all are in one group.
    const struct selection module = {.kind = SELECT_SAMPLE, .sample = 4, .per = (char *)"module"};
    chosen = choose(&module, 1);
    assert_int_equal(chosen_of(chosen, NULL), 4);
    free(chosen);
}

// The choice in one group does not depend on the others.
static void groups_do_not_disturb_each_other(void **state)
{
    const struct selection selection = {
        .kind = SELECT_SAMPLE, .sample = 4, .per = (char *)"function"};
    struct candidate few[COUNT / 6];
    size_t count = 0;
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(candidates[i].function, "f3") == 0)
            few[count++] = candidates[i];
    bool *of_all = choose(&selection, 5), *of_few = NULL;
    must(selection_choose(&selection, 5, few, count, &of_few));
    for (size_t i = 0, n = 0; i < COUNT; i++)
        if (strcmp(candidates[i].function, "f3") == 0)
            assert_int_equal(of_all[i], of_few[n++]);
    free(of_all);
    free(of_few);
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    fclose(file);
}

// One out of 60: a with weight 6, b with 3, c with 1.
static void weights_change_the_chance(void **state)
{
    write_file("weights", "# from the field\n\n a 6\r\nb\t3.0\n* 1\n");
    const struct selection selection = {
        .kind = SELECT_SAMPLE, .sample = 1, .weights_file = (char *)"weights"};
    unsigned hits[3] = {0};
    for (uint64_t seed = 0; seed < 3000; seed++) {
        bool *chosen = choose(&selection, seed);
        hits[0] += chosen_of(chosen, "a") == 1;
        hits[1] += chosen_of(chosen, "b") == 1;
        hits[2] += chosen_of(chosen, "c") == 1;
        free(chosen);
    }
    // Candidates have the weights that were used.
    for (size_t i = 0; i < COUNT; i++)
        assert_true(candidates[i].weight == (candidates[i].type[0] == 'a'   ? 6
                                             : candidates[i].type[0] == 'b' ? 3
                                                                            : 1));
    assert_int_equal(hits[0] + hits[1] + hits[2], 3000);
    assert_in_range(hits[0], 1800 - 5 * 27, 1800 + 5 * 27);
    assert_in_range(hits[1], 900 - 5 * 25, 900 + 5 * 25);
    assert_in_range(hits[2], 300 - 5 * 16, 300 + 5 * 16);
}

static void weight_0_is_never_chosen(void **state)
{
    write_file("weights", "a 0\n[bc] 1\n");
    struct selection selection = {
        .kind = SELECT_SAMPLE, .sample = COUNT, .weights_file = (char *)"weights"};
    bool *chosen = choose(&selection, 1);
    assert_int_equal(chosen_of(chosen, "a"), 0);
    assert_int_equal(chosen_of(chosen, NULL), COUNT * 2 / 3);
    free(chosen);
    write_file("weights", "* 0\n");
    must_say(selection_choose(&selection, 1, candidates, COUNT, &chosen), "nothing is left to run");
}

static void wrong_weights_are_shown(void **state)
{
    struct selection selection = {
        .kind = SELECT_SAMPLE, .sample = 1, .weights_file = (char *)"weights"};
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"a 1\nread=-1/EIO heavy\n", "weights:2:13: expected a weight"},
        {"a -1\n", "weights:1:3: expected a weight"},
        {"a nan\n", "weights:1:3: expected a weight"},
        {"a 1x\n", "weights:1:3: expected a weight"},
        {"# x\n\n  5\n", "weights:3:3: expected a fault type and its weight"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_file("weights", cases[i].text);
        must_say(selection_check(&selection), cases[i].message);
    }
    selection.weights_file = (char *)"missing";
    must_say(selection_check(&selection), "missing: No such file");
}

static void a_type_may_have_blanks(void **state)
{
    write_file("weights", "write=short 3  2\nread=-1/EIO 4\n");
    struct weights weights = {0};
    must(weights_read("weights", &weights));
    assert_true(weights_find(&weights, "write=short 3") == 2);
    assert_true(weights_find(&weights, "read=-1/EIO") == 4);
    assert_true(weights_find(&weights, "other") == 1);
    weights_deinit(&weights);
}

// The series of an index i is i % 10; the last of each has the lowest position.
static void a_sweep_starts_each_series_at_its_first(void **state)
{
    bool *chosen = choose(&(struct selection){.kind = SELECT_SWEEP}, 1);
    for (size_t i = 0; i < COUNT; i++)
        assert_int_equal(chosen[i], i >= COUNT - 10);
    free(chosen);
    candidates[0].series = candidates[1].series = NULL; // each by itself
    chosen = choose(&(struct selection){.kind = SELECT_SWEEP}, 1);
    assert_true(chosen[0] && chosen[1]);
    assert_int_equal(chosen_of(chosen, NULL), 12);
    free(chosen);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_candidates, leave_scratch)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_are_all),
        TEST(a_sample_is_as_large_as_asked),
        TEST(the_same_seed_chooses_the_same),
        TEST(every_candidate_has_the_same_chance),
        TEST(so_many_of_every_group),
        TEST(groups_do_not_disturb_each_other),
        TEST(weights_change_the_chance),
        TEST(weight_0_is_never_chosen),
        TEST(wrong_weights_are_shown),
        TEST(a_type_may_have_blanks),
        TEST(a_sweep_starts_each_series_at_its_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
