// SPDX-License-Identifier: GPL-3.0-or-later
// Foreign text in the formats of reports, and in few columns.
#include "report/campaign/terminal.h"
#include "report/escape.h"
#include "report/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct error *(*escape)(struct buffer *, const char *);

static void expect(escape function, const char *text, const char *expected)
{
    struct buffer buffer = {0};
    assert_null(function(&buffer, text));
    assert_null(buffer_append(&buffer, "", 0));
    assert_string_equal(buffer.data, expected);
    buffer_deinit(&buffer);
}

static void markup_is_inert(void **state)
{
    expect(escape_markup, "a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;");
    expect(escape_markup, "one\n\ttwo", "one\n\ttwo");
    expect(escape_attribute, "one\n\ttwo", "one&#10;&#9;two");
    // Not allowed in XML, though they are characters.
    expect(escape_markup, "\33[0m\1\x7f", "\\x1b[0m\\x01\\x7f");
    expect(escape_markup, "\xef\xbf\xbe\xef\xbf\xbf", "\\xef\\xbf\\xbe\\xef\\xbf\\xbf");
    // Not characters at all: a stray byte, a surrogate, a long form, a cut sequence.
    expect(escape_markup, "\xff|\xed\xa0\x80|\xc0\xbc|\xe6\xbc",
           "\\xff|\\xed\\xa0\\x80|\\xc0\\xbc|\\xe6\\xbc");
    // Turns the direction of the text around.
    expect(escape_markup, "\xe2\x80\xae", "\\xe2\\x80\\xae");
    expect(escape_markup, "\xe6\xbc\xa2", "\xe6\xbc\xa2");
}

static void csv_is_no_formula(void **state)
{
    expect(escape_csv, "plain text", "plain text");
    expect(escape_csv, "", "");
    expect(escape_csv, "a,b", "\"a,b\"");
    expect(escape_csv, "say \"x\"", "\"say \"\"x\"\"\"");
    expect(escape_csv, "two\nlines", "\"two\nlines\"");
    expect(escape_csv, "=1+1", "\"'=1+1\"");
    expect(escape_csv, "+1", "\"'+1\"");
    expect(escape_csv, "-1", "\"'-1\"");
    expect(escape_csv, "@SUM(1)", "\"'@SUM(1)\"");
    expect(escape_csv, "  =1", "\"'  =1\"");
    expect(escape_csv, "\t=1", "\"'\t=1\"");
    expect(escape_csv,
           "\xef\xbc\x9d"
           "1",
           "\"'\xef\xbc\x9d"
           "1\"");
    expect(escape_csv, "\xff\r", "\\xff\\x0d");
}

static void uris_have_no_strange_bytes(void **state)
{
    expect(escape_uri, "/a b/%41:<x>.c", "/a%20b/%2541%3A%3Cx%3E.c");
    expect(escape_uri, "\xe6\xbc\xa2?#\n", "%E6%BC%A2%3F%23%0A");
}

static void expect_fit(const char *text, size_t columns, const char *expected, size_t used)
{
    struct buffer buffer = {0};
    size_t got = 99;
    assert_null(text_put_fit(&buffer, text, columns, &got));
    assert_null(buffer_append(&buffer, "", 0));
    assert_string_equal(buffer.data, expected);
    assert_int_equal(got, used);
    buffer_deinit(&buffer);
}

static void text_fits(void **state)
{
    expect_fit("exactly", 7, "exactly", 7);
    expect_fit("too long", 7, "too ...", 7);
    expect_fit("", 7, "", 0);
    // An escape is not torn apart.
    expect_fit("ab\33\33", 10, "ab\\x1b\\x1b", 10);
    expect_fit("ab\33\33", 9, "ab\\x1b...", 9);
    expect_fit("ab\33\33", 8, "ab...", 5);
    expect_fit("a\n", 3, "a\\n", 3);
    // Two columns each.
    expect_fit("\xe6\xbc\xa2\xe5\xad\x97", 4, "\xe6\xbc\xa2\xe5\xad\x97", 4);
    expect_fit("\xe6\xbc\xa2\xe5\xad\x97x", 4, "...", 3);
    expect_fit("\xe6\xbc\xa2\xe5\xad\x97xyz", 6, "\xe6\xbc\xa2...", 5);
}

static void expect_path(const char *path, size_t columns, const char *expected)
{
    struct buffer buffer = {0};
    assert_null(text_put_path(&buffer, path, columns));
    assert_null(buffer_append(&buffer, "", 0));
    assert_string_equal(buffer.data, expected);
    buffer_deinit(&buffer);
}

static void paths_keep_their_end(void **state)
{
    expect_path("/a/long/way/to/file.c", 21, "/a/long/way/to/file.c");
    expect_path("/a/long/way/to/file.c", 20, ".../way/to/file.c");
    expect_path("/a/long/way/to/file.c", 16, ".../to/file.c");
    expect_path("/a/long/way/to/file.c", 10, ".../file.c");
    expect_path("/a/long/way/to/file.c", 9, "file.c");
    expect_path("/a/long/way/to/file.c", 5, "fi...");
    expect_path("a-name-without-directories.c", 10, "a-name-...");
    expect_path("/only/directories/", 10, ".../");
    expect_path("/\33\33/\33/f.c", 12, ".../\\x1b/f.c");
}

#define LONG_WAY "/a-long-way/a-long-way/a-long-way/a-long-way/a-long-way/a-long-way/a-long-way"

// Wherever a line is too short for them.
static void long_words_keep_their_end(void **state)
{
    struct buffer text = {0};
    struct terminal terminal = {.text = &text};
    assert_null(
        terminal_wrap(&terminal, "in main at " LONG_WAY "/file.c:12 (" LONG_WAY "/program)", 40));
    assert_string_equal(text.data, "in main at\n"
                                   "                                        "
                                   ".../a-long-way/a-long-way/file.c:12\n"
                                   "                                        "
                                   "(.../a-long-way/a-long-way/program)\n");
    text.size = 0;
    assert_null(terminal_shorten(LONG_WAY "/file was deleted;  and more ", &text));
    assert_string_equal(text.data, ".../a-long-way/a-long-way/a-long-way/a-long-way/file was "
                                   "deleted;  and more ");
    buffer_deinit(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markup_is_inert),
        cmocka_unit_test(csv_is_no_formula),
        cmocka_unit_test(uris_have_no_strange_bytes),
        cmocka_unit_test(text_fits),
        cmocka_unit_test(paths_keep_their_end),
        cmocka_unit_test(long_words_keep_their_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
