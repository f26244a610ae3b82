// SPDX-License-Identifier: GPL-3.0-or-later
// Tests titles and commands of findings, the choice of their example, and the sentence about a
// changed program.
#include "base/cleanup.h"
#include "base/secrets.h"
#include "campaign/finding.h"
#include "campaign/subject.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void ok(struct error *error)
{
    if (error != NULL)
        fail_msg("%s", error_message(error));
}

static struct error *reproduce(void *self, const char *spec, uint64_t seed, uint64_t timeout_ns,
                               char **ret_command)
{
    *ret_command = strdup("ordeal run");
    return NULL;
}

// Describes a fault as the real injectors do.
static struct error *describe(void *self, const char *fault, const struct injection *injection,
                              struct buffer *text)
{
    const char *name = strncmp(fault, "SIG", 3) == 0 ? "signal" : "library";
    return injector_find(name)->describe(NULL, fault, NULL, text);
}

static const struct injector plain = {.name = "plain", .describe = describe};
static const struct injector reproducing = {.name = "reproducing", .reproduce = reproduce};

struct example {
    struct definition definition;
    struct engine_result result;
    struct injection injection;
    char *words[2];
};

static void example_start(struct example *example, enum verdict verdict)
{
    *example = (struct example){.words = {(char *)"/usr/bin/cp", (char *)"in"}};
    example->definition.command.items = example->words;
    example->definition.command.count = 2;
    example->result.judgement.verdict = verdict;
    example->result.observation.injections.items = &example->injection;
    example->result.observation.injections.count = 1;
    example->injection.fault = (char *)"read=-1/EIO";
}

static void title_is(const struct example *example, const char *expected)
{
    const struct finding_options options = {.definition = &example->definition, .injector = &plain};
    struct finding_text text;
    ok(finding_describe(&options, &example->result, "spec", 1, 17, &text));
    assert_string_equal(text.title, expected);
    assert_string_equal(text.command, "ordeal replay 17");
    finding_text_deinit(&text);
}

static void test_titles(void **state)
{
    struct example example;
    example_start(&example, VERDICT_CRASH);
    example.result.observation.crash = (char *)"SIGSEGV at 0x0 in cp";
    example.result.observation.crash_signal = SIGSEGV;
    example.result.stack = (char *)"copy_reg at copy.c:99 (cp)\nmain (cp)";
    example.injection.file = (char *)"src/copy.c";
    example.injection.line = 123;
    title_is(&example, "cp crashes (SIGSEGV in copy_reg) when read fails with EIO at copy.c:123");

    example.result.observation.crash = (char *)"SIGABRT";
    example.result.observation.crash_signal = SIGABRT;
    example.result.stack =
        (char *)"libc.so.6+0x1234\nraise (libc.so.6)\nabort (libc.so.6)\nfinish (cp)";
    example.injection.file = NULL;
    example.injection.symbol = (char *)"copy";
    title_is(&example, "cp crashes (SIGABRT in finish) when read fails with EIO in copy");
    example.result.stack = (char *)"abort (libc.so.6)";
    title_is(&example, "cp crashes (SIGABRT in abort) when read fails with EIO in copy");
    // Functions without names: their callers did not crash.
    example.result.stack = (char *)"cp+0x10\n0x1234";
    title_is(&example, "cp crashes (SIGABRT in cp at 0x10) when read fails with EIO in copy");
    example.result.stack = (char *)"__assert_fail_base.cold at assert.c:94 (libc.so.6)\n"
                                   "libstdc++.so.6+0x2f\n__libc_start_main (libc.so.6)";
    title_is(&example,
             "cp crashes (SIGABRT in libstdc++.so.6 at 0x2f) when read fails with EIO in copy");
    example.result.stack = (char *)"0x1234\n__libc_start_main (libc.so.6)";
    title_is(&example, "cp crashes (SIGABRT) when read fails with EIO in copy");

    example_start(&example, VERDICT_HANG);
    example.injection.fault = (char *)"malloc=NULL";
    example.injection.module = (char *)"/usr/lib/libx.so";
    example.injection.offset = 0x1f;
    title_is(&example, "cp hangs when malloc returns NULL in libx.so at 0x1f");
    // The fault is injected into a child. Either the child hangs, or its parent waits for it.
    example.injection.program = (char *)"basename";
    example.injection.process = 3;
    example.result.stack = (char *)"read (libc.so.6)\nmain (basename)\n_start (basename)";
    title_is(&example, "basename hangs in read, called by main when malloc returns NULL in libx.so "
                       "at 0x1f");
    example.result.stack = (char *)"clock_nanosleep (libc.so.6)\nsleep+0x64ae\nnotbasename+0x1";
    title_is(&example, "cp hangs in clock_nanosleep when malloc returns NULL in libx.so at 0x1f "
                       "(in basename)");
    example_start(&example, VERDICT_SILENT);
    example.injection.fault = (char *)"SIGTERM at 0.01s";
    title_is(&example, "cp gives a wrong result without an error message when SIGTERM arrives");
    example.result.observation.injections.count = 0;
    title_is(&example, "cp gives a wrong result without an error message when spec is injected");
}

// The title says which file is wrong, by its path from the working directory, and how.
static void test_symptoms(void **state)
{
    struct example example;
    example_start(&example, VERDICT_SILENT);
    struct judgement *judgement = &example.result.judgement;
    example.definition.directory = (char *)"/home/me/work";
    judgement->symptom = SYMPTOM_LOST;
    judgement->about = (char *)"/home/me/work/sub/notes";
    title_is(&example, "cp loses sub/notes without an error message when read fails with EIO");
    judgement->about = (char *)"/home/me/works/notes";
    title_is(&example,
             "cp loses /home/me/works/notes without an error message when read fails with EIO");
    judgement->symptom = SYMPTOM_OUTPUT;
    judgement->about = NULL;
    title_is(&example, "cp prints wrong output without an error message when read fails with EIO");
    judgement->verdict = VERDICT_WRONG_OUTPUT;
    title_is(&example, "cp claims success but prints wrong output when read fails with EIO");
    judgement->symptom = SYMPTOM_NONE;
    title_is(&example, "cp claims success with wrong output when read fails with EIO");
    judgement->verdict = VERDICT_UNSTABLE;
    title_is(&example, "cp leaves something broken behind when read fails with EIO");
    judgement->verdict = VERDICT_WRONG_OUTPUT;
    judgement->symptom = SYMPTOM_EMPTIED;
    judgement->about = (char *)"/home/me/work/notes";
    example.result.end = SANDBOX_EXIT;
    title_is(&example, "cp claims success but leaves notes empty when read fails with EIO");
    example.result.status = 1;
    title_is(&example, "cp reports the failure but leaves notes empty when read fails with EIO");
    char path[300];
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    judgement->verdict = VERDICT_SILENT;
    judgement->symptom = SYMPTOM_WRONG;
    judgement->about = path;
    _cleanup_(buffer_deinit) struct buffer expected = {0};
    ok(buffer_printf(&expected,
                     "cp writes a wrong ...%.80s without an error message when read fails with EIO",
                     path));
    title_is(&example, expected.data);
}

static void test_site_and_command(void **state)
{
    struct example example;
    example_start(&example, VERDICT_CRASH);
    example.injection.function = (char *)"read";
    example.injection.symbol = (char *)"copy_reg";
    example.injection.file = (char *)"src/copy.c";
    example.injection.line = 123;
    struct finding_options options = {
        .definition = &example.definition, .injector = &reproducing, .harmless = true};
    struct finding_text text;
    ok(finding_describe(&options, &example.result, "spec", 1, 17, &text));
    assert_string_equal(text.site, "read called in copy_reg at src/copy.c:123");
    assert_string_equal(text.file, "src/copy.c");
    assert_int_equal(text.line, 123);
    assert_string_equal(text.command, "ordeal run");
    finding_text_deinit(&text);
    // A command that changes files must not be run on the real ones.
    options.harmless = false;
    ok(finding_describe(&options, &example.result, "spec", 1, 17, &text));
    assert_string_equal(text.command, "ordeal replay 17");
    finding_text_deinit(&text);
    options.harmless = true;
    // The command alone cannot show what a posttest sees.
    example.definition.posttest = example.definition.command;
    ok(finding_describe(&options, &example.result, "spec", 1, 17, &text));
    assert_string_equal(text.command, "ordeal replay 17");
    finding_text_deinit(&text);
}

static void test_simpler(void **state)
{
    const struct finding_group group = {.activations = 5, .seconds = 1};
    struct engine_result result = {.seconds = 10};
    result.observation.activations = 1;
    assert_true(finding_is_simpler(&group, &result));
    result.observation.activations = 6;
    assert_false(finding_is_simpler(&group, &result));
    result.observation.activations = 5;
    assert_false(finding_is_simpler(&group, &result));
    result.seconds = 0.9;
    assert_false(finding_is_simpler(&group, &result));
    result.seconds = 0.4;
    assert_true(finding_is_simpler(&group, &result));
}

static void changed_is(const char *then, const char *now, enum build_state build,
                       const char *expected)
{
    struct subject_change change;
    ok(subject_program_compare(then, now, &change));
    assert_int_equal(change.build, build);
    if (expected == NULL)
        assert_null(change.sentence);
    else
        assert_string_equal(change.sentence, expected);
    subject_change_deinit(&change);
}

static void test_program(void **state)
{
    changed_is(NULL, "1 2 ab /bin/x y", BUILD_UNKNOWN, NULL);
    changed_is("1 2 ab /bin/x y", "1 2 ab /bin/x y", BUILD_SAME, NULL);
    changed_is("1 2 ab /bin/x y", "1 3 ab /bin/x y", BUILD_SAME, NULL); // the same bytes, copied
    changed_is("1 2 - /bin/x y", "1 2 - /bin/x y", BUILD_SAME, NULL);
    changed_is("1 2 ab /bin/x y", "1 2 cd /bin/x y", BUILD_DIFFERS,
               "/bin/x y has been built anew since (its build ID differs: it was ab and is cd)");
    changed_is("1 2 ab /bin/x", "1 2 - /bin/x", BUILD_DIFFERS,
               "/bin/x has been built anew since (its build ID differs: it was ab and is none)");
    changed_is("1 2 - /bin/x", "1 3 - /bin/x", BUILD_UNKNOWN,
               "/bin/x was written anew since, and cannot be told from another build: it has no "
               "build ID (link it with --build-id)");
    changed_is("1 2 ab /bin/x", "2 2 ab /bin/x", BUILD_DIFFERS,
               "/bin/x has changed since (its size differs)");
    changed_is("1 2 ab /bin/x", NULL, BUILD_UNKNOWN, "/bin/x can no longer be found");
    changed_is("1 2 ab /bin/x", "1 2 ab /bin/y", BUILD_DIFFERS,
               "the command runs /bin/y now, not /bin/x");
    changed_is("rubbish", "1 2 ab /bin/y", BUILD_UNKNOWN, NULL);
}

static void test_texts(void **state)
{
    struct example example;
    example_start(&example, VERDICT_PASS);
    example.words[1] = (char *)"a b'c";
    char *text;
    ok(subject_command(&example.definition, &text));
    assert_string_equal(text, "/usr/bin/cp 'a b'\\''c'");
    free(text);
    char *const variables[] = {(char *)"API_TOKEN=b'c d'e f", NULL};
    ok(secrets_learn(variables, NULL, NULL));
    example.words[1] = (char *)"a b'c d'e f";
    ok(subject_command(&example.definition, &text));
    assert_string_equal(text, "/usr/bin/cp 'a '\"$API_TOKEN\"");
    free(text);
    secrets_forget();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_titles),           cmocka_unit_test(test_symptoms),
        cmocka_unit_test(test_site_and_command), cmocka_unit_test(test_simpler),
        cmocka_unit_test(test_program),          cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
