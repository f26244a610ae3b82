// SPDX-License-Identifier: GPL-3.0-or-later
// Texts of which some lines vary: what is learned of them, and what then counts as different. The
// properties hold for random texts, whatever the seed.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "oracle/lines.h"
#include "stats/stats.h"
#include "victim.h"

#define MOST 8

static struct lines_text text(const char *string)
{
    return (struct lines_text){.data = string, .size = strlen(string)};
}

static struct lines_model *learn(const struct lines_filters *filters, const char *const *strings)
{
    struct lines_text texts[MOST];
    struct lines_model *model = NULL;
    size_t count = 0;
    for (; strings[count] != NULL; count++)
        texts[count] = text(strings[count]);
    good(lines_learn(filters, texts, count, &model));
    return model;
}
#define LEARN(...) learn(NULL, (const char *const[]){__VA_ARGS__, NULL})

// `sentence` NULL: must not differ.
static void compare(const struct lines_model *model, const struct lines_filters *filters,
                    const char *string, const char *sentence)
{
    _cleanup_(buffer_deinit) struct buffer said = {0};
    struct lines_text other = text(string);
    bool differs = false;
    good(lines_compare(model, filters, &other, &differs, &said));
    if (sentence == NULL && differs)
        fail_msg("'%s': %s", string, said.data);
    if (sentence != NULL) {
        assert_true(differs);
        assert_string_equal(said.data, sentence);
    }
}

static void expect_mode(struct lines_model *model, enum lines_mode mode, const char *variation)
{
    assert_int_equal(lines_mode(model), mode);
    assert_string_equal(lines_variation(model), variation);
}

static void test_exact(void **state)
{
    struct lines_model *model = LEARN("a\nb\nc\n", "a\nb\nc\n");
    expect_mode(model, LINES_EXACT, "");
    compare(model, NULL, "a\nb\nc\n", NULL);
    compare(model, NULL, "a\nx\nc\n", "differs at line 2: 'x' instead of 'b'");
    compare(model, NULL, "a\nb\n", "has 2 lines instead of 3, the first missing: 'c'");
    compare(model, NULL, "a\nb\nc\nd\n", "has 4 lines instead of 3, the first more: 'd'");
    compare(model, NULL, "a\nb\nc", "lacks the newline at its end");
    compare(model, NULL, "", "has 0 lines instead of 3, the first missing: 'a'");
    compare(model, NULL, "a\n\x1b[31m\nc\n", "differs at line 2: '\\x1b[31m' instead of 'b'");
    lines_model_free(model);
    model = LEARN("", "");
    expect_mode(model, LINES_EXACT, "");
    compare(model, NULL, "", NULL);
    compare(model, NULL, "\n", "has 1 line instead of 0, the first more: ''");
    lines_model_free(model);
    model = LEARN("a");
    compare(model, NULL, "a\n", "has a newline at its end");
    lines_model_free(model);
}

static void test_masked(void **state)
{
    struct lines_model *model = LEARN("a\npid 1\nc\n", "a\npid 1\nc\n", "a\npid 3\nc\n");
    expect_mode(model, LINES_MASKED, "line 2 varies: 'pid 1' / 'pid 3'");
    compare(model, NULL, "a\nanything\nc\n", NULL);
    compare(model, NULL, "a\nanything\nd\n", "differs at line 3: 'd' instead of 'c'");
    compare(model, NULL, "a\nanything\n", "has 2 lines instead of 3, the first missing: 'c'");
    compare(model, NULL, "a\npid 1\nc\nd\n", "has 4 lines instead of 3, the first more: 'd'");
    lines_model_free(model);
    model = LEARN("1\nb\n2\n", "3\nb\n4\n");
    expect_mode(model, LINES_MASKED, "2 of 3 lines vary, line 1 first: '1' / '3'");
    compare(model, NULL, "5\nb\n6", NULL); // the end belongs to a line that varies
    lines_model_free(model);
    model = LEARN("a\n", "a");
    expect_mode(model, LINES_MASKED, "the end of the last line varies");
    compare(model, NULL, "a", NULL);
    compare(model, NULL, "b", "differs at line 1: 'b' instead of 'a'");
    lines_model_free(model);
}

static void test_unordered(void **state)
{
    struct lines_model *model = LEARN("a\nb\nb\nc\n", "b\na\nc\nb\n");
    expect_mode(model, LINES_UNORDERED, "the order of lines varies");
    compare(model, NULL, "c\nb\nb\na\n", NULL);
    compare(model, NULL, "c\nb\na\na\n", "has a line that it should not have: 'a'");
    compare(model, NULL, "c\nb\na\n", "lacks a line: 'b'");
    compare(model, NULL, "c\nb\na\nb\nd\n", "has a line that it should not have: 'd'");
    lines_model_free(model);
}

static void all_there(const struct lines_model *model, const char *text, bool expected)
{
    bool there;
    good(lines_all_there(model, NULL, &(struct lines_text){.data = text, .size = strlen(text)},
                         &there));
    assert_int_equal(there, expected);
}

// Whatever else is between them.
static void test_all_there(void **state)
{
    struct lines_model *model = LEARN("a\na\nb\n", "a\na\nb\n");
    all_there(model, "a\nx\na\nb\n", true);
    all_there(model, "a\nx\nb\n", false);
    lines_model_free(model);
    model = LEARN("a\npid 1\nc\n", "a\npid 2\nc\n");
    all_there(model, "a\nx\npid 3\nc\n", true);
    all_there(model, "a\npid 3\nx\n", false); // the stable ones
    all_there(model, "a\nc\n", false);        // as many
    lines_model_free(model);
    model = LEARN("a\nb\n", "b\na\n");
    all_there(model, "b\nx\na\n", true);
    all_there(model, "b\nx\n", false);
    lines_model_free(model);
}

static void test_varying(void **state)
{
    struct lines_model *model = LEARN("a\nb\n", "a\nb\nc\n", "a\n");
    expect_mode(model, LINES_VARYING, "the number of lines varies: 1 to 3");
    compare(model, NULL, "quite\nanother\n", NULL);
    lines_model_free(model);
}

static struct lines_filters *filters(const struct filter *list, size_t count)
{
    struct lines_filters *compiled = NULL;
    good(lines_filters_new(list, count, &compiled));
    return compiled;
}

static void test_filters(void **state)
{
    const struct filter list[] = {
        {.pattern = "[0-9]{2}:[0-9]{2}", .replacement = "TIME"},
        {.pattern = "(pid|tid) ([0-9]+)", .replacement = "\\1=N\\\\"},
        {.pattern = "^#.*$", .replacement = NULL},
        {.pattern = "x*", .replacement = ""},
    };
    struct lines_filters *compiled = filters(list, 4);
    const char *const texts[] = {"at 12:30 and 12:31\npid 12 tid 9\n#1\naxxb\n",
                                 "at 01:02 and 03:04\npid 3 tid 4\n#2\naxb\n", NULL};
    struct lines_model *model = learn(compiled, texts);
    expect_mode(model, LINES_EXACT, "");
    compare(model, compiled, "at 99:99 and 00:00\npid 3 tid 4\n#whatever\nab\n", NULL);
    compare(model, compiled, "at noon\npid 3 tid 4\n\nab\n",
            "differs at line 1: 'at noon' instead of 'at TIME and TIME'");
    compare(model, compiled, "at 12:30 and 12:31\npid 3\n\nab\n",
            "differs at line 2: 'pid=N\\' instead of 'pid=N\\ tid=N\\'");
    lines_model_free(model);
    lines_filters_free(compiled);
    struct lines_filters *none = NULL;
    bad(lines_filters_new(&(struct filter){.pattern = "a(", .replacement = "b"}, 1, &none),
        "filter 'a(' is not a regular expression: Unmatched ( or \\(");
    bad(lines_filters_new(&(struct filter){.pattern = "(a)", .replacement = "\\2"}, 1, &none),
        "uses \\2, but the pattern has 1 group");
    bad(lines_filters_new(&(struct filter){.pattern = "a", .replacement = "\\n"}, 1, &none),
        "a backslash must be followed by a digit or a backslash");
}

static void expect_new(const struct lines_model *model, const char *string, const char *expected)
{
    _cleanup_(buffer_deinit) struct buffer line = {0};
    struct lines_text other = text(string);
    bool is_new = false;
    good(lines_new(model, NULL, &other, &is_new, &line));
    assert_int_equal(is_new, expected != NULL);
    if (expected != NULL)
        assert_string_equal(line.data, expected);
}

static void test_new_lines(void **state)
{
    struct lines_model *model = LEARN("warning\nretry\n", "warning\nretry\n");
    expect_new(model, "warning\nretry\n", NULL);
    expect_new(model, "retry\n", NULL);
    expect_new(model, "warning\nretry\nretry\n", "retry");
    expect_new(model, "warning\nerror: disk full\nretry\n", "error: disk full");
    lines_model_free(model);
    model = LEARN("[12:30:01] start 0x7ffe\n", "[12:30:02] start 0x7ff0\n[12:30:03] slow\n");
    expect_new(model, "[14:00:59] start 0x1\n[14:01:00] start 0xbeef\n", NULL);
    expect_new(model, "[14:00:59] start 0x1\n[14:01:00] I/O error\n", "[14:01:00] I/O error");
    lines_model_free(model);
    model = LEARN("", "");
    expect_new(model, "", NULL);
    expect_new(model, "\n", "");
    lines_model_free(model);
}

// Where all is known but the tail, the tail is nobody's business; a text that ends before it is.
static void test_cut(void **state)
{
    struct lines_text texts[2] = {text("a\nb\nc\nd"), text("a\nb\nc\ndefg")};
    texts[0].cut = texts[1].cut = true;
    struct lines_model *model = NULL;
    good(lines_learn(NULL, texts, 2, &model));
    expect_mode(model, LINES_EXACT, "");
    _cleanup_(buffer_deinit) struct buffer said = {0};
    struct lines_text other = {.data = "a\nb\nc\nx\nyy", .size = 10, .cut = true};
    bool differs = true;
    good(lines_compare(model, NULL, &other, &differs, &said));
    assert_false(differs);
    compare(model, NULL, "a\nb\n", "has 2 lines instead of 3, the first missing: 'c'");
    compare(model, NULL, "a\nx\nc\nd\n", "differs at line 2: 'x' instead of 'b'");
    lines_model_free(model);
}

struct page { // random lines, few of them different
    size_t count;
    char lines[24];
};

static struct page random_page(struct stats_random *random)
{
    struct page page = {.count = stats_random_below(random, sizeof page.lines + 1)};
    for (size_t i = 0; i < page.count; i++)
        page.lines[i] = (char)('a' + stats_random_below(random, 4));
    return page;
}

static struct lines_text write_page(const struct page *page, char storage[64])
{
    size_t at = 0;
    for (size_t i = 0; i < page->count; i++) {
        storage[at++] = page->lines[i];
        storage[at++] = '\n';
    }
    return (struct lines_text){.data = storage, .size = at};
}

static bool differs_from(const struct lines_model *model, const struct page *page)
{
    char storage[64];
    _cleanup_(buffer_deinit) struct buffer said = {0};
    struct lines_text other = write_page(page, storage);
    bool differs = false;
    good(lines_compare(model, NULL, &other, &differs, &said));
    assert_int_equal(differs, said.size != 0);
    return differs;
}

// Pages that differ from the first in some lines, or all from each other.
static size_t random_versions(struct stats_random *random, struct page versions[MOST])
{
    size_t count = 1 + stats_random_below(random, 4);
    uint64_t kind = stats_random_below(random, 3);
    versions[0] = random_page(random);
    for (size_t v = 1; v < count; v++) {
        versions[v] = kind == 0 ? random_page(random) : versions[0];
        for (size_t i = 0; kind == 1 && i < versions[v].count; i++)
            if (stats_random_below(random, 4) == 0)
                versions[v].lines[i] = 'z';
        for (size_t i = 0; kind == 2 && i + 1 < versions[v].count; i++) {
            size_t j = i + stats_random_below(random, versions[v].count - i);
            char swap = versions[v].lines[i];
            versions[v].lines[i] = versions[v].lines[j];
            versions[v].lines[j] = swap;
        }
    }
    return count;
}

// A change in line `at` must be seen if and only if that line is the same in all versions and there
// is an order to speak of.
static void check_change(const struct lines_model *model, const struct page *versions, size_t count,
                         size_t at)
{
    bool stable = true;
    for (size_t v = 1; v < count; v++)
        stable &= versions[v].lines[at] == versions[0].lines[at];
    struct page changed = versions[0];
    changed.lines[at] = '!';
    if (lines_mode(model) == LINES_EXACT || lines_mode(model) == LINES_MASKED)
        assert_int_equal(differs_from(model, &changed), stable);
    if (lines_mode(model) == LINES_UNORDERED)
        assert_true(differs_from(model, &changed));
}

static void test_properties(void **state)
{
    struct stats_random random = stats_random_start(20260727, 1);
    unsigned modes[4] = {0};
    for (int round = 0; round < 4000; round++) {
        struct page versions[MOST];
        char storage[MOST][64];
        struct lines_text texts[MOST];
        size_t count = random_versions(&random, versions);
        for (size_t v = 0; v < count; v++)
            texts[v] = write_page(&versions[v], storage[v]);
        struct lines_model *model = NULL;
        good(lines_learn(NULL, texts, count, &model));
        modes[lines_mode(model)]++;
        // No version differs from what was learned of it, and none says anything new.
        for (size_t v = 0; v < count; v++) {
            _cleanup_(buffer_deinit) struct buffer line = {0};
            bool is_new = true;
            assert_false(differs_from(model, &versions[v]));
            good(lines_new(model, NULL, &texts[v], &is_new, &line));
            assert_false(is_new);
        }
        for (size_t at = 0; at < versions[0].count; at++)
            check_change(model, versions, count, at);
        // One line more or less is seen whenever anything is.
        struct page longer = versions[0], shorter = versions[0];
        if (lines_mode(model) != LINES_VARYING && longer.count < sizeof longer.lines) {
            longer.lines[longer.count++] = 'a';
            assert_true(differs_from(model, &longer));
        }
        if (lines_mode(model) != LINES_VARYING && shorter.count-- > 0)
            assert_true(differs_from(model, &shorter));
        lines_model_free(model);
    }
    for (int mode = 0; mode < 4; mode++)
        assert_true(modes[mode] > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),      cmocka_unit_test(test_masked),
        cmocka_unit_test(test_unordered),  cmocka_unit_test(test_varying),
        cmocka_unit_test(test_all_there),  cmocka_unit_test(test_filters),
        cmocka_unit_test(test_new_lines),  cmocka_unit_test(test_cut),
        cmocka_unit_test(test_properties),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
