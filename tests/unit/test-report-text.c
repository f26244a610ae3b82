// SPDX-License-Identifier: GPL-3.0-or-later
// Text from foreign bytes: what a terminal would act upon is spelled out.
#include "trial-help.h"

#include "report/text.h"

static void shows(const char *bytes, size_t size, char quote, const char *expected)
{
    struct buffer text = {0};
    must(text_put(&text, bytes, size, quote));
    assert_string_equal(text.data != NULL ? text.data : "", expected);
    buffer_deinit(&text);
}

static void control_characters_are_spelled_out(void **state)
{
    shows("a\33[31mb", SIZE_MAX, 0, "a\\x1b[31mb");
    shows("one\ntwo\tthree\r", SIZE_MAX, 0, "one\\ntwo\\tthree\\x0d");
    shows("\x7f\xc2\x9b", SIZE_MAX, 0, "\\x7f\\xc2\\x9b"); // DEL, and CSI as C1
    shows("\xe2\x80\xae"
          "abc",
          SIZE_MAX, 0,
          "\\xe2\\x80\\xae"
          "abc"); // right-to-left override
}

static void lines_stay_lines(void **state)
{
    struct buffer text = {0};
    must(text_put_lines(&text, "a\33[1m\n\tb\n\n\xff"));
    assert_string_equal(text.data, "a\\x1b[1m\n\tb\n\n\\xff");
    buffer_deinit(&text);
}

static void utf8_stays_and_what_is_not_utf8_does_not(void **state)
{
    shows("gr\xc3\xbc\xc3\x9f \xe6\x97\xa5 \xf0\x9f\x90\x9b", SIZE_MAX, 0,
          "gr\xc3\xbc\xc3\x9f \xe6\x97\xa5 \xf0\x9f\x90\x9b");
    shows("\xff\xc3", SIZE_MAX, 0, "\\xff\\xc3");
    shows("\xc0\xaf", SIZE_MAX, 0, "\\xc0\\xaf");                   // overlong
    shows("\xed\xa0\x80", SIZE_MAX, 0, "\\xed\\xa0\\x80");          // surrogate
    shows("\xf4\x90\x80\x80", SIZE_MAX, 0, "\\xf4\\x90\\x80\\x80"); // beyond Unicode
    shows("\xc3\xbc", 1, 0, "\\xc3");                               // cut in the middle
}

static void quotes_are_escaped_when_quoting(void **state)
{
    shows("a\"b\\c", SIZE_MAX, '"', "a\\\"b\\\\c");
    shows("a\"b", SIZE_MAX, 0, "a\"b");
}

static void the_size_is_kept(void **state)
{
    const char bytes[] = {'a', 'b', 'c'}; // no NUL
    shows(bytes, 3, 0, "abc");
    shows(bytes, 2, 0, "ab");
    shows("", SIZE_MAX, 0, "");
}

static void json_text_is_valid_utf8(void **state)
{
    struct buffer text = {0};
    must(text_put_utf8(&text, "a\xff\xc3\xbc\33", SIZE_MAX));
    assert_string_equal(text.data, "a\xef\xbf\xbd\xc3\xbc\33");
    buffer_deinit(&text);
    must(text_put_utf8(&text, "", 0));
    assert_string_equal(text.data, "");
    buffer_deinit(&text);
}

static void durations_are_short(void **state)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } cases[] = {{0, "0 us"},
                 {999, "1 us"},
                 {870000, "870 us"},
                 {1900000, "1.9 ms"},
                 {12340000000, "12.34 s"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer text = {0};
        must(text_put_duration(&text, cases[i].ns));
        assert_string_equal(text.data, cases[i].text);
        buffer_deinit(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_characters_are_spelled_out),
        cmocka_unit_test(lines_stay_lines),
        cmocka_unit_test(utf8_stays_and_what_is_not_utf8_does_not),
        cmocka_unit_test(quotes_are_escaped_when_quoting),
        cmocka_unit_test(the_size_is_kept),
        cmocka_unit_test(json_text_is_valid_utf8),
        cmocka_unit_test(durations_are_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
