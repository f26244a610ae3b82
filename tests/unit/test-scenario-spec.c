// SPDX-License-Identifier: GPL-3.0-or-later
// Rules as written on the command line: actions, patterns, strace's spelling, and what the plan
// says.
#include "scenario-help.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/mman.h>

static void test_return_values(void **state)
{
    static const struct {
        const char *spec;
        int64_t value;
        int error; // -1: none
    } cases[] = {
        {"f=-1/EIO", -1, EIO},
        {"f=-1", -1, -1},
        {"f=0", 0, -1},
        {"f = 0x10 / 5", 16, 5},
        {"f=NULL/ENOMEM", 0, ENOMEM},
        {"f=true", 1, -1},
        {"f=false", 0, -1},
        {"f=EAGAIN", EAGAIN, -1},
        {"f=MAP_FAILED/ENOMEM", -1, ENOMEM},
        {"f=EOF", -1, -1},
        {"f=SIG_ERR", -1, -1},
        {"f=EAI_AGAIN", -3, -1},
        {"f=INVALID_SOCKET", -1, -1},
        {"f=void", 0, -1},
        {"f=-9223372036854775808", INT64_MIN, -1},
        {"f=18446744073709551615", -1, -1},
        {"f=-EIO", -EIO, -1},
        {"f=return -1/0", -1, 0},
        {"f return 7", 7, -1},
        {"f=-1, errno EIO", -1, EIO},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        _cleanup_(plan_deinit) struct plan plan = compile_spec(cases[i].spec);
        const struct wire_rule *rule = &plan.rules[0];
        assert_int_equal(rule->value_kind, WIRE_VALUE_INTEGER);
        assert_true((int64_t)rule->value[0] == cases[i].value);
        assert_int_equal(rule->actions, WIRE_RETURN | (cases[i].error >= 0 ? WIRE_ERRNO : 0));
        if (cases[i].error >= 0)
            assert_int_equal(rule->error, cases[i].error);
        assert_int_equal(rule->code.count, 0);
    }
}

static void test_floating_point(void **state)
{
    _cleanup_(plan_deinit) struct plan plain = compile_spec("f=-1.5");
    double number;
    memcpy(&number, plain.rules[0].value, sizeof number);
    assert_int_equal(plain.rules[0].value_kind, WIRE_VALUE_DOUBLE);
    assert_true(number == -1.5);
    _cleanup_(plan_deinit) struct plan narrow = compile_spec("f=0.25f");
    float small;
    memcpy(&small, narrow.rules[0].value, sizeof small);
    assert_int_equal(narrow.rules[0].value_kind, WIRE_VALUE_FLOAT);
    assert_true(small == 0.25f);
    _cleanup_(plan_deinit) struct plan wide = compile_spec("f=2.5L");
    long double large = 0;
    memcpy(&large, wide.rules[0].value, 10);
    assert_int_equal(wide.rules[0].value_kind, WIRE_VALUE_LONG_DOUBLE);
    assert_true(large == 2.5L);
    _cleanup_(plan_deinit) struct plan infinite = compile_spec("f=-inf/ERANGE");
    memcpy(&number, infinite.rules[0].value, sizeof number);
    assert_true(isinf(number) && number < 0);
    _cleanup_(plan_deinit) struct plan not_a_number = compile_spec("f=nanf");
    memcpy(&small, not_a_number.rules[0].value, sizeof small);
    assert_int_equal(not_a_number.rules[0].value_kind, WIRE_VALUE_FLOAT);
    assert_true(isnan(small));
    _cleanup_(plan_deinit) struct plan infinity = compile_spec("f=infL");
    assert_int_equal(infinity.rules[0].value_kind, WIRE_VALUE_LONG_DOUBLE);
}

static void test_other_actions(void **state)
{
    _cleanup_(plan_deinit) struct plan delay = compile_spec("read delay 50ms");
    assert_int_equal(delay.rules[0].actions, WIRE_DELAY);
    assert_int_equal(delay.rules[0].delay_ns, 50000000);
    _cleanup_(plan_deinit) struct plan both = compile_spec("read=delay 1.5s, -1/EIO");
    assert_int_equal(both.rules[0].actions, WIRE_DELAY | WIRE_RETURN | WIRE_ERRNO);
    assert_int_equal(both.rules[0].delay_ns, 1500000000);
    static const struct {
        const char *spec;
        int number;
    } signals[] = {
        {"f signal SIGTERM", SIGTERM}, {"f signal TERM", SIGTERM},  {"f signal 9", 9},
        {"f=signal USR1", SIGUSR1},    {"f signal SIGRTMIN+3", 37}, {"f signal SIGRTMAX-1", 63}};
    for (size_t i = 0; i < COUNT_OF(signals); i++) {
        _cleanup_(plan_deinit) struct plan plan = compile_spec(signals[i].spec);
        assert_int_equal(plan.rules[0].actions, WIRE_SIGNAL);
        assert_int_equal(plan.rules[0].signal, signals[i].number);
    }
    _cleanup_(plan_deinit) struct plan only = compile_spec("read errno only EINTR");
    assert_int_equal(only.rules[0].actions, WIRE_ERRNO);
    assert_int_equal(only.rules[0].error, EINTR);
    _cleanup_(plan_deinit) struct plan without = compile_spec("read errno EINTR");
    assert_int_equal(without.rules[0].actions, WIRE_ERRNO);
    _cleanup_(plan_deinit) struct plan watch = compile_spec("read=watch");
    assert_int_equal(watch.rules[0].actions, 0);
}

static void test_short(void **state)
{
    static const struct {
        const char *spec;
        unsigned argument;
        uint64_t limit;
    } cases[] = {
        {"read short", 2, 0},
        {"read=short 10", 2, 10},
        {"fread short", 2, 0},
        {"getrandom short 3", 1, 3},
        {"readv short", 2, 0},
        {"sendfile short", 3, 0},
        {"unknown short(argument: 2)", 1, 0},
        {"unknown short(argument: 6) 100", 5, 100},
        {"read short(argument: 1)", 0, 0},
        {"read short when count == 2", 2, 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        _cleanup_(plan_deinit) struct plan plan = compile_spec(cases[i].spec);
        assert_int_equal(plan.rules[0].actions, WIRE_SHORT);
        assert_int_equal(plan.rules[0].short_argument, cases[i].argument);
        assert_int_equal(plan.rules[0].short_limit, cases[i].limit);
    }
}

static void test_outs(void **state)
{
    _cleanup_(plan_deinit) struct plan plan =
        compile_spec("waitpid=out(2)=0, -1/ECHILD, out(1:8+16)=-5, out(3:1)=255, out(4:2)=EIO");
    const struct wire_out *outs = plan_at(&plan, plan.header->outs);
    assert_int_equal(plan.rules[0].actions, WIRE_OUT | WIRE_RETURN | WIRE_ERRNO);
    assert_int_equal(plan.rules[0].outs.count, 4);
    assert_int_equal(outs[0].argument, 1);
    assert_int_equal(outs[0].width, 4);
    assert_int_equal(outs[0].value, 0);
    assert_int_equal(outs[1].argument, 0);
    assert_int_equal(outs[1].width, 8);
    assert_int_equal(outs[1].offset, 16);
    assert_true((int64_t)outs[1].value == -5);
    assert_int_equal(outs[2].value, 255);
    assert_int_equal(outs[3].value, EIO);
}

static void test_patterns(void **state)
{
    struct scenario *scenario = new_scenario();
    must(scenario_add_spec(scenario, "libc:read=-1"));
    must(scenario_add_spec(scenario, "libssl*:SSL_*=-1"));
    must(scenario_add_spec(scenario, "*alloc=0"));
    must(scenario_add_spec(scenario, "libc:\"error\"=0"));
    must(scenario_add_spec(scenario, "libc:read=-2 when count == 1"));
    must(scenario_add_spec(scenario, "read=-2"));
    struct scenario_rule_view view = scenario_rule(scenario, 0);
    assert_string_equal(view.library, "libc");
    assert_string_equal(view.function, "read");
    assert_null(view.name);
    assert_null(scenario_rule(scenario, 2).library);
    assert_string_equal(scenario_rule(scenario, 3).function, "error");

    assert_true(scenario_rule_covers(scenario, 0, "/lib/x86_64-linux-gnu/libc.so.6", "read"));
    assert_false(scenario_rule_covers(scenario, 0, "/lib/libcrypt.so.1", "read"));
    assert_false(scenario_rule_covers(scenario, 0, "/lib/libc.so.6", "read2"));
    assert_true(scenario_rule_covers(scenario, 1, "/usr/lib/libssl.so.3", "SSL_read"));
    assert_false(scenario_rule_covers(scenario, 1, "/usr/lib/libssh.so.3", "SSL_read"));
    assert_true(scenario_rule_covers(scenario, 2, "anything", "malloc"));
    assert_false(scenario_rule_covers(scenario, 2, "anything", "mallocs"));

    _cleanup_(plan_deinit) struct plan plan = compile_plan(scenario);
    assert_int_equal(plan.header->patterns.count, 5); // libc:read is one for two rules
    assert_int_equal(plan.header->globs.count, 2);
    const uint32_t *refs = plan_at(&plan, plan.header->rule_refs);
    assert_int_equal(plan.patterns[0].rule_refs.count, 2);
    assert_int_equal(refs[plan.patterns[0].rule_refs.offset], 0);
    assert_int_equal(refs[plan.patterns[0].rule_refs.offset + 1], 4);
    assert_int_equal(plan.patterns[0].arguments, 3);
    assert_string_equal(plan.strings + plan.patterns[1].name, "SSL_*");
    assert_string_equal(plan.strings + plan.patterns[1].library, "libssl*");
    scenario_free(scenario);
}

// Finds a function the way the runtime does.
static bool hash_finds(const struct plan *plan, const char *name, uint32_t pattern)
{
    const uint32_t *table = plan_at(plan, plan->header->exact_hash);
    uint32_t mask = plan->header->exact_hash.count - 1;
    for (uint32_t slot = wire_hash(name) & mask; table[slot] != 0; slot = (slot + 1) & mask)
        if (table[slot] - 1 == pattern)
            return true;
    return false;
}

static void test_hash_finds_all(void **state)
{
    // Many functions, and many libraries with the same function, which all want the same slot.
    struct scenario *scenario = new_scenario();
    for (unsigned i = 0; i < 3000; i++) {
        char spec[64];
        snprintf(spec, sizeof spec, i % 3 == 0 ? "lib%u:read=0" : "function_%u=0", i);
        must(scenario_add_spec(scenario, spec));
    }
    _cleanup_(plan_deinit) struct plan plan = compile_plan(scenario);
    for (uint32_t i = 0; i < plan.header->patterns.count; i++)
        assert_true(hash_finds(&plan, plan.strings + plan.patterns[i].name, i));
    scenario_free(scenario);
}

static void test_texts(void **state)
{
    static const struct {
        const char *spec, *text, *action, *condition;
    } cases[] = {
        {"  read=-1/EIO   when  count == 3  ", "read=-1/EIO   when  count == 3", "-1/EIO",
         "count == 3"},
        {"read short", "read short", "short", ""},
        {"read=-1\n when\n count == 1", "read=-1  when  count == 1", "-1", "count == 1"},
        {"read:error=EIO", "read=-1/EIO", "-1/EIO", ""},
        {"read:error=EIO:when=3", "read=-1/EIO when count == 3", "-1/EIO", "count == 3"},
        {"read:error=5:when=3+", "read=-1/EIO when count in 3..", "-1/EIO", "count in 3.."},
        {"read:error=EIO:when=3+2", "read=-1/EIO when count in 3..+2", "-1/EIO", "count in 3..+2"},
        {"read:error=EIO:when=3..9", "read=-1/EIO when count in 3..9", "-1/EIO", "count in 3..9"},
        {"read:error=EIO:when=3..9+2", "read=-1/EIO when count in 3..9+2", "-1/EIO",
         "count in 3..9+2"},
        {"read:when=2:retval=7", "read=7 when count == 2", "7", "count == 2"},
        {"read:retval=-1:signal=USR1", "read=-1, signal SIGUSR1", "-1, signal SIGUSR1", ""},
        {"read:delay_enter=250000", "read=delay 250ms", "delay 250ms", ""},
        {"read:delay_enter=3s:error=EINTR", "read=-1/EINTR, delay 3s", "-1/EINTR, delay 3s", ""},
        {"read:delay_enter=7", "read=delay 7us", "delay 7us", ""},
        {"*alloc:error=ENOMEM", "*alloc=NULL/ENOMEM", "NULL/ENOMEM", ""},
        {"malloc:error=ENOMEM", "malloc=NULL/ENOMEM", "NULL/ENOMEM", ""},
        {"fopen:error=EMFILE:when=2", "fopen=NULL/EMFILE when count == 2", "NULL/EMFILE",
         "count == 2"},
        {"mmap:error=ENOMEM", "mmap=MAP_FAILED/ENOMEM", "MAP_FAILED/ENOMEM", ""},
        {"fwrite:error=ENOSPC", "fwrite=0/ENOSPC", "0/ENOSPC", ""},
        {"fclose:error=EIO", "fclose=EOF/EIO", "EOF/EIO", ""},
        {"pthread_create:error=EAGAIN", "pthread_create=EAGAIN", "EAGAIN", ""},
        {"pthread_mutex_*:error=EINVAL", "pthread_mutex_*=EINVAL", "EINVAL", ""},
        {"pthread_getname_np:error=3333", "pthread_getname_np=3333", "3333", ""},
        {"posix_memalign:error=ENOMEM", "posix_memalign=ENOMEM", "ENOMEM", ""},
        {"nosuch*:error=EIO", "nosuch*=-1/EIO", "-1/EIO", ""},
        {"fput?:error=EIO", "fput?=EOF/EIO", "EOF/EIO", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct scenario *scenario = new_scenario();
        must(scenario_add_spec(scenario, cases[i].spec));
        assert_int_equal(scenario_rule_count(scenario), 1);
        struct scenario_rule_view view = scenario_rule(scenario, 0);
        assert_string_equal(view.text, cases[i].text);
        assert_string_equal(view.action, cases[i].action);
        assert_string_equal(view.condition, cases[i].condition);
        // The native text means the same.
        struct scenario *again = new_scenario();
        must(scenario_add_spec(again, view.text));
        _cleanup_(plan_deinit) struct plan first = compile_plan(scenario);
        _cleanup_(plan_deinit) struct plan second = compile_plan(again);
        struct wire_rule a = first.rules[0], b = second.rules[0];
        assert_int_equal(a.actions, b.actions);
        assert_true(a.value[0] == b.value[0]);
        assert_int_equal(a.error, b.error);
        assert_int_equal(a.delay_ns, b.delay_ns);
        assert_int_equal(a.code.count, b.code.count);
        assert_true(a.count_first == b.count_first && a.count_last == b.count_last);
        scenario_free(again);
        scenario_free(scenario);
    }
}

static void test_strace_lists(void **state)
{
    struct scenario *scenario = new_scenario();
    must(scenario_add_spec(scenario, "read,malloc,w*:error=EIO:when=2"));
    assert_int_equal(scenario_rule_count(scenario), 3);
    assert_string_equal(scenario_rule(scenario, 0).text, "read=-1/EIO when count == 2");
    assert_string_equal(scenario_rule(scenario, 1).text, "malloc=NULL/EIO when count == 2");
    assert_string_equal(scenario_rule(scenario, 2).function, "w*");
    scenario_free(scenario);
}

static void test_watch_and_after(void **state)
{
    struct scenario *scenario = new_scenario();
    must(scenario_add_spec(scenario, "close=-1/EIO when after(libc:read, within: 2 calls)"));
    must(scenario_add_spec(scenario,
                           "close=-1/EIO when after(libc:read) and after(libc:read, within: 1)"));
    _cleanup_(plan_deinit) struct plan plan = compile_plan(scenario);
    const struct wire_after *afters = plan_at(&plan, plan.header->afters);
    assert_int_equal(plan.header->afters.count, 2);
    assert_int_equal(afters[0].rule, 0);
    assert_int_equal(afters[1].rule, 1);
    assert_string_equal(plan.strings + plan.patterns[afters[0].pattern].name, "read");
    assert_int_equal(plan.patterns[afters[0].pattern].rule_refs.count, 0);
    assert_int_equal(plan.code[0].op, WIRE_OP_AFTER);
    assert_int_equal(plan.code[0].c, 2);
    scenario_free(scenario);
}

static void test_many_rules(void **state)
{
    struct scenario *scenario = new_scenario();
    char spec[64];
    for (unsigned i = 0; i < 100000; i++) {
        snprintf(spec, sizeof spec, "read=-1/EIO when count == %u", i + 1);
        must(scenario_add_spec(scenario, spec));
    }
    _cleanup_(plan_deinit) struct plan plan = compile_plan(scenario);
    assert_int_equal(plan.header->rules.count, 100000);
    assert_int_equal(plan.header->patterns.count, 1);
    assert_int_equal(plan.rules[99999].count_first, 100000);
    scenario_free(scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_return_values),  cmocka_unit_test(test_floating_point),
        cmocka_unit_test(test_other_actions),  cmocka_unit_test(test_short),
        cmocka_unit_test(test_outs),           cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_hash_finds_all), cmocka_unit_test(test_texts),
        cmocka_unit_test(test_strace_lists),   cmocka_unit_test(test_watch_and_after),
        cmocka_unit_test(test_many_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
