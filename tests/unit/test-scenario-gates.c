// SPDX-License-Identifier: GPL-3.0-or-later
// What a plan says of a condition before anybody evaluates it: which calls it can hold for at all,
// what is proven by then, and what the runtime has to watch.
#include "scenario-help.h"

#include <inttypes.h>

static void test_gates(void **state)
{
    static const struct {
        const char *text;
        uint64_t first, last, step;
    } cases[] = {
        {"count == 3", 3, 3, 1},
        {"3 == count", 3, 3, 1},
        {"count == 1 + 2", 3, 3, 1},
        {"count >= 5", 5, UINT64_MAX, 1},
        {"count > 5", 6, UINT64_MAX, 1},
        {"5 < count", 6, UINT64_MAX, 1},
        {"count <= 5", 1, 5, 1},
        {"count < 5", 1, 4, 1},
        {"count in 3..9", 3, 9, 1},
        {"count in 3..9+2", 3, 9, 2},
        {"count in 3..", 3, UINT64_MAX, 1},
        {"count in 3..+4", 3, UINT64_MAX, 4},
        {"count % 10 == 0", 10, UINT64_MAX, 10},
        {"count % 10 == 3", 3, UINT64_MAX, 10},
        {"count % 10 == 3 and count > 20", 23, UINT64_MAX, 10},
        {"count > 20 and count % 10 == 3", 23, UINT64_MAX, 10},
        {"count >= 2 and count <= 8 and arg(1) == 3", 2, 8, 1},
        {"arg(1) == 3 and (count >= 2 and count <= 8)", 2, 8, 1},
        {"count % 2 == 1 and count % 3 == 1", 1, UINT64_MAX, 2},
        {"count == 0", 1, 0, 1},
        {"count < 1", 1, 0, 1},
        {"count % 10 == 12", 1, 0, 1},
        {"count in 0..5", 1, 5, 1},
        {"count in -3..5+2", 1, 5, 1},
        // Open: not a conjunction, or not about a constant.
        {"count == 3 or arg(1) == 2", 1, UINT64_MAX, 1},
        {"not count == 3", 1, UINT64_MAX, 1},
        {"count != 3", 1, UINT64_MAX, 1},
        {"count == arg(1)", 1, UINT64_MAX, 1},
        {"count + 1 == 3", 1, UINT64_MAX, 1},
        {"random(0.5) and count == 3", 1, UINT64_MAX, 1},
        {"remote(x) and count == 3", 1, UINT64_MAX, 1},
        {"match == 2 and count == 3", 1, UINT64_MAX, 1},
        {"count == 3 and random(0.5)", 3, 3, 1},
        {"count >= 3 and match == 2", 3, UINT64_MAX, 1},
        {"after(close) and count == 3", 3, 3, 1},
        {"count > 9223372036854775807", 1, UINT64_MAX, 1},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char spec[256];
        snprintf(spec, sizeof spec, "f=0 when %s", cases[i].text);
        _cleanup_(plan_deinit) struct plan plan = compile_spec(spec);
        const struct wire_rule *rule = &plan.rules[0];
        bool is_never = cases[i].last == 0;
        if ((!is_never &&
             (rule->count_first != cases[i].first || rule->count_step != cases[i].step)) ||
            (is_never ? rule->count_first <= rule->count_last : rule->count_last != cases[i].last))
            fail_msg("%s: gate %" PRIu64 "..%" PRIu64 "+%" PRIu64, cases[i].text, rule->count_first,
                     rule->count_last, rule->count_step);
        // evaluate() checks that the gate lets every true call through.
        for (uint64_t count = 1; count < 60; count++) {
            struct call call = {.count = count,
                                .arguments = {count % 4},
                                .random = true,
                                .remote = true,
                                .after = true};
            evaluate(&plan, 0, &call);
        }
    }
}

static void test_site_gates(void **state)
{
    static const struct {
        const char *text;
        bool has_site, exact;
    } cases[] = {
        {"caller(main)", true, false},
        {"caller(prog+0x10)", true, true},
        {"caller(main, start)", true, false},
        {"count == 1 and caller(main)", true, false},
        {"stack(main)", false, false},
        {"not caller(main)", false, false},
        {"caller(main) or count == 1", false, false},
        {"random(0.5) and caller(main)", false, false},
        {"match == 1 and caller(main)", false, false},
        {"caller(main) and match == 1", true, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char spec[256];
        snprintf(spec, sizeof spec, "f=0 when %s", cases[i].text);
        _cleanup_(plan_deinit) struct plan plan = compile_spec(spec);
        assert_int_equal(plan.rules[0].site != WIRE_NONE, cases[i].has_site);
        assert_int_equal(plan.rules[0].site_exact, cases[i].exact);
    }
}

static bool has_op(const struct plan *plan, struct wire_span code, enum wire_op op)
{
    for (uint32_t i = 0; i < code.count; i++)
        if (plan->code[code.offset + i].op == op)
            return true;
    return false;
}

// A caller that a gate has asked for is not asked for again; where the gate asks less, it is.
static void test_proven_terms(void **state)
{
    static const struct {
        const char *text;
        uint32_t count; // instructions
        bool asks;
    } cases[] = {
        {"caller(main)", 0, false},
        {"caller(prog+0x10)", 0, false},
        {"caller(main) and arg(1) == 7", 3, false},
        {"arg(1) == 7 and caller(main)", 3, false},
        {"arg(1) == 7 and (caller(main) and arg(2) == 8)", 7, false},
        {"(caller(main) and arg(1) == 7) and arg(2) == 8", 7, false},
        {"caller(main) and caller(prog+0x10)", 1, true},
        {"caller(main, start) and arg(1) == 7", 5, true},
        {"stack(main) and arg(1) == 7", 5, true},
        {"caller(main) or arg(1) == 7", 5, true},
        {"random(0.5) and caller(main)", 3, true},
        {"not caller(main)", 2, true},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char spec[256];
        snprintf(spec, sizeof spec, "f=0 when %s", cases[i].text);
        _cleanup_(plan_deinit) struct plan plan = compile_spec(spec);
        assert_int_equal(plan.rules[0].code.count, cases[i].count);
        assert_int_equal(has_op(&plan, plan.rules[0].code, WIRE_OP_STACK), cases[i].asks);
    }
}

// Neighbours that differ in their gates only have the same code.
static void test_shared_code(void **state)
{
    struct scenario *scenario = new_scenario();
    must(scenario_add_spec(scenario, "f=0 when caller(prog+0x10) and arg(1) == 7 and arg(2) == 8"));
    must(scenario_add_spec(scenario, "f=0 when caller(prog+0x20) and arg(1) == 7 and arg(2) == 8"));
    must(scenario_add_spec(scenario, "f=0 when caller(prog+0x20) and arg(1) == 7 and arg(2) == 9"));
    must(scenario_add_spec(scenario, "f=0 when caller(prog+0x10) and arg(1) == 7 and arg(2) == 9"));
    must(scenario_add_spec(scenario, "f=0 when caller(prog+0x10)"));
    must(scenario_add_spec(scenario, "f=0 when after(g)"));
    must(scenario_add_spec(scenario, "f=0 when after(g)"));
    _cleanup_(plan_deinit) struct plan plan = compile_plan(scenario);
    const struct wire_rule *rules = plan.rules;
    assert_int_equal(rules[1].code.offset, rules[0].code.offset);
    assert_int_equal(rules[2].code.offset, rules[0].code.offset + rules[0].code.count);
    assert_int_equal(rules[3].code.offset, rules[2].code.offset);
    assert_int_equal(rules[4].code.count, 0);
    assert_int_not_equal(rules[6].code.offset, rules[5].code.offset); // windows of their own
    for (uint32_t i = 0; i < 4; i++)
        for (uint64_t second = 8; second < 10; second++) {
            struct call call = {.count = 1, .arguments = {7, second}};
            assert_int_equal(evaluate(&plan, i, &call), second == (i < 2 ? 8 : 9));
        }
    scenario_free(scenario);
}

static void test_flags(void **state)
{
    _cleanup_(plan_deinit) struct plan plan =
        compile_spec("f=0 when new_stack and holding_mutex and remote(x) and once");
    assert_int_equal(plan.rules[0].once, 1);
    assert_int_equal(plan.rules[0].new_stack, 1);
    assert_int_equal(plan.header->uses, WIRE_USE_MUTEX | WIRE_USE_NEW_STACK | WIRE_USE_REMOTE);
    _cleanup_(plan_deinit) struct plan other = compile_spec("f=0 when count == 1");
    assert_int_equal(other.rules[0].once, 0);
    assert_int_equal(other.header->uses, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gates),        cmocka_unit_test(test_site_gates),
        cmocka_unit_test(test_proven_terms), cmocka_unit_test(test_shared_code),
        cmocka_unit_test(test_flags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
