// SPDX-License-Identifier: GPL-3.0-or-later
// Every complaint about a rule, by its text and by the column its caret points at.
#include "scenario-help.h"

static const struct {
    const char *spec;
    unsigned column;
    const char *message;
} cases[] = {
    {"", 1, "expected a function's name"},
    {"=", 1, "expected a function's name"},
    {"read", 5, "say what to inject: read=-1/EIO, read delay 50ms, ..."},
    {"read=", 6, "say what to inject: read=-1/EIO, read delay 50ms, ..."},
    {"read when count == 1", 6, "say what to inject: read=-1/EIO, read delay 50ms, ..."},
    {"=5", 1, "expected a function's name"},
    {"libc:=5", 1, "expected a function after the library"},
    {":read=5", 1, "expected a library before ':'"},
    {"std::vector=5", 1,
     "'std::vector': C++ functions go by their mangled names, or a glob such as _ZN*name*"},
    {"a:b:c=5", 1, "'a:b:c': a function is written NAME or LIBRARY:NAME"},
    {"[ab=5", 1, "'[ab': '[' has no ']'"},
    {"\"read=5", 1, "this text has no closing quote"},
    {"read=-1/", 9, "expected an errno, but the text ends here"},
    {"read=-1/ENOSUCH", 9, "'ENOSUCH' is not an errno (did you mean 'ENOSPC'?)"},
    {"read=-1/SIGINT", 9, "'SIGINT' is not an errno"},
    {"read=-1/9999", 9, "an errno is at most 4095"},
    {"read=banana", 6, "'banana' is not a value: a number or a known constant"},
    {"read=MAP_FAILD", 6,
     "'MAP_FAILD' is not a value: a number or a known constant (did you mean 'MAP_FAILED'?)"},
    {"read=-1 -1", 9, "expected ',', 'when' or the end of the rule, found '-'"},
    {"read=-1,", 9, "expected another action after ',', but the text ends here"},
    {"read=-1, 5", 10, "a second return value for the same rule"},
    {"read=-1/EIO, errno EIO", 20, "a second errno for the same rule"},
    {"read=18446744073709551616", 6, "this number does not fit into 64 bits"},
    {"read=-9223372036854775809", 7, "this number does not fit into 64 bits"},
    {"read=1L", 6,
     "write an integer without suffix, or a floating point value with a dot: 1.0f 1.0 1.0L"},
    {"read=08", 6, "a number that starts with 0 is octal, and has no digit 8 or 9"},
    {"read=0x", 6, "0x needs digits after it"},
    {"read delay 5", 12, "a duration needs a unit: 5ms"},
    {"read delay 5parsecs", 12, "unknown unit after this number (known: ns us ms s)"},
    {"read delay", 11, "expected a duration such as 50ms, but the text ends here"},
    {"read delay 99999999999s", 12, "this duration is too long"},
    {"read signal SIGNONE", 13, "'SIGNONE' is not a signal (did you mean 'SIGCONT'?)"},
    {"read signal 65", 13, "signals are numbered from 1 to 64"},
    {"read signal", 12, "expected a signal such as SIGTERM, but the text ends here"},
    {"read signal SIGRTMIN+31", 22, "the distance of a real-time signal is at most 30"},
    {"read short 0", 12, "the length of a short call starts at 1"},
    {"read short, -1", 6, "with 'short' the call goes through, so it has no return value"},
    {"nosuch short", 8,
     "it is not known which argument of 'nosuch' is the length; write short(argument: N)"},
    {"read short(argument: 7)", 22, "an argument number is at most 6"},
    {"read short(count: 1)", 12, "expected 'argument: N', found 'count'"},
    {"read errno only", 16, "expected an errno, but the text ends here"},
    {"read=-1, errno only EIO", 6,
     "with 'errno only' the call goes through, so it has no return value; write VALUE/ERRNO for "
     "both"},
    {"read=0,out(0)=1", 12, "an argument number starts at 1"},
    {"read=0,out(1:3)=1", 14, "an output parameter is 1, 2, 4 or 8 bytes wide"},
    {"read=0,out(1:1)=256", 17, "256 does not fit into 1 byte"},
    {"read=0,out(1:1)=-129", 17, "-129 does not fit into 1 byte"},
    {"read=0,out(1)=1.5", 15, "an output parameter takes a whole number"},
    {"read=0,out(1)", 14, "expected '=' after 'out(...)', but the text ends here"},
    {"read=-1, out(result)=1", 6,
     "'result' and 'kept' are about a function that was called: add 'after', or 'performed' to a "
     "value"},
    {"read=-1, out(1>+2>+3>+4>+5)=1, performed", 24,
     "at most 4 pointers lead to an output parameter"},
    {"read=observe, -1", 6,
     "'observe' lets the function return what it does, so no other action goes "
     "with it"},
    {"fork=observe", 6,
     "fork returns twice or never, or looks at its caller: it cannot be observed"},
    {"read=watch, -1", 6, "'watch' injects nothing, so no other action goes with it"},
    {"read=-1 whne count == 1", 9, "expected ',', 'when' or the end of the rule, found 'whne'"},
    {"read=-1 when", 13, "expected a condition or a value, but the text ends here"},
    {"read=-1 when count ==", 22, "expected a condition or a value, but the text ends here"},
    {"read=-1 when count == 3 and", 28, "expected a condition or a value, but the text ends here"},
    {"read=-1 when (count == 3", 25, "expected ')', but the text ends here"},
    {"read=-1 when count == 3)", 24, "expected 'and', 'or' or the end of the rule, found ')'"},
    {"read=-1 when cuont == 3", 14,
     "unknown word 'cuont' (did you mean 'count'?); 'ordeal list triggers' shows what there is"},
    {"read=-1 when nonsense(3)", 14,
     "unknown word 'nonsense'; 'ordeal list triggers' shows what there is"},
    {"read=-1 when count = 3", 20, "write '==' to compare"},
    {"read=-1 when count == 3 == 4", 25, "comparisons do not chain; join them with 'and'"},
    {"read=-1 when count in 3", 24,
     "expected '..' between the ends of a range, but the text ends here"},
    {"read=-1 when count in 5..2", 26, "this range is empty: its end is below its start"},
    {"read=-1 when count in 1..5+0", 28, "the step of a range is a number from 1 on"},
    {"read=-1 when count in 1..5+arg(1)", 28, "the step of a range is a number from 1 on"},
    {"read=-1 when random(0.5) in 0..1", 14,
     "the left side of 'in' is evaluated more than once; random, remote, plugin and arithmetic on "
     "match cannot stand there"},
    {"read=-1 when match + 1 in 1..2", 20,
     "the left side of 'in' is evaluated more than once; random, remote, plugin and arithmetic on "
     "match cannot stand there"},
    {"read=-1 when match in 1..9+2", 28,
     "a range of 'match' has no step; every tenth is match % 10 == 0"},
    {"read=-1 when match in 1..arg(1)", 23, "a range of 'match' is of plain numbers"},
    {"read=-1 when match >= 2 and match <= 4", 29,
     "a rule has one counter: 'match' can stand in it once"},
    {"read=-1 when time > 2", 21, "a duration needs a unit: time > 2ms, or s, us, ns"},
    {"read=-1 when 2 < time", 14, "a duration needs a unit: time > 2ms, or s, us, ns"},
    {"read=-1 when time in 1s..2", 26, "a duration needs a unit: time > 2ms, or s, us, ns"},
    {"read=-1 when 3", 14, "a number alone is no condition; to count calls write count == 3"},
    {"read=-1 when (EIO)", 15, "a number alone is no condition; to count calls write count == 3"},
    {"read=-1 when count(3)", 19, "'count' takes nothing in parentheses; its syntax is: count"},
    {"read=-1 when random(2)", 21, "a probability is between 0 and 1, or a percentage such as 10%"},
    {"read=-1 when random(x)", 21, "expected a probability such as 0.1 or 10%, found 'x'"},
    {"read=-1 when random", 20, "expected '(' after 'random', but the text ends here"},
    {"read=-1 when arg(0) == 1", 18, "an argument number starts at 1"},
    {"read=-1 when arg(65) == 1", 18, "an argument number is at most 64"},
    {"read=-1 when arg(1).f32", 21,
     "expected i8, u8, i16, u16, i32, u32, i64 or u64 after '.', found 'f32'"},
    {"read=-1 when arg(1) ~ 5", 23,
     "'~' needs a text in quotes on its right: path(1) ~ \"/etc/*\""},
    {"read=-1 when arg(1) ~ \"x\"", 14,
     "argument 1 of read is a descriptor, not a text; path(n) asks what a descriptor is open on"},
    {"read=-1 when arg(3) == \"x\"", 14, "argument 3 of read is a size, not a text"},
    {"read=-1 when arg(2) < \"x\"", 21, "a text can only be compared with ==, !=, ~ or !~"},
    {"read=-1 when count == \"x\"", 14,
     "only arg(n), path(n), thread and process can be compared with a text"},
    {"read=-1 when \"text\"", 14,
     "a text can only stand beside ==, !=, ~ or !~: path(1) ~ \"/etc/*\""},
    {"read=-1 when path(1)", 14, "path(1) must be compared with a text: path(1) ~ \"/etc/*\""},
    {"read=-1 when path(3) ~ \"x\"", 14,
     "argument 3 of read is a size, neither a path nor a descriptor"},
    {"read=-1 when fd(3).pipe", 14, "argument 3 of read is a size, not a descriptor"},
    {"read=-1 when fd(1).banana", 20,
     "expected pipe, socket, file, directory, tty, nonblocking or connection after '.', found "
     "'banana'"},
    {"read=-1 when \"a\" ~ arg(1)", 20,
     "'~' needs a text in quotes on its right: path(1) ~ \"/etc/*\""},
    {"read=-1 when caller()", 21,
     "expected a frame: function, file.c:123, module+0x12, module: or module:function"},
    {"read=-1 when caller(main", 25, "expected ',' or ')' after a frame, but the text ends here"},
    {"read=-1 when stack(...)", 20, "'...' stands between two frames"},
    {"read=-1 when stack(a, ...)", 23, "'...' stands between two frames"},
    {"read=-1 when stack(a, ..., ..., b)", 28, "'...' stands between two frames"},
    {"read=-1 when stack(file.c)", 20, "a source file needs a line: file.c:123"},
    {"read=-1 when stack(file.c:0)", 20, "'file.c:0': lines are counted from 1"},
    {"read=-1 when stack(a b)", 22, "expected ',' or ')' after a frame, found 'b'"},
    {"read=-1 when stack(:fn)", 20, "':fn' names neither a function nor a module"},
    {"read=-1 when var()", 18, "expected a name"},
    {"read=-1 when var(a == b)", 20, "var() names one variable; compare outside: var(a) == var(b)"},
    {"read=-1 when var(a", 17, "this '(' has no ')'"},
    {"read=-1 when var(a[x])", 20, "expected a number and ']' in var(...)"},
    {"read=-1 when var(3)", 18, "expected a name in var(...)"},
    {"read=-1 when var(a.)", 20, "expected a name"},
    {"read=-1 when var(a[99999999999])", 20, "this index is too large"},
    {"read=-1 when after()", 20, "expected a function's name"},
    {"read=-1 when after(close, 3)", 27, "expected 'within: K', found '3'"},
    {"read=-1 when after(close, within: 0)", 35, "a number of calls starts at 1"},
    {"read=-1 when thread()", 21, "expected a number or a name in 'thread(...)'"},
    {"read=-1 when thread(\"x\") == \"y\"", 14,
     "write 'thread ~ \"NAME\"' or 'thread(\"NAME\")', not both"},
    {"read=-1 when remote()", 21, "expected the name of a question in 'remote(...)'"},
    {"read=-1 when plugin()", 21, "a plug-in's name is made of letters, digits and '_'"},
    {"read=-1 when plugin(my-plugin)", 21, "a plug-in's name is made of letters, digits and '_'"},
    {"read=-1 when plugin(p, above)", 29, "expected ':' after the parameter's name, found ')'"},
    {"read=-1 when plugin(p, above:)", 30, "parameter 'above' has no value"},
    {"read=-1 when once or count == 1", 14,
     "'once' can only be joined to the rest of the condition by 'and'"},
    {"read=-1 when not once", 18,
     "'once' can only be joined to the rest of the condition by 'and'"},
    {"read=-1 when @late", 14,
     "no trigger named 'late' is defined before this; name triggers under 'triggers:' of a "
     "scenario file"},
    {"read=-1 when @ late", 16, "expected the name of a trigger right after '@', found 'late'"},
    {"read=-1 when 1/0", 16, "division by zero"},
    {"read=-1 when 1.5 == count", 14, "only whole numbers and durations can be compared"},
    {"read=-1 when 5 parsecs", 16, "expected 'and', 'or' or the end of the rule, found 'parsecs'"},
    {"read=-1 when count == 99999999999999999999999", 23, "this number does not fit into 64 bits"},
    {"read=-1 when count == 9999999999999999999", 23,
     "this number is above the largest signed one; write it in hexadecimal"},
    {"read=-1 when count == 3 $", 25, "unexpected character"},
    {"read=-1 when arg(1) == \"unclosed", 24, "this text has no closing quote"},
    {"read=-1 when arg(2) == \"a\\q\"", 24,
     "unknown escape in this text (known: \\\\ \\\" \\' \\n \\t \\r \\xHH \\* \\? \\[)"},
    {"read=-1 when count == 3 ü", 25, "unexpected character"},
    {"read:error=ENOSUCH", 12, "'ENOSUCH' is not an errno (did you mean 'ENOSPC'?)"},
    {"read,p*:error=EIO", 6,
     "the functions that 'p*' stands for fail with different values; write p*=VALUE/ERRNO for one "
     "of them"},
    {"read=EIO", 6, "read fails by returning -1, with errno beside it; write read=-1/EIO"},
    {"libc:malloc=ENOMEM, delay 5ms", 13,
     "malloc fails by returning NULL, with errno beside it; write malloc=NULL/ENOMEM"},
    {"read:retval=EIO", 13, "read fails by returning -1, with errno beside it; write read=-1/EIO"},
    {"read:when=3", 1, "say what to inject: read=-1/EIO, read delay 50ms, ..."},
    {"read:error=EIO:when=0", 21, "a call number starts at 1"},
    {"read:error=EIO:when=x", 21, "expected a call number, found 'x'"},
    {"read:error=EIO:when=5..2", 21, "this range is empty: its end is below its start"},
    {"read:error=EIO:when=1:when=2", 28, "a second when="},
    {"read:error=EIO:retval=1", 23, "a second error= or retval= for the same rule"},
    {"read:retval=1:error=EIO", 21, "a second error= or retval= for the same rule"},
    {"read:banana=3", 6, "unknown option 'banana='"},
    {"read:eror=EIO", 6, "unknown option 'eror=' (did you mean 'error'?)"},
    {"read,write:eror=EIO", 12, "unknown option 'eror=' (did you mean 'error'?)"},
    {"read:syscall=5", 6, "syscall= is not supported"},
    {"read:delay_exit=5:delay_enter=5", 19,
     "one rule cannot act before the call and after it; write two rules"},
    {"read:error=EIO:", 16,
     "expected error=, retval=, signal=, delay_enter=, poke_exit= or when=, but the text ends "
     "here"},
    {"read,:error=EIO", 6, "expected a function's name"},
    {",read:error=EIO", 1, "expected a function's name"},
    {"read:error", 11, "say what to inject: error=-1/EIO, error delay 50ms, ..."},
    {"read=-1, when count == 1", 10, "expected another action after ',', found 'when'"},
};

static void test_messages(void **state)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct scenario *scenario = new_scenario();
        char expected[1024];
        snprintf(expected, sizeof expected, "--inject:1:%u: %s\n    %s\n    %*s^", cases[i].column,
                 cases[i].message, cases[i].spec, (int)cases[i].column - 1, "");
        expect_error(scenario_add_spec(scenario, cases[i].spec), expected);
        scenario_free(scenario);
    }
}

// Too much of something: an error, in time and without crashing.
static void expect_mention(struct scenario *scenario, const char *spec, const char *mention)
{
    struct error *error = scenario_add_spec(scenario, spec);
    if (error == NULL || strstr(error_message(error), mention) == NULL)
        fail_msg("no mention of '%s': %s", mention, error != NULL ? error_message(error) : "");
    error_free(error);
}

static void repeat(struct buffer *buffer, const char *text, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        must(buffer_append(buffer, text, strlen(text)));
}

static void test_limits(void **state)
{
    static const struct {
        const char *start, *repeated, *end;
        unsigned times;
        const char *mention;
    } limits[] = {
        {"f=0 when ", "(", "1", 5000, "nested too deeply (more than 64 levels)"},
        {"f=0 when ", "not ", "1", 5000, "nested too deeply"},
        {"f=0 when ", "-", "count", 5000, "nested too deeply"},
        {"f=0 when ", "count == 1 and ", "1", 3000, "too long (more than 4096 parts)"},
        {"f=0 when ", "(1 + arg(1)) * ", "2", 4000, "too long"},
        {"f=0 when ", "arg(1) + (", "1", 50, "expected ')'"},
        {"f=0 when count == ", "9", "", 100000, "does not fit into 64 bits"},
        {"f=0 when count == 1.", "9", "", 100000, "too many digits"},
        {"f=0 when var(", "*", "x)", 5000, "nested too deeply"},
        {"f=0 when var(x", ".y", ")", 100, "more than 32 steps"},
        {"read=out(1)=1", ",out(1)=1", "", 32, "a rule can set at most 32 output parameters"},
        {"f=0 when ", "((count in 1..2) in 0..1) + ", "1", 400, "too large"},
    };
    for (size_t i = 0; i < COUNT_OF(limits); i++) {
        struct scenario *scenario = new_scenario();
        _cleanup_(buffer_deinit) struct buffer spec = {0};
        repeat(&spec, limits[i].start, 1);
        repeat(&spec, limits[i].repeated, limits[i].times);
        repeat(&spec, limits[i].end, 1);
        expect_mention(scenario, spec.data, limits[i].mention);
        scenario_free(scenario);
    }
}

static void test_values_at_once(void **state)
{
    _cleanup_(buffer_deinit) struct buffer spec = {0};
    repeat(&spec, "f=0 when ", 1);
    repeat(&spec, "count + (", 40);
    repeat(&spec, "count", 1);
    repeat(&spec, ")", 40);
    struct scenario *scenario = new_scenario();
    expect_mention(scenario, spec.data, "it holds more than 32 values at once");
    scenario_free(scenario);
}

static void test_after_limit(void **state)
{
    struct scenario *scenario = new_scenario();
    char spec[64];
    for (unsigned i = 0; i < WIRE_AFTER_MAX; i++) {
        snprintf(spec, sizeof spec, "f=0 when after(g%u) or after(g%u)", i, i);
        must(scenario_add_spec(scenario, spec));
    }
    expect_mention(scenario, "f=0 when after(close)", "at most 32 times");
    scenario_free(scenario);
}

// Names that double at every step are refused before they fill the memory.
static void test_doubling_names(void **state)
{
    _cleanup_(buffer_deinit) struct buffer text = {0};
    must(buffer_printf(&text, "triggers:\n  t0: count\n"));
    for (unsigned i = 1; i < 60; i++)
        must(buffer_printf(&text, "  t%u: '@t%u + @t%u'\n", i, i - 1, i - 1));
    must(buffer_printf(&text, "rules: ['f=0 when @t59 in 1..2']\n"));
    struct scenario *scenario = new_scenario();
    struct error *error = scenario_add_yaml(scenario, "x.yaml", text.data, text.size);
    assert_non_null(error);
    assert_non_null(strstr(error_message(error), "too "));
    error_free(error);
    scenario_free(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),       cmocka_unit_test(test_limits),
        cmocka_unit_test(test_values_at_once), cmocka_unit_test(test_after_limit),
        cmocka_unit_test(test_doubling_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
