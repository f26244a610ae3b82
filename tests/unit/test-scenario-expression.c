// SPDX-License-Identifier: GPL-3.0-or-later
// The expression language: what conditions mean, and how operators bind.
#include "scenario-help.h"

#include <inttypes.h>

static void test_arithmetic_and_precedence(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"1 + 2 * 3", 7},
        {"(1 + 2) * 3", 9},
        {"10 - 3 - 2", 5},
        {"100 / 5 / 2", 10},
        {"7 % 4 * 2", 6},
        {"-3 + 5", 2},
        {"- -3", 3},
        {"~0", -1},
        {"1 << 2 + 1", 8},
        {"-16 >> 2", -4},
        {"1 | 2 ^ 3 & 2", 1 | (2 ^ (3 & 2))},
        {"6 & 3 == 2", 1}, // unlike C: & binds tighter than ==
        {"1 | 4 == 5", 1},
        {"4 ^ 1 == 5", 1},
        {"!3", 0},
        {"!0 + 1", 2},     // ! binds like in C
        {"not 3 == 4", 1}, // `not` binds looser than comparisons
        {"not 1 or 1", 1},
        {"1 or 0 and 0", 1},
        {"(1 or 0) and 0", 0},
        {"0 || 1 && 1", 1},
        {"2 == 2", 1},
        {"2 != 2", 0},
        {"2 < 3", 1},
        {"3 <= 2", 0},
        {"3 > 2", 1},
        {"2 >= 3", 0},
        {"0 + 0x10", 16},
        {"0 + 010", 8},
        {"0 + 0xffffffffffffffff", -1},
        {"0 + 9223372036854775807", INT64_MAX},
        {"0 + 2s", 2000000000},
        {"0 + 50ms", 50000000},
        {"0 + 3us", 3000},
        {"0 + 7ns", 7},
        {"0 + 1.5s", 1500000000},
        {"0 + 0.5ms", 500000},
        {"0 + EIO", 5},
        {"O_CREAT | O_EXCL", 0300},
        {"0 + SIGKILL", 9},
        {"0 + F_GETLK", 5},
        {"0 + NULL", 0},
        {"0 + true", 1},
        {"5 in 1..10", 1},
        {"0 in 1..10", 0},
        {"10 in 1..10", 1},
        {"11 in 1..10", 0},
        {"7 in 3..10+2", 1},
        {"8 in 3..10+2", 0},
        {"8 in 3..", 1},
        {"2 in 3..", 0},
        {"9 in 3..+3", 1},
        {"10 in 3..+3", 0},
        {"-5 in -10..-1", 1},
        {"3 in (1+1)..(2*2)", 1},
        {"-9223372036854775807 - 1", INT64_MIN},
        {"(-9223372036854775807 - 1) / -1", INT64_MIN},
        {"(-9223372036854775807 - 1) % -1", 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct call call = {.count = 1};
        int64_t value = evaluate_text(cases[i].text, &call);
        if (value != cases[i].value)
            fail_msg("%s is %" PRId64 ", expected %" PRId64, cases[i].text, value, cases[i].value);
    }
}

// The same, with operands that are only known at run time, so that the code is used and not the
// folding of constants.
static void test_run_time_arithmetic(void **state)
{
    struct call call = {.count = 7, .arguments = {12, (uint64_t)-3, 0xffffffff80000001u, 5}};
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"arg(1) + arg(2) * arg(4)", -3},
        {"arg(1) - count - 1", 4},
        {"arg(1) / arg(4)", 2},
        {"arg(1) % arg(4)", 2},
        {"arg(1) & arg(4)", 4},
        {"arg(1) | arg(4)", 13},
        {"arg(1) ^ arg(4)", 9},
        {"arg(1) << arg(4)", 384},
        {"arg(2) >> 1", -2},
        {"-arg(1)", -12},
        {"~arg(1)", -13},
        {"!arg(1)", 0},
        {"arg(3).i32", INT32_MIN + 1},
        {"arg(3).u32", 0x80000001u},
        {"arg(3).i16", 1},
        {"arg(3).u16", 1},
        {"arg(3).i8", 1},
        {"arg(2).u8", 253},
        {"arg(2).i8", -3},
        {"arg(2).u16", 65533},
        {"arg(2).i64", -3},
        {"arg(2).u64", -3},
        {"(arg(1) and arg(2)) + 1", 2}, // a truth value as a number is 0 or 1
        {"(arg(5) or arg(2)) * 10", 10},
        {"arg(5) / arg(6)", 0}, // division by zero: false
        {"arg(1) / arg(6) or 1", 0},
        {"arg(1) in 12..12", 1},
        {"arg(1) in arg(4)..20", 1},
        {"arg(1) in arg(4)..11", 0},
        {"arg(1) in 2..+5", 1},
        {"arg(1) in 2..+3", 0},
        {"count == 7 and arg(1) == 12 and arg(4) == 5", 1},
        {"count == 7 and (arg(1) == 12 and arg(4) == 6)", 0},
        {"count == 8 or (arg(1) == 12 and (arg(4) == 6 or arg(2) < 0))", 1},
        {"not (count == 7 and arg(1) == 13)", 1},
        {"not not count == 7", 1},
        {"count == 7 and not count == 8", 1},
        {"7 == count", 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t value = evaluate_text(cases[i].text, &call);
        if (value != cases[i].value)
            fail_msg("%s is %" PRId64 ", expected %" PRId64, cases[i].text, value, cases[i].value);
    }
}

static void test_triggers(void **state)
{
    struct call call = {.count = 2,
                        .arguments = {(uintptr_t) "/etc/passwd", 4, 100, (uintptr_t) "a*b\\"},
                        .time_ns = 2500000000,
                        .thread = 3,
                        .process = 1,
                        .mutexes = 2,
                        .thread_name = "worker-7",
                        .process_name = "git",
                        .fd_path = "/var/log/x",
                        .fd_tests = 1u << WIRE_FD_PIPE | 1u << WIRE_FD_NONBLOCKING,
                        .stacks = 1,
                        .is_new_stack = true,
                        .variables = {5, 5}};
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"arg(1) == \"/etc/passwd\"", 1},
        {"\"/etc/passwd\" == arg(1)", 1},
        {"arg(1) == \"/etc/*\"", 0},
        {"arg(1) ~ \"/etc/*\"", 1},
        {"arg(1) !~ \"/etc/*\"", 0},
        {"arg(1) != \"x\"", 1},
        {"path(1) ~ '/etc/*'", 1},
        {"arg(4) == \"a*b\\\\\"", 1}, // a*b and a backslash
        {"arg(4) == \"a\\*b\\\\\"", 1},
        {"arg(4) ~ \"a\\*b\\\\\"", 1},
        {"arg(4) ~ \"\\*b*\"", 0},
        {"arg(4) ~ \"a\\?b*\"", 0},
        {"arg(4) ~ \"a?b?\"", 1},
        {"time > 2s", 1},
        {"time in 1s..2s", 0},
        {"thread == 3", 1},
        {"thread(3)", 1},
        {"thread(2)", 0},
        {"thread(\"worker-*\")", 1},
        {"thread(worker*)", 1},
        {"thread ~ \"worker?7\"", 1},
        {"thread == \"worker\"", 0},
        {"process(1)", 1},
        {"process(git)", 1},
        {"process != 1", 0},
        {"process ~ \"g*\"", 1},
        {"holding_mutex", 2},
        {"holding_mutex == 2", 1},
        {"not holding_mutex", 0},
        {"fd(2).pipe", 1},
        {"fd(2).socket", 0},
        {"fd(2).nonblocking and fd(2) == 4", 1},
        {"once", 1},
        {"new_stack", 1},
        {"random(1)", 0}, // this call's draw says no
        {"caller(main)", 1},
        {"var(a) == var(b)", 1},
        {"var(a) + 1 == 6", 1},
        {"remote(x)", 0},
        {"after(close)", 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t value = evaluate_text(cases[i].text, &call);
        if (value != cases[i].value)
            fail_msg("%s is %" PRId64 ", expected %" PRId64, cases[i].text, value, cases[i].value);
    }
}

static void test_short_circuit(void **state)
{
    char directory[] = "/tmp/ordeal-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/p.so", directory);
    write_plugin(path);
    struct scenario *scenario = new_scenario();
    must(scenario_add_plugin(scenario, path));
    must(scenario_add_spec(scenario, "f=0 when count == 2 and plugin(p)"));
    must(scenario_add_spec(scenario, "f=0 when count == 2 or plugin(p)"));
    must(scenario_add_spec(scenario, "f=0 when plugin(p) and count == 2"));
    _cleanup_(plan_deinit) struct plan plan = compile_plan(scenario);
    static const unsigned asked[][3] = {{0, 1, 1}, {1, 0, 1}};
    for (uint64_t count = 1; count <= 2; count++)
        for (size_t rule = 0; rule < 3; rule++) {
            struct call call = {.count = count};
            evaluate(&plan, rule, &call);
            assert_int_equal(call.plugin_calls, asked[count - 1][rule]);
        }
    // A plug-in must see every call: what stands right of it is no gate.
    assert_int_equal(plan.rules[0].count_first, 2);
    assert_int_equal(plan.rules[2].count_first, 1);
    assert_true(plan.rules[2].count_last == UINT64_MAX);
    scenario_free(scenario);
    unlink(path);
    rmdir(directory);
}

static void test_random_probability(void **state)
{
    static const struct {
        const char *text;
        uint64_t chance;
    } cases[] = {
        {"random(0)", 0},
        {"random(1)", UINT64_MAX},
        {"random(100%)", UINT64_MAX},
        {"random(0.5)", 1ull << 63},
        {"random(50%)", 1ull << 63},
        {"random(25e-2)", 1ull << 62},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char spec[64];
        snprintf(spec, sizeof spec, "f=0 when %s", cases[i].text);
        _cleanup_(plan_deinit) struct plan plan = compile_spec(spec);
        assert_int_equal(plan.code[0].op, WIRE_OP_RANDOM);
        assert_true(plan.code[0].c == cases[i].chance);
    }
}

// Random trees, fully parenthesised: the code must compute what the tree means.
static uint64_t seed = 88172645463325252ull;
static unsigned draw(unsigned limit)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed % limit);
}

static int64_t generate(struct buffer *text, const struct call *call, unsigned depth, bool *broken)
{
    static const struct {
        const char *text;
        unsigned op;
    } operators[] = {{"+", WIRE_OP_ADD},
                     {"-", WIRE_OP_SUBTRACT},
                     {"*", WIRE_OP_MULTIPLY},
                     {"/", WIRE_OP_DIVIDE},
                     {"%", WIRE_OP_REMAINDER},
                     {"&", WIRE_OP_AND},
                     {"|", WIRE_OP_OR},
                     {"^", WIRE_OP_XOR},
                     {"==", WIRE_OP_EQUAL},
                     {"<", WIRE_OP_LESS},
                     {"<=", WIRE_OP_LESS_EQUAL},
                     {">", WIRE_OP_GREATER},
                     {">=", WIRE_OP_GREATER_EQUAL},
                     {"!=", WIRE_OP_NOT_EQUAL},
                     {"<<", WIRE_OP_SHIFT_LEFT},
                     {">>", WIRE_OP_SHIFT_RIGHT}};
    if (depth == 0 || draw(5) == 0) {
        unsigned which = draw(4);
        if (which == 0) {
            must(buffer_printf(text, "count"));
            return (int64_t)call->count;
        }
        must(buffer_printf(text, "arg(%u)", which));
        return (int64_t)call->arguments[which - 1];
    }
    bool ignored = false;
    unsigned kind = draw(20);
    if (kind < 2) {
        must(buffer_printf(text, kind == 0 ? "(not " : "(~"));
        int64_t value = generate(text, call, depth - 1, broken);
        must(buffer_printf(text, ")"));
        return kind == 0 ? value == 0 : ~value;
    }
    must(buffer_printf(text, "("));
    int64_t left = generate(text, call, depth - 1, broken);
    if (kind < 6) {
        bool is_and = kind < 4;
        must(buffer_printf(text, is_and ? " and " : " or "));
        bool skipped = is_and ? left == 0 : left != 0;
        int64_t right = generate(text, call, depth - 1, skipped ? &ignored : broken);
        must(buffer_printf(text, ")"));
        return is_and ? left != 0 && right != 0 : left != 0 || right != 0;
    }
    unsigned op = draw(COUNT_OF(operators));
    must(buffer_printf(text, " %s ", operators[op].text));
    int64_t right = generate(text, call, depth - 1, broken);
    must(buffer_printf(text, ")"));
    return binary(operators[op].op, left, right, broken);
}

static void test_random_trees(void **state)
{
    for (unsigned round = 0; round < 2000; round++) {
        struct call call = {.count = draw(9) + 1, .arguments = {draw(5), draw(100), draw(3)}};
        _cleanup_(buffer_deinit) struct buffer text = {0};
        bool broken = false;
        int64_t expected = generate(&text, &call, 5, &broken);
        int64_t value = evaluate_text(text.data, &call);
        if ((value != 0) != (expected != 0 && !broken))
            fail_msg("%s is %" PRId64 ", expected %" PRId64, text.data, value, expected);
    }
}

static void test_stacks_and_queries(void **state)
{
    struct scenario *scenario = new_scenario();
    must(scenario_add_spec(scenario,
                           "f=0 when stack(inner, mid*, ..., libx.so.1, prog:, module:other, "
                           "lib:fn, file.c:12, libz.so:dir/a.c:7, \"my prog\"+0x1f, bin/x+16, "
                           "ns::fn, module:fn2:)"));
    static const struct {
        enum scenario_query_kind kind;
        const char *module, *function, *file;
        unsigned line;
        uint64_t offset;
    } expected[] = {
        {SCENARIO_QUERY_FUNCTION, NULL, "inner", NULL, 0, 0},
        {SCENARIO_QUERY_FUNCTION, NULL, "mid*", NULL, 0, 0},
        {SCENARIO_QUERY_MODULE, "libx.so.1", NULL, NULL, 0, 0},
        {SCENARIO_QUERY_MODULE, "prog", NULL, NULL, 0, 0},
        {SCENARIO_QUERY_MODULE, "other", NULL, NULL, 0, 0},
        {SCENARIO_QUERY_FUNCTION, "lib", "fn", NULL, 0, 0},
        {SCENARIO_QUERY_LINE, NULL, NULL, "file.c", 12, 0},
        {SCENARIO_QUERY_LINE, "libz.so", NULL, "dir/a.c", 7, 0},
        {SCENARIO_QUERY_SITE, "my prog", NULL, NULL, 0, 0x1f},
        {SCENARIO_QUERY_SITE, "bin/x", NULL, NULL, 0, 16},
        {SCENARIO_QUERY_FUNCTION, NULL, "ns::fn", NULL, 0, 0},
    };
    assert_true(scenario_query_count(scenario) >= COUNT_OF(expected));
    for (size_t i = 0; i < COUNT_OF(expected); i++) {
        const struct scenario_query *query = scenario_query(scenario, i);
        assert_int_equal(query->kind, expected[i].kind);
        assert_int_equal(query->line, expected[i].line);
        assert_int_equal(query->offset, expected[i].offset);
        const char *pairs[][2] = {{query->module, expected[i].module},
                                  {query->function, expected[i].function},
                                  {query->file, expected[i].file}};
        for (size_t k = 0; k < 3; k++) {
            assert_int_equal(pairs[k][0] == NULL, pairs[k][1] == NULL);
            if (pairs[k][0] != NULL)
                assert_string_equal(pairs[k][0], pairs[k][1]);
        }
    }
    // Equal frames share a query, and the gap is in its place.
    size_t before = scenario_query_count(scenario);
    must(scenario_add_spec(scenario, "g=0 when caller(inner, ..., ns::fn)"));
    assert_int_equal(scenario_query_count(scenario), before);
    _cleanup_(plan_deinit) struct plan plan = compile_plan(scenario);
    const struct wire_stack *stacks = plan_at(&plan, plan.header->stacks);
    const uint32_t *items = plan_at(&plan, plan.header->stack_items);
    assert_int_equal(plan.header->stacks.count, 2);
    assert_int_equal(stacks[0].anchored, 0);
    assert_int_equal(items[2], WIRE_STACK_GAP);
    assert_int_equal(stacks[1].anchored, 1);
    assert_int_equal(stacks[1].items.count, 3);
    assert_int_equal(items[stacks[1].items.offset], 0);
    assert_int_equal(items[stacks[1].items.offset + 1], WIRE_STACK_GAP);
    scenario_free(scenario);
}

static void test_variables(void **state)
{
    struct scenario *scenario = new_scenario();
    must(scenario_add_spec(scenario, "f=0 when var(a) == var( *lib-x.so!fn::p->next.list[3] ) and "
                                     "var((*q).x) == var(a) and var(ns::fn::y)"));
    assert_int_equal(scenario_variable_count(scenario), 4);
    const struct scenario_variable *plain = scenario_variable(scenario, 0);
    assert_string_equal(plain->name, "a");
    assert_int_equal(plain->step_count, 0);
    const struct scenario_variable *full = scenario_variable(scenario, 1);
    assert_string_equal(full->name, "p");
    assert_string_equal(full->function, "fn");
    assert_string_equal(full->module, "*lib-x.so"); // everything before the mark is the module
    assert_int_equal(full->step_count, 3);
    assert_int_equal(full->steps[0].kind, SCENARIO_STEP_ARROW);
    assert_string_equal(full->steps[0].name, "next");
    assert_int_equal(full->steps[1].kind, SCENARIO_STEP_MEMBER);
    assert_int_equal(full->steps[2].kind, SCENARIO_STEP_INDEX);
    assert_int_equal(full->steps[2].index, 3);
    const struct scenario_variable *deref = scenario_variable(scenario, 2);
    assert_string_equal(deref->name, "q");
    assert_int_equal(deref->steps[0].kind, SCENARIO_STEP_DEREFERENCE);
    assert_int_equal(deref->steps[1].kind, SCENARIO_STEP_MEMBER);
    const struct scenario_variable *nested = scenario_variable(scenario, 3);
    assert_string_equal(nested->function, "ns::fn");
    assert_string_equal(nested->name, "y");
    scenario_free(scenario);
}

static void test_argument_types(void **state)
{
    static const struct {
        const char *spec;
        unsigned type;
    } cases[] = {
        {"read=0 when arg(1) == 0", WIRE_ARG_I32},    {"read=0 when arg(3) == 0", WIRE_ARG_U64},
        {"chmod=0 when arg(2) == 0", WIRE_ARG_U32},   {"lseek=0 when arg(2) == 0", WIRE_ARG_I64},
        {"unknown=0 when arg(2) == 0", WIRE_ARG_I64}, {"read=0 when arg(3).i8 == 0", WIRE_ARG_I8},
        {"unknown=0 when fd(2) == 0", WIRE_ARG_I32},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        _cleanup_(plan_deinit) struct plan plan = compile_spec(cases[i].spec);
        assert_int_equal(plan.code[0].op, WIRE_OP_ARGUMENT);
        assert_int_equal(plan.code[0].b, cases[i].type);
    }
    // path(n): by descriptor or by path.
    _cleanup_(plan_deinit) struct plan by_fd = compile_spec("read=0 when path(1) == \"/x\"");
    assert_int_equal(by_fd.code[1].op, WIRE_OP_FD_PATH);
    _cleanup_(plan_deinit) struct plan by_path = compile_spec("openat=0 when path(2) == \"/x\"");
    assert_int_equal(by_path.code[1].op, WIRE_OP_PATH);
    _cleanup_(plan_deinit) struct plan unknown = compile_spec("f=0 when path(2) == \"/x\"");
    assert_int_equal(unknown.code[1].op, WIRE_OP_PATH);
    assert_int_equal(unknown.patterns[0].arguments, 2);
    assert_int_equal(unknown.patterns[0].string_arguments, 2);
    // A FILE leads to a descriptor, where the function is known to take one.
    static const char *const streams[] = {
        "fwrite=0 when path(4) == \"/x\"", "fclose=0 when path(1) == \"/x\"",
        "_IO_file_write=0 when fd(1).file", "fprintf=0 when fd(1) == 2"};
    for (size_t i = 0; i < COUNT_OF(streams); i++) {
        _cleanup_(plan_deinit) struct plan plan = compile_spec(streams[i]);
        assert_int_equal(plan.code[0].b, WIRE_ARG_I64);
        assert_int_equal(plan.code[1].op, WIRE_OP_STREAM);
        assert_true((plan.header->uses & WIRE_USE_STREAMS) != 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic_and_precedence),
        cmocka_unit_test(test_run_time_arithmetic),
        cmocka_unit_test(test_triggers),
        cmocka_unit_test(test_short_circuit),
        cmocka_unit_test(test_random_probability),
        cmocka_unit_test(test_random_trees),
        cmocka_unit_test(test_stacks_and_queries),
        cmocka_unit_test(test_variables),
        cmocka_unit_test(test_argument_types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
