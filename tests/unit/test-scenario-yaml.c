// SPDX-License-Identifier: GPL-3.0-or-later
// Scenario files in YAML: what they mean, and every complaint with line and caret.
#include "scenario-help.h"

static const struct {
    const char *text, *message;
} broken[] = {
    {"", "x.yaml:1:1: a scenario starts with 'rules:' and a list below it\n"
         "    \n"
         "    ^"},
    {"# only a comment\n", "x.yaml:1:1: a scenario starts with 'rules:' and a list below it\n"
                           "    # only a comment\n"
                           "    ^"},
    {"- read=-1\n", "x.yaml:1:1: a scenario starts with 'rules:' and a list below it\n"
                    "    - read=-1\n"
                    "    ^"},
    {"just text\n", "x.yaml:1:1: a scenario starts with 'rules:' and a list below it\n"
                    "    just text\n"
                    "    ^"},
    {"seed: 1\n", "x.yaml:1:1: this scenario has no 'rules'\n"
                  "    seed: 1\n"
                  "    ^"},
    {"rules: read=-1\n", "x.yaml:1:8: 'rules' is a list: every rule starts with '- '\n"
                         "    rules: read=-1\n"
                         "           ^"},
    {"rules:\n"
     "  - [a]\n",
     "x.yaml:2:5: a rule is a text or a mapping\n"
     "      - [a]\n"
     "        ^"},
    {"rules: []\n"
     "ruels: []\n",
     "x.yaml:2:1: unknown key 'ruels' of a scenario (did you mean 'rules'?)\n"
     "    ruels: []\n"
     "    ^"},
    {"rules: []\n"
     "rules: []\n",
     "x.yaml:2:1: key 'rules' stands here a second time\n"
     "    rules: []\n"
     "    ^"},
    {"rules:\n"
     "  - read=-1/EI0 when count == 3\n",
     "x.yaml:2:13: 'EI0' is not an errno (did you mean 'EIO'?)\n"
     "      - read=-1/EI0 when count == 3\n"
     "                ^"},
    {"rules:\n"
     "  - 'read=-1 when cuont == 3'\n",
     "x.yaml:2:19: unknown word 'cuont' (did you mean 'count'?); 'ordeal list triggers' shows what "
     "there is\n"
     "      - 'read=-1 when cuont == 3'\n"
     "                      ^"},
    {"rules:\n"
     "  - \"read=-1 when\\tcuont == 3\"\n",
     "x.yaml:2:26: unknown word 'cuont' (did you mean 'count'?); 'ordeal list triggers' shows what "
     "there is\n"
     "      - \"read=-1 when\\tcuont == 3\"\n"
     "                             ^"},
    {"rules:\n"
     "  - read=-1 when\n"
     "    count == 3 and\n"
     "    cuont == 4\n",
     "x.yaml:4:5: unknown word 'cuont' (did you mean 'count'?); 'ordeal list triggers' shows what "
     "there is\n"
     "        cuont == 4\n"
     "        ^"},
    {"rules:\n"
     "  - |\n"
     "    read=-1 when count == 3\n"
     "    and cuont == 4\n",
     "x.yaml:4:9: unknown word 'cuont' (did you mean 'count'?); 'ordeal list triggers' shows what "
     "there is\n"
     "        and cuont == 4\n"
     "            ^"},
    {"rules:\n"
     "  - >-\n"
     "    read=-1 when count == 3\n"
     "    and cuont == 4\n",
     "x.yaml:4:9: unknown word 'cuont' (did you mean 'count'?); 'ordeal list triggers' shows what "
     "there is\n"
     "        and cuont == 4\n"
     "            ^"},
    {"rules:\n"
     "  # größer\n"
     "  - {function: read, return: -1, when: cuont == 3} # ü\n",
     "x.yaml:3:40: unknown word 'cuont' (did you mean 'count'?); 'ordeal list triggers' shows what "
     "there is\n"
     "      - {function: read, return: -1, when: cuont == 3} # ü\n"
     "                                           ^"},
    {"# ü ö ä\n"
     "rules: [ {funtion: read} ]\n",
     "x.yaml:2:11: unknown key 'funtion' of a rule (did you mean 'function'?)\n"
     "    rules: [ {funtion: read} ]\n"
     "              ^"},
    {"rules:\n"
     "  - function: read\n"
     "    return: banana\n",
     "x.yaml:3:13: 'banana' is not a value: a number or a known constant\n"
     "        return: banana\n"
     "                ^"},
    {"rules:\n"
     "  - function: read\n"
     "    return: -1\n"
     "    errno: ENOSUCH\n",
     "x.yaml:4:12: 'ENOSUCH' is not an errno (did you mean 'ENOSPC'?)\n"
     "        errno: ENOSUCH\n"
     "               ^"},
    {"rules:\n"
     "  - function: read\n"
     "    return: -1/EIO\n"
     "    errno: EIO\n",
     "x.yaml:4:12: a second errno for the same rule\n"
     "        errno: EIO\n"
     "               ^"},
    {"rules:\n"
     "  - function: read\n"
     "    return: [1]\n",
     "x.yaml:3:13: expected a text or a number here\n"
     "        return: [1]\n"
     "                ^"},
    {"rules:\n"
     "  - function: read\n"
     "    return: -1 5\n",
     "x.yaml:3:16: expected the end of the value, found '5'\n"
     "        return: -1 5\n"
     "                   ^"},
    {"rules:\n"
     "  - function: read\n"
     "    delay: 50\n",
     "x.yaml:3:12: a duration needs a unit: 50ms\n"
     "        delay: 50\n"
     "               ^"},
    {"rules:\n"
     "  - function: read\n"
     "    signal: SIGNONE\n",
     "x.yaml:3:13: 'SIGNONE' is not a signal (did you mean 'SIGCONT'?)\n"
     "        signal: SIGNONE\n"
     "                ^"},
    {"rules:\n"
     "  - function: foo\n"
     "    short: true\n",
     "x.yaml:2:5: it is not known which argument of 'foo' is the length; write short(argument: N)\n"
     "      - function: foo\n"
     "        ^"},
    {"rules:\n"
     "  - function: read\n"
     "    short: maybe\n",
     "x.yaml:3:12: expected the length of a short call, found 'maybe'\n"
     "        short: maybe\n"
     "               ^"},
    {"rules:\n"
     "  - function: read\n"
     "    short: [1]\n",
     "x.yaml:3:12: 'short' is true, a number, or {argument: N}\n"
     "        short: [1]\n"
     "               ^"},
    {"rules:\n"
     "  - function: read\n"
     "    short: {arguments: 1}\n",
     "x.yaml:3:13: unknown key 'arguments' of 'short' (did you mean 'argument'?)\n"
     "        short: {arguments: 1}\n"
     "                ^"},
    {"rules:\n"
     "  - function: read\n"
     "    short: {limit: 0}\n",
     "x.yaml:3:20: the length of a short call starts at 1\n"
     "        short: {limit: 0}\n"
     "                       ^"},
    {"rules:\n"
     "  - function: read\n"
     "    short: true\n"
     "    return: 5\n",
     "x.yaml:2:5: with 'short' the call goes through, so it has no return value\n"
     "      - function: read\n"
     "        ^"},
    {"rules:\n"
     "  - function: read\n"
     "    out: 5\n",
     "x.yaml:3:10: 'out' maps arguments to values: {1: 0}\n"
     "        out: 5\n"
     "             ^"},
    {"rules:\n"
     "  - function: read\n"
     "    out: {9: 5}\n",
     "x.yaml:3:11: an argument number is at most 6\n"
     "        out: {9: 5}\n"
     "              ^"},
    {"rules:\n"
     "  - function: read\n"
     "    out: {1: x}\n",
     "x.yaml:3:14: 'x' is not a value: a number or a known constant\n"
     "        out: {1: x}\n"
     "                 ^"},
    {"rules:\n"
     "  - function: read\n"
     "    watch: maybe\n",
     "x.yaml:3:12: 'watch' is true or false\n"
     "        watch: maybe\n"
     "               ^"},
    {"rules:\n"
     "  - function: read\n"
     "    watch: true\n"
     "    return: 1\n",
     "x.yaml:2:5: 'watch' injects nothing, so no other action goes with it\n"
     "      - function: read\n"
     "        ^"},
    {"rules:\n"
     "  - function: read\n",
     "x.yaml:2:5: say what to inject: read=-1/EIO, read delay 50ms, ...\n"
     "      - function: read\n"
     "        ^"},
    {"rules:\n"
     "  - return: 5\n",
     "x.yaml:2:5: this rule names no 'function'\n"
     "      - return: 5\n"
     "        ^"},
    {"rules:\n"
     "  - function: a::b\n"
     "    return: 5\n",
     "x.yaml:2:15: 'a::b': C++ functions go by their mangled names, or a glob such as _ZN*name*\n"
     "      - function: a::b\n"
     "                  ^"},
    {"rules:\n"
     "  - function: libc:read\n"
     "    library: libc\n"
     "    return: 5\n",
     "x.yaml:2:15: the library is given twice: here and under 'library'\n"
     "      - function: libc:read\n"
     "                  ^"},
    {"rules:\n"
     "  - function: {a: b}\n"
     "    return: 5\n",
     "x.yaml:2:15: expected a text here\n"
     "      - function: {a: b}\n"
     "                  ^"},
    {"rules:\n"
     "  - function: read\n"
     "    return: 5\n"
     "    when: [a]\n",
     "x.yaml:4:11: expected a text or a number here\n"
     "        when: [a]\n"
     "              ^"},
    {"rules:\n"
     "  - read=-1 when plugin(p, above: 4)\n",
     "x.yaml:2:5: unknown key 'read=-1 when plugin(p, above' of a rule; a rule with ': ' in it "
     "must be put in quotes\n"
     "      - read=-1 when plugin(p, above: 4)\n"
     "        ^"},
    {"rules:\n"
     "  - *alloc=0\n",
     "x.yaml:2:5: did not find expected alphabetic or numeric character; a text that starts with "
     "this character must be put in quotes\n"
     "      - *alloc=0\n"
     "        ^"},
    {"rules:\n"
     "  - &a read=0\n",
     "x.yaml:2:5: anchors are not supported; a text that starts with '&' must be put in quotes\n"
     "      - &a read=0\n"
     "        ^"},
    {"rules:\n"
     "  - {function: read, return: 0, when: !fd(1).pipe }\n",
     "x.yaml:2:39: tags are not supported; a text that starts with '!' must be put in quotes\n"
     "      - {function: read, return: 0, when: !fd(1).pipe }\n"
     "                                          ^"},
    {"rules:\n"
     "  - {function: read, return: 0, when: @late}\n",
     "x.yaml:2:39: found character that cannot start any token; a text that starts with this "
     "character must be put in quotes\n"
     "      - {function: read, return: 0, when: @late}\n"
     "                                          ^"},
    {"triggers: {late: time >> }\n"
     "rules: []\n",
     "x.yaml:1:25: expected a condition or a value, but the text ends here\n"
     "    triggers: {late: time >> }\n"
     "                            ^"},
    {"triggers: {1a: time}\n"
     "rules: []\n",
     "x.yaml:1:12: a trigger's name is made of letters, digits and '_'\n"
     "    triggers: {1a: time}\n"
     "               ^"},
    {"triggers: [a]\n"
     "rules: []\n",
     "x.yaml:1:11: 'triggers' maps names to conditions\n"
     "    triggers: [a]\n"
     "              ^"},
    {"triggers: {a: '@b', b: count}\n"
     "rules: []\n",
     "x.yaml:1:16: no trigger named 'b' is defined before this; name triggers under 'triggers:' of "
     "a scenario file\n"
     "    triggers: {a: '@b', b: count}\n"
     "                   ^"},
    {"triggers: {late: once}\n"
     "rules: ['read=0 when not @late']\n",
     "x.yaml:1:18: 'once' can only be joined to the rest of the condition by 'and'\n"
     "    triggers: {late: once}\n"
     "                     ^"},
    {"triggers: {late: path(3) ~ 'x'}\n"
     "rules: ['read=0 when count == 1 and @late']\n",
     "x.yaml:1:18: argument 3 of read is a size, neither a path nor a descriptor\n"
     "    triggers: {late: path(3) ~ 'x'}\n"
     "                     ^"},
    {"triggers: {lage: count}\n"
     "rules: ['read=0 when @late']\n",
     "x.yaml:2:22: no trigger named 'late' is defined before this (did you mean 'lage'?); name "
     "triggers under 'triggers:' of a scenario file\n"
     "    rules: ['read=0 when @late']\n"
     "                         ^"},
    {"seed: x\n"
     "rules: []\n",
     "x.yaml:1:7: expected a seed, found 'x'\n"
     "    seed: x\n"
     "          ^"},
    {"seed: 9223372036854775808\n"
     "rules: []\n",
     "x.yaml:1:7: a seed is at most 9223372036854775807\n"
     "    seed: 9223372036854775808\n"
     "          ^"},
    {"rules:\n"
     "  - function: read\n"
     "    return: -1\n"
     "    when: 3\n",
     "x.yaml:4:11: a number alone is no condition; to count calls write count == 3\n"
     "        when: 3\n"
     "              ^"},
    {"rules:\n"
     "  - function: read\n"
     "    return: EIO\n",
     "x.yaml:2:5: read fails by returning -1, with errno beside it; write read=-1/EIO\n"
     "      - function: read\n"
     "        ^"},
    {"seed: -1\n"
     "rules: []\n",
     "x.yaml:1:7: expected a seed, found '-'\n"
     "    seed: -1\n"
     "          ^"},
    {"plugins: [/nonexistent/x.so]\n"
     "rules: []\n",
     "x.yaml:1:11: cannot load plug-in /nonexistent/x.so: No such file or directory\n"
     "    plugins: [/nonexistent/x.so]\n"
     "              ^"},
    {"plugins: {a: b}\n"
     "rules: []\n",
     "x.yaml:1:10: expected a text here\n"
     "    plugins: {a: b}\n"
     "             ^"},
    {"rules: [\n", "x.yaml:2:1: did not find expected node content\n"
                   "    \n"
                   "    ^"},
    {"rules:\n"
     "\t- read=0\n",
     "x.yaml:2:1: this is a tab; YAML is indented with spaces only\n"
     "    \t- read=0\n"
     "    ^"},
    {"rules: []\n"
     "---\n"
     "rules: []\n",
     "x.yaml:2:1: a scenario file holds one document only\n"
     "    ---\n"
     "    ^"},
    {"? [a]\n"
     ": b\n",
     "x.yaml:1:3: a key must be a plain text\n"
     "    ? [a]\n"
     "      ^"},
    {"rules: \"\\xq\"\n", "x.yaml:1:11: did not find expected hexdecimal number\n"
                          "    rules: \"\\xq\"\n"
                          "              ^"},
    {"rules: []\n"
     "...\n"
     "foo\n",
     "x.yaml:3:1: did not find expected <document start>\n"
     "    foo\n"
     "    ^"},
    {"rules: {a\n", "x.yaml:2:1: did not find expected ',' or '}'\n"
                    "    \n"
                    "    ^"},
};

static void test_messages(void **state)
{
    for (size_t i = 0; i < COUNT_OF(broken); i++) {
        struct scenario *scenario = new_scenario();
        expect_error(scenario_add_yaml(scenario, "x.yaml", broken[i].text, strlen(broken[i].text)),
                     broken[i].message);
        scenario_free(scenario);
    }
}

static struct scenario *read_yaml(const char *text)
{
    struct scenario *scenario = new_scenario();
    must(scenario_add_yaml(scenario, "x.yaml", text, strlen(text)));
    return scenario;
}

static void expect_rules(const struct scenario *scenario, const char *const *texts, size_t count)
{
    assert_int_equal(scenario_rule_count(scenario), count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(scenario_rule(scenario, i).text, texts[i]);
}

static void test_everything(void **state)
{
    struct scenario *scenario =
        read_yaml("# a comment\n"
                  "rules: # before the triggers it uses\n"
                  "  - read=-1/EIO when count == 3 and @small\n"
                  "  - \"malloc=NULL/ENOMEM when random(1%)\"\n"
                  "  - read:error=EINTR:when=2+\n"
                  "  - function: [write, libc:pwrite]\n"
                  "    return: -1\n"
                  "    errno: ENOSPC\n"
                  "    when: >\n"
                  "      @late and\n"
                  "      once\n"
                  "  - {function: waitpid, library: libc, return: -1/ECHILD,\n"
                  "     out: {2: 0, '1:8+4': -1}, name: child}\n"
                  "  - {function: recv, short: true, delay: 5ms}\n"
                  "  - {function: recv, short: 7}\n"
                  "  - {function: mine, short: {argument: 2, limit: 9}}\n"
                  "  - {function: kill, signal: TERM}\n"
                  "  - {function: close, errno: EIO}\n"
                  "  - {function: sin, return: nan}\n"
                  "  - {function: fork, watch: yes}\n"
                  "triggers:\n"
                  "  small: arg(3) in 1..16\n"
                  "  late: time > 2s and not @small\n"
                  "seed: 0x2a\n");
    static const char *const texts[] = {
        "read=-1/EIO when count == 3 and @small",
        "malloc=NULL/ENOMEM when random(1%)",
        "read=-1/EINTR when count in 2..",
        "write=-1/ENOSPC when @late and once",
        "libc:pwrite=-1/ENOSPC when @late and once",
        "libc:waitpid=-1/ECHILD, out(2)=0, out(1:8+4)=-1",
        "recv=delay 5ms, short(argument: 3)",
        "recv=short(argument: 3) 7",
        "mine=short(argument: 2) 9",
        "kill=signal SIGTERM",
        "close=errno only EIO",
        "sin=nan",
        "fork=watch",
    };
    expect_rules(scenario, texts, COUNT_OF(texts));
    assert_string_equal(scenario_rule(scenario, 5).name, "child");
    assert_string_equal(scenario_rule(scenario, 5).library, "libc");
    uint64_t seed = 0;
    assert_true(scenario_seed(scenario, &seed));
    assert_int_equal(seed, 42);
    _cleanup_(plan_deinit) struct plan plan = compile_plan(scenario);
    assert_int_equal(plan.rules[3].once, 1);
    struct call call = {.count = 3, .arguments = {0, 0, 16}, .time_ns = 3000000000};
    assert_true(evaluate(&plan, 0, &call));
    assert_false(evaluate(&plan, 3, &call));
    call.arguments[2] = 17;
    assert_false(evaluate(&plan, 0, &call));
    assert_true(evaluate(&plan, 3, &call));
    scenario_free(scenario);
}

static void test_no_seed(void **state)
{
    struct scenario *scenario = read_yaml("rules: []\n");
    uint64_t seed = 7;
    assert_false(scenario_seed(scenario, &seed));
    assert_int_equal(seed, 7);
    assert_int_equal(scenario_rule_count(scenario), 0);
    _cleanup_(plan_deinit) struct plan plan = compile_plan(scenario);
    assert_int_equal(plan.header->rules.count, 0);
    scenario_free(scenario);
}

static void test_hostile(void **state)
{
    static const struct {
        const char *repeated;
        unsigned times;
    } cases[] = {{"[", 100000}, {"{a: ", 100000}, {"- ", 10000}, {"? ", 10000}, {"a: {", 1000}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        _cleanup_(buffer_deinit) struct buffer text = {0};
        for (unsigned k = 0; k < cases[i].times; k++)
            must(buffer_append(&text, cases[i].repeated, strlen(cases[i].repeated)));
        struct scenario *scenario = new_scenario();
        struct error *error = scenario_add_yaml(scenario, "x.yaml", text.data, text.size);
        assert_non_null(error);
        error_free(error);
        scenario_free(scenario);
    }
    struct scenario *scenario = new_scenario();
    static const char nul[] = "rules: [\"read=0\\0\"]\n";
    struct error *error = scenario_add_yaml(scenario, "x.yaml", nul, sizeof nul - 1);
    assert_non_null(error);
    assert_non_null(strstr(error_message(error), "NUL"));
    error_free(error);
    scenario_free(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_everything),
        cmocka_unit_test(test_no_seed),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
