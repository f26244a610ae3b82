// SPDX-License-Identifier: GPL-3.0-or-later
// The n-th allocation fails, for every n, once alone and once with all that follow: the readers and
// the compiler must not crash, must return an error (unless the C library helped itself, as
// vasprintf() does after a single failure), and must give back all they took.
#include "failing-memory.h"
#include "isa/need.h"
#include "scenario-help.h"

static const char yaml_text[] =
    "seed: 3\n"
    "plugins: [/bin/cat]\n"
    "triggers:\n"
    "  late: time > 2s and caller(main, ..., libx.so)\n"
    "rules:\n"
    "  - read=-1/EIO when count == 3 and @late\n"
    "  - {function: [write, 'libc:p*'], return: -1, errno: EIO, delay: 3ms, when: 'var(a->b[3]) == "
    "1'}\n"
    "  - {function: waitpid, out: {1: 0}, return: 1.5, name: x, when: \"plugin(cat, a: 'b c')\"}\n"
    "  - |\n"
    "    open,close:error=EIO:when=3+2\n";

static const char xml_text[] =
    "<?xml version='1.0'?>\n<scenario>\n"
    "<trigger id='a' class='CallStackTrigger'><args><frame><module>m</module>"
    "<offset>0x12</offset></frame></args></trigger>\n"
    "<trigger id='b' class='ReadPipe'><args><low>1</low><high>2</high></args></trigger>\n"
    "<function name='read' numargs='3' return='-1' errno='EIO'>"
    "<reftrigger ref='a'/><reftrigger ref='b' negate='true'/></function>\n"
    "<function name='write' return='unused' errno='unused'/>\n</scenario>\n";

static struct error *try_yaml(struct scenario *scenario)
{
    return scenario_add_yaml(scenario, "x.yaml", yaml_text, sizeof yaml_text - 1);
}

static struct error *try_xml(struct scenario *scenario)
{
    return scenario_add_xml(scenario, "x.xml", xml_text, sizeof xml_text - 1);
}

static struct error *try_specs(struct scenario *scenario)
{
    TRY(scenario_add_spec(scenario,
                          "libc:open=-1/EIO, delay 3ms when arg(1) ~ \"x\" or count < 3"));
    TRY(scenario_add_spec(scenario, "*alloc=NULL when after(close, within: 2) and stack(a, b)"));
    TRY(scenario_add_spec(scenario, "write=out(2:8)=1, short when remote(x) and once"));
    return scenario_add_spec(scenario, "read,write:error=EIO:when=2..8+3");
}

// Errors are made of memory, too.
static struct error *try_mistakes(struct scenario *scenario)
{
    static const char *const specs[] = {"read=-1 when cuont == 3", "read=-1/EI0", "read short 0",
                                        "read=-1 when once or 1"};
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        struct error *error = scenario_add_spec(scenario, specs[i]);
        assert_non_null(error);
        if (error == error_no_memory())
            return error;
        error_free(error);
    }
    static const char broken_yaml[] = "rules: [{funtion: read}]", broken_xml[] = "<function/>";
    struct error *error =
        scenario_add_yaml(scenario, "x.yaml", broken_yaml, sizeof broken_yaml - 1);
    assert_non_null(error);
    if (error == error_no_memory())
        return error;
    error_free(error);
    error = scenario_add_xml(scenario, "x.xml", broken_xml, sizeof broken_xml - 1);
    assert_non_null(error);
    if (error == error_no_memory())
        return error;
    error_free(error);
    return NULL;
}

static struct error *run(struct error *(*attempt)(struct scenario *scenario))
{
    struct scenario *scenario = NULL;
    TRY(scenario_new(&scenario));
    struct buffer plan = {0};
    struct error *error = attempt(scenario);
    if (error == NULL)
        error = scenario_compile(scenario, 1, &plan);
    buffer_deinit(&plan);
    scenario_free(scenario);
    return error;
}

static void fail_each(struct error *(*attempt)(struct scenario *scenario), bool keep_failing)
{
    persistent = keep_failing;
    unsigned long last = 0;
    for (unsigned long n = 1;; n++) {
        asked = 0;
        living = 0;
        fail_at = n;
        armed = true;
        struct error *error = run(attempt);
        armed = false;
        bool happened = asked >= n;
        if (!happened && error != NULL)
            fail_msg("without a failure: %s", error_message(error));
        if (happened && keep_failing && error == NULL)
            fail_msg("allocation %lu failed and nobody noticed", n);
        armed = true;
        error_free(error);
        armed = false;
#ifndef UNDER_ASAN // its strdup() and the like do not come by here; its leak check does the work
        assert_int_equal(living, 0);
#endif
        if (!happened)
            break;
        last = n;
    }
    assert_true(last > 10);
}

static void test_specs(void **state)
{
    fail_each(try_specs, false);
    fail_each(try_specs, true);
}

static void test_yaml(void **state)
{
    fail_each(try_yaml, false);
    fail_each(try_yaml, true);
}

static void test_xml(void **state)
{
    fail_each(try_xml, false);
    fail_each(try_xml, true);
}

static void test_mistakes(void **state)
{
    fail_each(try_mistakes, false);
    fail_each(try_mistakes, true);
}

int main(void)
{
    error_free(isa_need()); // a library that is loaded stays
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_specs),
        cmocka_unit_test(test_yaml),
        cmocka_unit_test(test_xml),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
