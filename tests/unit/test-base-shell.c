// SPDX-License-Identifier: GPL-3.0-or-later
// Words that a shell must read back.
#include "trial-help.h"

#include "base/shell.h"
#include "base/utf8.h"

static void plain_words_stay_plain(void **state)
{
    static const struct {
        const char *word, *quoted;
    } cases[] = {
        {"cp", "cp"},
        {"/usr/bin/cp", "/usr/bin/cp"},
        {"--inject=x", "--inject=x"},
        {"", "''"},
        {"A=b", "'A=b'"}, // an assignment otherwise
        {"a b", "'a b'"},
        {"it's", "'it'\\''s'"},
        {"~", "'~'"},
        {"$(rm -rf /)", "'$(rm -rf /)'"},
        {"a\nb", "$'a\\nb'"},
        {"\x1b[2J", "$'\\033[2J'"},
        {"h\xc3\xbc", "'h\xc3\xbc'"},
        {"\xff", "$'\\377'"},
        {"\xc2\x9b", "$'\\302\\233'"},          // CSI
        {"\xe2\x80\xae", "$'\\342\\200\\256'"}, // turns the rest of the line around
        {"''", "''\\'''\\'''"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buffer text = {0};
        must(shell_put_word(&text, cases[i].word));
        assert_string_equal(text.data, cases[i].quoted);
        buffer_deinit(&text);
    }
}

// Every byte, alone and between others, through a real shell.
static void a_shell_reads_back_the_same(void **state)
{
    for (int byte = 1; byte < 256; byte++) {
        char word[] = {'x', (char)byte, '\'', (char)byte, '\0'};
        struct buffer text = {0}, found = {0};
        must(buffer_printf(&text, "printf %%s "));
        must(shell_put_word(&text, word));
        FILE *script = fopen("script", "w");
        assert_non_null(script);
        fwrite(text.data, 1, text.size, script);
        fclose(script);
        assert_int_equal(system("bash ./script >found"), 0);
        must(buffer_read_file("found", 100, &found));
        assert_int_equal(found.size, 4);
        assert_memory_equal(found.data, word, 4);
        buffer_deinit(&text);
        buffer_deinit(&found);
    }
}

static void words_stand_apart(void **state)
{
    char *words[] = {(char *)"cp", (char *)"a b", (char *)"c"};
    struct buffer text = {0};
    must(shell_put_words(&text, words, 3));
    assert_string_equal(text.data, "cp 'a b' c");
    buffer_deinit(&text);
}

static void utf8_is_told_from_other_bytes(void **state)
{
    static const struct {
        const char *bytes;
        unsigned size;
        uint32_t character;
    } cases[] = {
        {"a", 1, 'a'},
        {"\xc3\xbc", 2, 0xfc},
        {"\xe2\x82\xac", 3, 0x20ac},
        {"\xf0\x9f\x98\x80", 4, 0x1f600},
        {"\xf4\x8f\xbf\xbf", 4, 0x10ffff},
        {"\x80", 0, 0},
        {"\xc3", 0, 0},             // cut off
        {"\xc0\xaf", 0, 0},         // overlong
        {"\xe0\x80\xaf", 0, 0},     // likewise
        {"\xed\xa0\x80", 0, 0},     // a surrogate
        {"\xf4\x90\x80\x80", 0, 0}, // beyond the end
        {"\xc3\x28", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t character = 0;
        assert_int_equal(utf8_decode(cases[i].bytes, strlen(cases[i].bytes), &character),
                         cases[i].size);
        assert_int_equal(character, cases[i].character);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_words_stay_plain),
        cmocka_unit_test_setup_teardown(a_shell_reads_back_the_same, enter_scratch, leave_scratch),
        cmocka_unit_test(words_stand_apart),
        cmocka_unit_test(utf8_is_told_from_other_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
