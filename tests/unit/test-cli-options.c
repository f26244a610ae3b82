// SPDX-License-Identifier: GPL-3.0-or-later
// The option parser and what is made from its tables.
#include "trial-help.h"

#include "cli/command.h"

struct settings {
    bool flag, other;
    const char *text;
    struct option_number number;
    uint64_t seconds;
    struct option_list list;
};

static const struct option options[] = {
    {"flag", 'f', OPTION_FLAG, NULL, "a flag", offsetof(struct settings, flag)},
    {"other", 'g', OPTION_FLAG, NULL, "another", offsetof(struct settings, other)},
    {"text", 't', OPTION_TEXT, "TEXT", "a text", offsetof(struct settings, text)},
    {"number", 0, OPTION_NUMBER, "N", "a number", offsetof(struct settings, number)},
    {"seconds", 's', OPTION_SECONDS, "S", "a time", offsetof(struct settings, seconds)},
    {"list", 'l', OPTION_LIST, "X", "a list", offsetof(struct settings, list)},
    {"files", 0, OPTION_FILE_LIST, "X", "the same list", offsetof(struct settings, list)},
    {"mark", 'm', OPTION_FLAG_LIST, NULL, "no value", offsetof(struct settings, list)},
};

static const struct command plain = {
    .name = "test",
    .summary = "Test.",
    .operands = "FILE",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .settings_size = sizeof(struct settings),
    .least = 1,
    .most = 2,
};

// Parses the words of a line; blanks separate.
static struct error *parse(const struct command *command, const char *line,
                           struct settings *settings, char ***ret_operands)
{
    static char text[200], *words[20];
    size_t count = 0;
    strcpy(text, line);
    for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " "))
        words[count++] = word;
    words[count] = NULL;
    memset(settings, 0, sizeof *settings);
    bool help = false;
    struct error *error = options_parse(command, words, settings, ret_operands, &help);
    assert_false(help);
    return error;
}

static void all_spellings_are_understood(void **state)
{
    struct settings settings;
    char **operands;
    must(parse(&plain, "--flag --text=a=b --number 0x10 -s 1.5 x", &settings, &operands));
    assert_true(settings.flag && !settings.other);
    assert_string_equal(settings.text, "a=b");
    assert_true(settings.number.given && settings.number.value == 16);
    assert_int_equal(settings.seconds, 1500000000);
    assert_string_equal(operands[0], "x");
    must(parse(&plain, "one -gtvalue -f two", &settings, &operands));
    assert_true(settings.flag && settings.other);
    assert_string_equal(settings.text, "value");
    assert_string_equal(operands[0], "one");
    assert_string_equal(operands[1], "two");
    assert_null(operands[2]);
    must(parse(&plain, "-t - -- --flag", &settings, &operands));
    assert_string_equal(settings.text, "-");
    assert_string_equal(operands[0], "--flag");
    assert_false(settings.flag);
}

static void a_list_keeps_its_order(void **state)
{
    struct settings settings;
    char **operands;
    must(parse(&plain, "-l a --files b --list c -fm --mark x", &settings, &operands));
    assert_int_equal(settings.list.entries.count, 5);
    assert_string_equal(settings.list.entries.items[1].value, "b");
    assert_string_equal(settings.list.entries.items[1].option, "files");
    assert_string_equal(settings.list.entries.items[2].value, "c");
    assert_string_equal(settings.list.entries.items[4].option, "mark");
    assert_null(settings.list.entries.items[4].value);
    options_deinit(&plain, &settings);
}

static void a_command_keeps_its_own_options(void **state)
{
    struct command follows = plain;
    follows.command_follows = true;
    struct settings settings;
    char **operands;
    must(parse(&follows, "-f ls -g", &settings, &operands));
    assert_true(settings.flag && !settings.other);
    assert_string_equal(operands[1], "-g");
}

static void mistakes_are_explained(void **state)
{
    static const struct {
        const char *line, *says;
    } wrong[] = {
        {"--flga x", "did you mean --flag?"},
        {"--nothing-like-it x", "there is no option --nothing-like-it; 'ordeal help test'"},
        {"-z x", "there is no option -z"},
        {"-fz x", "there is no option -z"},
        {"--flag=1 x", "--flag takes no value"},
        {"--mark=1 x", "--mark takes no value"},
        {"x --text", "--text needs a value: --text TEXT"},
        {"x -t", "-t needs a value: -t TEXT"},
        {"--number 12x x", "--number needs a number, not '12x'"},
        {"--number -1 x", "--number needs a number"},
        {"--number 99999999999999999999 x", "--number needs a number"},
        {"-s 0 x", "--seconds needs a time above 0"},
        {"-s 1y x", "--seconds needs a time"},
        {"-s nan x", "--seconds needs a time"},
        {"-s -5 x", "--seconds needs a time"},
        {"", "usage: ordeal test [OPTION]... FILE"},
        {"a b c", "'c' is one too many"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct settings settings;
        char **operands;
        must_say(parse(&plain, wrong[i].line, &settings, &operands), wrong[i].says);
        options_deinit(&plain, &settings);
    }
}

static void times_have_units(void **state)
{
    static const struct {
        const char *line;
        uint64_t ns;
    } times[] = {{"-s 2 x", 2000000000},
                 {"-s 500ms x", 500000000},
                 {"-s 20us x", 20000},
                 {"-s 1m x", 60000000000},
                 {"-s .5s x", 500000000}};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct settings settings;
        char **operands;
        must(parse(&plain, times[i].line, &settings, &operands));
        assert_int_equal(settings.seconds, times[i].ns);
    }
}

static void every_table_is_sound(void **state)
{
    for (size_t i = 0; commands[i] != NULL; i++) {
        const struct command *command = commands[i];
        assert_ptr_equal(command_find(command->name), command);
        assert_non_null(command->run);
        assert_true(command->summary[strlen(command->summary) - 1] == '.');
        struct option option, other;
        for (size_t j = 0; command_option(command, j, &option); j++) {
            assert_true((option.kind == OPTION_FLAG || option.kind == OPTION_FLAG_LIST) ==
                        (option.value == NULL));
            assert_true(option.field < command->settings_size);
            assert_string_not_equal(option.name, "help");
            assert_int_not_equal(option.letter, 'h');
            for (size_t k = 0; k < j && command_option(command, k, &other); k++) {
                assert_string_not_equal(option.name, other.name);
                assert_true(option.letter == 0 || option.letter != other.letter);
            }
        }
        struct buffer text = {0};
        must(help_command(command, &text));
        for (char *line = strtok(text.data, "\n"); line != NULL; line = strtok(NULL, "\n"))
            if (strlen(line) > 100)
                fail_msg("%s: too long a line: %s", command->name, line);
        buffer_deinit(&text);
    }
    must_say(unknown_command("rnu"), "did you mean 'run'?");
    must_say(unknown_command("frobnicate"), "'ordeal --help' lists them");
}

static void colours_need_a_terminal(void **state)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_false(output_colour(ends[1]));
    int terminal = posix_openpt(2);
    if (terminal >= 0) {
        setenv("TERM", "xterm", 1);
        unsetenv("NO_COLOR");
        assert_true(output_colour(terminal));
        setenv("NO_COLOR", "1", 1);
        assert_false(output_colour(terminal));
        setenv("NO_COLOR", "", 1);
        assert_true(output_colour(terminal));
        setenv("TERM", "dumb", 1);
        assert_false(output_colour(terminal));
        close(terminal);
    }
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_spellings_are_understood),
        cmocka_unit_test(a_list_keeps_its_order),
        cmocka_unit_test(a_command_keeps_its_own_options),
        cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(times_have_units),
        cmocka_unit_test(every_table_is_sound),
        cmocka_unit_test(colours_need_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
