// SPDX-License-Identifier: GPL-3.0-or-later
// Verdicts on packed files, archives, images and databases, and on what outputs and logs tell.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run-help.h"

static struct oracle oracle = {.references = 2, .compare_stdout = true, .compare_files = true};

// Adds a file as the decoder leaves it.
static void add_packed(struct outcome_run *run, const char *path, const char *bytes,
                       enum decoding_state state, uint64_t inside)
{
    run_file(run, path, bytes);
    struct artifact *artifact = &run->artifacts.items[run->artifacts.count - 1];
    artifact->format = bytes[0] == 'Z' ? format_named("gzip") : NULL;
    artifact->decoding = (struct decoding){
        .state = state, .known = state == DECODING_SOUND, .hash = inside, .tool = "gzip"};
    if (state == DECODING_DAMAGED)
        artifact->decoding.said = strdup("'gzip: unexpected end of file'");
}

static void add_deleted(struct outcome_run *run, const char *path)
{
    run_file_bytes(run, path, ARTIFACT_DELETED, "", 0);
}

// Two runs that leave /w/a.gz; the bytes of the second may differ.
static struct reference *refer_to(const char *first, const char *second, uint64_t inside)
{
    struct reference *reference;
    good(reference_new(&oracle, &reference));
    for (int i = 0; i < 2; i++) {
        struct outcome_run run = run_new(0, "done\n", "");
        add_packed(&run, "/w/a.gz", i == 0 ? first : second, DECODING_SOUND,
                   inside + (inside == 9) * i);
        refer(reference, run);
    }
    good(reference_settle(reference));
    return reference;
}

// Takes the run.
static void judged(const struct reference *reference, struct outcome_run run, enum verdict verdict,
                   enum severity severity, const char *reason)
{
    struct judgement judgement = {0};
    good(judge(reference, &run, &judgement));
    assert_string_equal(judgement.reason, reason);
    assert_string_equal(verdict_facts[judgement.verdict].name, verdict_facts[verdict].name);
    assert_int_equal(judgement.severity, severity);
    judgement_deinit(&judgement);
    outcome_run_deinit(&run);
}

static struct outcome_run packed(const char *bytes, enum decoding_state state, uint64_t inside)
{
    struct outcome_run run = run_new(0, "done\n", "");
    add_packed(&run, "/w/a.gz", bytes, state, inside);
    return run;
}

static void what_it_holds_is_compared(void **state)
{
    struct reference *reference = refer_to("Z1", "Z1", 5);
    judged(reference, packed("Z2", DECODING_SOUND, 5), VERDICT_PASS, SEVERITY_NONE,
           "as the reference");
    judged(reference, packed("Z2", DECODING_SOUND, 6), VERDICT_SILENT, SEVERITY_HIGH,
           "/w/a.gz is sound (gzip), but holds something else; exit status 0 as without the fault, "
           "nothing "
           "reported");
    judged(reference, packed("Z2", DECODING_DAMAGED, 0), VERDICT_SILENT, SEVERITY_LOSS,
           "/w/a.gz is damaged (2 bytes instead of 2): gzip says 'gzip: unexpected end of file'; "
           "exit status 0 as without the fault, nothing reported");
    judged(reference, packed("0000", DECODING_NONE, 0), VERDICT_SILENT, SEVERITY_LOSS,
           "/w/a.gz is damaged: it does not begin like a gzip file (4 bytes instead of 2); exit "
           "status 0 as without the fault, nothing reported");
    judged(reference, packed("", DECODING_NONE, 0), VERDICT_SILENT, SEVERITY_LOSS,
           "/w/a.gz is empty; exit status 0 as without the fault, nothing reported");
    // Nobody could tell: the bytes count.
    judged(reference, packed("Z2", DECODING_NONE, 0), VERDICT_SILENT, SEVERITY_HIGH,
           "/w/a.gz differs at line 1: 'Z2' instead of 'Z1'; exit status 0 as without the fault, "
           "nothing "
           "reported");
    reference_free(reference);
}

static void a_failure_that_is_reported_damages_nothing(void **state)
{
    struct reference *reference = refer_to("Z1", "Z1", 5);
    struct outcome_run run = packed("Z", DECODING_DAMAGED, 0);
    run.workload.status = 1;
    judged(reference, run, VERDICT_GRACEFUL, SEVERITY_NONE, "exit status 1 instead of 0");
    // A message beside a claim of success does not make the archive readable.
    run = run_new(0, "done\n", "short write\n");
    add_packed(&run, "/w/a.gz", "Z", DECODING_DAMAGED, 0);
    judged(reference, run, VERDICT_WRONG_OUTPUT, SEVERITY_LOSS,
           "/w/a.gz is damaged (1 bytes instead of 2): gzip says 'gzip: unexpected end of file'; "
           "exit status 0 as without the fault; stderr: 'short write'");
    reference_free(reference);
}

// Bytes that vary, as by a time in them, are compared by what they hold; if that varies, too, they
// must still be sound.
static void varying_bytes_are_compared(void **state)
{
    struct reference *reference = refer_to("Z1", "Z2", 5);
    assert_int_equal(reference_remark_count(reference), 0);
    judged(reference, packed("Z3", DECODING_SOUND, 5), VERDICT_PASS, SEVERITY_NONE,
           "as the reference");
    judged(reference, packed("Z3", DECODING_SOUND, 6), VERDICT_SILENT, SEVERITY_HIGH,
           "/w/a.gz is sound (gzip), but holds something else; exit status 0 as without the fault, "
           "nothing "
           "reported");
    reference_free(reference);
    reference = refer_to("Z1", "Z2", 9); // inside 9 and 10
    judged(reference, packed("Z3", DECODING_SOUND, 77), VERDICT_PASS, SEVERITY_NONE,
           "as the reference");
    judged(reference, packed("Z3", DECODING_DAMAGED, 0), VERDICT_SILENT, SEVERITY_LOSS,
           "/w/a.gz is damaged (2 bytes instead of 2): gzip says 'gzip: unexpected end of file'; "
           "exit status 0 as without the fault, nothing reported");
    reference_free(reference);
}

static void only_what_matters_is_decoded(void **state)
{
    struct reference *reference = refer_to("Z1", "Z1", 5);
    struct outcome_run run = packed("Z1", DECODING_NONE, 0);
    assert_false(reference_wants_decoding(reference, &run.artifacts.items[2]));
    outcome_run_deinit(&run);
    run = packed("Z2", DECODING_NONE, 0);
    assert_true(reference_wants_decoding(reference, &run.artifacts.items[2]));
    add_packed(&run, "/w/other.gz", "Z", DECODING_NONE, 0);
    assert_false(reference_wants_decoding(reference, &run.artifacts.items[3]));
    outcome_run_deinit(&run);
    reference_free(reference);
}

// An archiver that removes what it has packed.
static void a_removed_source_is_lost(void **state)
{
    struct reference *reference;
    char source[128];
    victim_write("source", "data\n", 5, 0600);
    snprintf(source, sizeof source, "%s", victim_path("source"));
    good(reference_new(&oracle, &reference));
    for (int i = 0; i < 2; i++) {
        struct outcome_run run = run_new(0, "done\n", "");
        add_packed(&run, "/w/any.tgz", "Z1", DECODING_SOUND, 5);
        add_deleted(&run, source);
        refer(reference, run);
    }
    good(reference_settle(reference));
    struct outcome_run run = run_new(0, "done\n", "no space\n");
    add_packed(&run, "/w/any.tgz", "Z2", DECODING_DAMAGED, 0);
    add_deleted(&run, source);
    char reason[400];
    snprintf(
        reason, sizeof reason,
        "%s is lost: it is gone, and /w/any.tgz is damaged (2 bytes instead of 2): gzip says "
        "'gzip: unexpected end of file'; exit status 0 as without the fault; stderr: 'no space'",
        source);
    judged(reference, run, VERDICT_WRONG_OUTPUT, SEVERITY_LOSS, reason);
    // A crash in between is no less a loss.
    run = run_new(0, "done\n", "");
    add_deleted(&run, source);
    run.observation.crash = strdup("SIGSEGV in x");
    snprintf(reason, sizeof reason,
             "SIGSEGV in x (a process that the workload started); %s is lost: it is gone, and "
             "/w/any.tgz was not written",
             source);
    judged(reference, run, VERDICT_CRASH, SEVERITY_LOSS, reason);
    reference_free(reference);
}

// A file that the server deletes when it starts is not the user's data.
static void what_is_deleted_at_the_start_is_no_loss(void **state)
{
    char path[128];
    victim_write("statistics", "old\n", 4, 0600);
    snprintf(path, sizeof path, "%s", victim_path("statistics"));
    for (int absent = 0; absent < 2; absent++) {
        struct reference *reference;
        good(reference_new(&oracle, &reference));
        for (int i = 0; i < 2; i++) {
            struct outcome_run run = run_new(0, "done\n", "");
            run_file(&run, path, "new\n");
            if (absent)
                good(buffer_printf(&run.absent, "/w/x\n%s\n", path));
            refer(reference, run);
        }
        good(reference_settle(reference));
        struct outcome_run run = run_new(1, "", "no memory\n");
        run.serves = true;
        add_deleted(&run, path);
        struct judgement judgement = {0};
        good(judge(reference, &run, &judgement));
        assert_int_equal(judgement.verdict, absent ? VERDICT_GRACEFUL : VERDICT_WRONG_OUTPUT);
        judgement_deinit(&judgement);
        outcome_run_deinit(&run);
        reference_free(reference);
    }
}

static struct reference *refer_to_output(const char *out, const char *log)
{
    struct reference *reference;
    good(reference_new(&oracle, &reference));
    for (int i = 0; i < 2; i++) {
        struct outcome_run run = run_new(0, out, "");
        run_file(&run, "/w/log", log);
        refer(reference, run);
    }
    good(reference_settle(reference));
    return reference;
}

static struct outcome_run output(const char *out, const char *log)
{
    struct outcome_run run = run_new(0, out, "");
    run_file(&run, "/w/log", log);
    return run;
}

static void what_is_told_is_not_silent(void **state)
{
    struct reference *reference = refer_to_output("a\nb\nerrors: 0\n", "12:00 [info] up\n");
    judged(reference, output("a\nerrors: 0\n", "12:00 [info] up\n"), VERDICT_SILENT,
           SEVERITY_MEDIUM,
           "stdout differs at line 2: 'errors: 0' instead of 'b'; exit status 0 as without the "
           "fault, nothing "
           "reported");
    judged(reference, output("a\nError: b is missing\nerrors: 0\n", "12:00 [info] up\n"),
           VERDICT_WRONG_OUTPUT, SEVERITY_MEDIUM,
           "stdout differs at line 2: 'Error: b is missing' instead of 'b'; exit status 0 as "
           "without the fault; "
           "stdout: 'Error: b is missing'");
    judged(reference, output("a\nb\nerrors: 1\n", "12:00 [info] up\n"), VERDICT_WRONG_OUTPUT,
           SEVERITY_MEDIUM,
           "stdout differs at line 3: 'errors: 1' instead of 'errors: 0'; exit status 0 as without "
           "the fault; "
           "stdout: 'errors: 1'");
    judged(reference, output("a\nerrors: 0\n", "12:00 [info] up\n12:01 [error] no b\n"),
           VERDICT_WRONG_OUTPUT, SEVERITY_MEDIUM,
           "stdout differs at line 2: 'errors: 0' instead of 'b'; exit status 0 as without the "
           "fault; /w/log: "
           "'12:01 [error] no b'");
    // A log with one more line is no wrong file.
    judged(reference, output("a\nb\nerrors: 0\n", "12:00 [info] up\n12:01 [error] no b\n"),
           VERDICT_GRACEFUL, SEVERITY_NONE,
           "everything as the reference, but it is reported; /w/log: '12:01 [error] no b'");
    reference_free(reference);
}

// What every run says tells nothing, but saying it more often does.
static void usual_errors_tell_nothing(void **state)
{
    struct reference *reference = refer_to_output("404\n200\n", "12:00 [error] no such page\n");
    struct outcome_run run = output("404\n", "12:07 [error] no such page\n");
    run.serves = true;
    struct judgement judgement = {0};
    good(judge(reference, &run, &judgement));
    assert_int_equal(judgement.verdict, VERDICT_SILENT);
    judgement_deinit(&judgement);
    outcome_run_deinit(&run);
    run = output("404\n404\n", "12:00 [error] no such page\n");
    run.serves = true;
    judged(reference, run, VERDICT_GRACEFUL, SEVERITY_NONE,
           "stdout differs at line 2: '404' instead of '200'; exit status 0 as without the fault; "
           "stdout: '404'");
    run = output("500\n200\n", "12:00 [error] no such page\n");
    run.serves = true;
    judged(reference, run, VERDICT_GRACEFUL, SEVERITY_NONE,
           "stdout differs at line 1: '500' instead of '404'; exit status 0 as without the fault; "
           "stdout: '500'");
    // A number is no status where there is no server.
    judged(reference, output("500\n200\n", "12:00 [error] no such page\n"), VERDICT_SILENT,
           SEVERITY_MEDIUM,
           "stdout differs at line 1: '500' instead of '404'; exit status 0 as without the fault, "
           "nothing "
           "reported");
    reference_free(reference);
}

// Lines that another output of the reference has may be data.
static void data_tells_nothing(void **state)
{
    struct reference *reference = refer_to_output("a\n", "fatal error in data\n");
    judged(reference, output("a\nfatal error in data\n", "fatal error in data\n"), VERDICT_SILENT,
           SEVERITY_MEDIUM,
           "stdout has 2 lines instead of 1, the first more: 'fatal error in data'; exit "
           "status 0 as without the fault, nothing reported");
    reference_free(reference);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_it_holds_is_compared),
        cmocka_unit_test(a_failure_that_is_reported_damages_nothing),
        cmocka_unit_test(varying_bytes_are_compared),
        cmocka_unit_test(only_what_matters_is_decoded),
        cmocka_unit_test(a_removed_source_is_lost),
        cmocka_unit_test(what_is_deleted_at_the_start_is_no_loss),
        cmocka_unit_test(what_is_told_is_not_silent),
        cmocka_unit_test(usual_errors_tell_nothing),
        cmocka_unit_test(data_tells_nothing),
    };
    return cmocka_run_group_tests(tests, victim_setup, victim_teardown);
}
