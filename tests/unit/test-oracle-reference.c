// SPDX-License-Identifier: GPL-3.0-or-later
// What reference runs have in common, and what then counts as a difference; before and after a way
// through the store.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run-help.h"

static struct oracle oracle = {.references = 3,
                               .compare_stdout = true,
                               .compare_files = true,
                               .timeout_factor = 10,
                               .timeout_floor_ns = 2000000000u};

static struct reference *begin(void)
{
    struct reference *reference = NULL;
    good(reference_new(&oracle, &reference));
    return reference;
}

static void warns(const struct reference *reference, const char *text)
{
    for (size_t i = 0; i < reference_remark_count(reference); i++)
        if (strstr(reference_remark(reference, i).text, text) != NULL)
            return;
    fail_msg("no remark '%s', but '%s'", text,
             reference_remark_count(reference) != 0 ? reference_remark(reference, 0).text : "none");
}

// Through the store and back.
static struct reference *store_and_load(const struct reference *reference)
{
    static int number;
    char name[32];
    snprintf(name, sizeof name, "%d.db", number++);
    _cleanup_(store_closep) struct store *store = NULL;
    good(store_open(victim_path(name), STORE_WRITE, &store));
    struct store_campaign campaign = {.name = "c",
                                      .injector = "library",
                                      .definition = "",
                                      .command = "",
                                      .directory = "/",
                                      .version = "0",
                                      .machine = ""};
    good(store_add_campaign(store, &campaign));
    good(reference_save(reference, store, campaign.id));
    struct reference *loaded = NULL;
    good(reference_load(&oracle, 0, store, campaign.id, &loaded));
    assert_int_equal(reference_remark_count(loaded), reference_remark_count(reference));
    for (size_t i = 0; i < reference_remark_count(loaded); i++)
        assert_string_equal(reference_remark(loaded, i).text, reference_remark(reference, i).text);
    assert_int_equal(reference_timeout_ns(loaded), reference_timeout_ns(reference));
    assert_int_equal(reference_status(loaded), reference_status(reference));
    return loaded;
}

// What differs: letters of "status", "out", "err", "files", "left", "more". Takes the run. The
// reference must say the same after a way through the store.
static void differs(const struct reference *reference, struct outcome_run run, const char *letters,
                    const char *sentence)
{
    struct reference *loaded = store_and_load(reference);
    const struct reference *both[] = {reference, loaded};
    for (size_t i = 0; i < 2; i++) {
        struct difference difference = {0};
        good(reference_compare(both[i], &run, &difference));
        char found[8] = "";
        snprintf(found, sizeof found, "%s%s%s%s%s%s", difference.status ? "s" : "",
                 difference.out ? "o" : "", difference.err ? "e" : "", difference.files ? "f" : "",
                 difference.left ? "l" : "", difference.err_more ? "m" : "");
        assert_string_equal(found, letters);
        if (sentence == NULL)
            assert_null(difference.sentence);
        else
            assert_string_equal(difference.sentence, sentence);
        difference_deinit(&difference);
    }
    reference_free(loaded);
    outcome_run_deinit(&run);
}

static void test_stable(void **state)
{
    struct reference *reference = begin();
    for (int i = 0; i < 3; i++) {
        struct outcome_run run = run_new(0, "a\nb\n", "note\n");
        run_file(&run, "/w/out", "content\n");
        run_file_bytes(&run, "/w/sub", ARTIFACT_DIRECTORY, "", 0);
        run_file_bytes(&run, "/w/old", ARTIFACT_DELETED, "", 0);
        run_file_bytes(&run, "/w/link", ARTIFACT_LINK, "target", 6);
        refer(reference, run);
    }
    good(reference_settle(reference));
    assert_int_equal(reference_remark_count(reference), 0);
    assert_int_equal(reference_timeout_ns(reference), 2000000000u);

    struct outcome_run run = run_new(0, "a\nb\n", "note\n");
    run_file(&run, "/w/out", "content\n");
    run_file_bytes(&run, "/w/sub", ARTIFACT_DIRECTORY, "", 0);
    run_file_bytes(&run, "/w/old", ARTIFACT_DELETED, "", 0);
    run_file_bytes(&run, "/w/link", ARTIFACT_LINK, "target", 6);
    differs(reference, run, "", NULL);

    run = run_new(1, "a\n", "note\nerror\n");
    run_file(&run, "/w/out", "conten\n");
    run_file_bytes(&run, "/w/sub", ARTIFACT_DIRECTORY, "", 0);
    run_file_bytes(&run, "/w/old", ARTIFACT_DELETED, "", 0);
    run_file_bytes(&run, "/w/link", ARTIFACT_LINK, "target", 6);
    differs(reference, run, "sofm",
            "/w/out differs at line 1: 'conten' instead of 'content'; stdout has 1 line instead of "
            "2, the first missing: 'b'");

    run = run_new(0, "a\nb\n", "");
    run_file(&run, "/w/out", "content\n");
    run_file_bytes(&run, "/w/sub", ARTIFACT_DIRECTORY, "", 0);
    run_file_bytes(&run, "/w/old", ARTIFACT_DELETED, "", 0);
    run_file_bytes(&run, "/w/link", ARTIFACT_LINK, "elsewhere", 9);
    differs(reference, run, "f", "/w/link is a link to something else");
    reference_free(reference);
}

// Permissions count where they are always the same.
static void test_modes(void **state)
{
    struct reference *reference = begin();
    for (int i = 0; i < 3; i++) {
        struct outcome_run run = run_new(0, "", "");
        run_file(&run, "/w/free", "a\n");
        run.artifacts.items[run.artifacts.count - 1].mode = i == 0 ? 0600 : 0644;
        run_file(&run, "/w/key", i == 0 ? "a\n" : "b\n");
        run.artifacts.items[run.artifacts.count - 1].mode = 0600;
        refer(reference, run);
    }
    good(reference_settle(reference));
    for (int i = 0; i < 2; i++) {
        struct outcome_run run = run_new(0, "", "");
        run_file(&run, "/w/free", "a\n");
        run.artifacts.items[run.artifacts.count - 1].mode = 0666;
        run_file(&run, "/w/key", "c\n");
        run.artifacts.items[run.artifacts.count - 1].mode = i == 0 ? 0600 : 0604;
        differs(reference, run, i == 0 ? "" : "f",
                i == 0 ? NULL : "/w/key has mode 604 instead of 600");
    }
    reference_free(reference);
}

static void test_file_sets(void **state)
{
    struct reference *reference = begin();
    for (int i = 0; i < 3; i++) {
        struct outcome_run run = run_new(0, "", "");
        run_file(&run, "/w/out", "content\n");
        refer(reference, run);
    }
    good(reference_settle(reference));
    differs(reference, run_new(0, "", ""), "f", "/w/out was not written");
    struct outcome_run run = run_new(0, "", "");
    run_file(&run, "/w/out", "content\n");
    run_file(&run, "/w/core\n", "x");
    differs(reference, run, "l", "/w/core\\n was written, which the reference does not do");
    run = run_new(0, "", "");
    run_file_bytes(&run, "/w/out", ARTIFACT_DELETED, "", 0);
    differs(reference, run, "f", "/w/out is missing");
    run = run_new(0, "", "");
    run_file_bytes(&run, "/w/out", ARTIFACT_DIRECTORY, "", 0);
    differs(reference, run, "f", "/w/out is a directory instead of a file");
    run = run_new(0, "", "");
    run_file(&run, "/w/out", "content\n");
    run_file_bytes(&run, "/etc/passwd", ARTIFACT_DELETED, "", 0);
    differs(reference, run, "f", "/etc/passwd was deleted");
    reference_free(reference);
}

// Files named after processes: others are as good, but what is always there must be there.
static void test_unsteady_files(void **state)
{
    struct reference *reference = begin();
    for (int i = 0; i < 3; i++) {
        char path[32];
        struct outcome_run run = run_new(0, "", "");
        snprintf(path, sizeof path, "/w/log.%d", 100 + i);
        run_file(&run, path, "x");
        run_file(&run, "/w/out", "content\n");
        run_file_bytes(&run, "/w/sub", ARTIFACT_DIRECTORY, "", 0);
        snprintf(path, sizeof path, "/w/tmp.%d", 100 + i);
        run_file_bytes(&run, path, ARTIFACT_DIRECTORY, "", 0);
        refer(reference, run);
    }
    good(reference_settle(reference));
    warns(reference,
          "/w/log.100 changes in 1 of 3 reference runs only; it is not compared, nor are "
          "new files beside it");
    struct outcome_run run = run_new(0, "", "");
    run_file(&run, "/w/log.777", "y");
    run_file(&run, "/w/out", "content\n");
    run_file_bytes(&run, "/w/sub", ARTIFACT_DIRECTORY, "", 0);
    run_file_bytes(&run, "/w/tmp.777", ARTIFACT_DIRECTORY, "", 0);
    run_file(&run, "/w/tmp.777/a", "y");
    differs(reference, run, "", NULL);
    run = run_new(0, "", "");
    run_file(&run, "/w/log.101", "y");
    run_file_bytes(&run, "/w/sub", ARTIFACT_DIRECTORY, "", 0);
    differs(reference, run, "f", "/w/out was not written");
    run = run_new(0, "", "");
    run_file(&run, "/w/out", "content\n");
    run_file_bytes(&run, "/w/sub", ARTIFACT_DIRECTORY, "", 0);
    run_file(&run, "/w/sub/new", "");
    differs(reference, run, "l", "/w/sub/new was written, which the reference does not do");
    reference_free(reference);
}

// Names that are sums of what holds the time.
static void test_drawn_names(void **state)
{
    static const char *const names[] = {"/w/o/45/1b8d", "/w/o/e4/0156"};
    struct reference *reference = begin();
    for (int i = 0; i < 2; i++) {
        struct outcome_run run = run_new(0, "", "");
        run_file(&run, names[i], "x");
        refer(reference, run);
    }
    good(reference_settle(reference));
    struct outcome_run run = run_new(0, "", "");
    run_file(&run, "/w/o/00/77f0", "y");
    differs(reference, run, "", NULL);
    run = run_new(0, "", "");
    run_file(&run, "/w/o/00/77-0", "y");
    differs(reference, run, "l", "/w/o/00/77-0 was written, which the reference does not do");
    reference_free(reference);
}

// To leave a file as it is, is no difference if it was as the runs make it but for what varies.
static void test_left_as_it_was(void **state)
{
    const char *path = victim_path("cache"), *other = victim_path("other");
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(i == 0 ? path : other, "w");
        assert_non_null(file);
        fputs(i == 0 ? "a\n0\nz\n" : "b\n0\nz\n", file);
        assert_int_equal(fclose(file), 0);
    }
    struct reference *reference = begin();
    for (int i = 0; i < 2; i++) {
        struct outcome_run run = run_new(0, "", "");
        run_file(&run, path, i == 0 ? "a\n1\nz\n" : "a\n2\nz\n");
        run_file(&run, other, i == 0 ? "a\n1\nz\n" : "a\n2\nz\n");
        refer(reference, run);
    }
    good(reference_settle(reference));
    char sentence[200];
    snprintf(sentence, sizeof sentence, "%s keeps its old content", other);
    differs(reference, run_new(0, "", ""), "f", sentence);
    reference_free(reference);
}

static void empties(const char *old, const char *made, bool lost)
{
    const char *path = victim_path("emptied");
    victim_write("emptied", old, strlen(old), 0600);
    struct reference *reference = begin();
    for (int i = 0; i < 2; i++) {
        struct outcome_run run = run_new(0, "", "");
        run_file(&run, path, made);
        refer(reference, run);
    }
    good(reference_settle(reference));
    struct outcome_run run = run_new(1, "", "no space\n");
    run_file(&run, path, "");
    struct difference difference = {0};
    good(reference_compare(reference, &run, &difference));
    assert_int_equal(difference.lost, lost);
    assert_int_equal(difference.spoilt, !lost);
    difference_deinit(&difference);
    outcome_run_deinit(&run);
    reference_free(reference);
}

// What is replaced as a whole is not lost; what is edited is, also within a line.
static void test_emptied(void **state)
{
    empties("yesterday\n", "this time\n", false);
    empties("kept\nold\n", "and\nthis\nis\nnew\nkept\n", true);
    empties("{\"a\":1}", "{\"a\":1,\"b\":2}", true);
    empties("{\"a\":1}\n", "{\"c\":22222222}\n", true); // four of eight
    empties("{\"a\":1,}\n", "{\"c\":22222222}\n", false);
    empties("aaaa", "aaa", true);
    empties("abcabc", "abc\n", true);
    empties("abcabcx", "abc\n", false);
}

// Names of files are bytes; the store knows text only.
static void test_odd_names(void **state)
{
    struct reference *reference = begin();
    for (int i = 0; i < 2; i++) {
        struct outcome_run run = run_new(0, "", "");
        run_file(&run, "/w/\xff\xfe", "content\n");
        run_file(&run, "/w/\xc3\xa4\\xff\\\\x\\", "content\n");
        run_file_bytes(&run, "/w/old", ARTIFACT_FILE, "\xff\xfe\n", 3);
        refer(reference, run);
    }
    good(reference_settle(reference));
    struct outcome_run run = run_new(0, "", "");
    run_file(&run, "/w/\xff\xfe", "content\n");
    run_file(&run, "/w/\xc3\xa4\\xff\\\\x\\", "content\n");
    run_file_bytes(&run, "/w/old", ARTIFACT_FILE, "\xff\xfe\n", 3);
    differs(reference, run, "", NULL);
    reference_free(reference);
}

static void test_flaky_text(void **state)
{
    struct reference *reference = begin();
    for (int i = 0; i < 3; i++) {
        char out[64], err[64], file[64];
        snprintf(out, sizeof out, "start\nat 12:0%d\nend\n", i);
        snprintf(err, sizeof err, "[%d] warning\n", 4000 + i);
        snprintf(file, sizeof file, i == 1 ? "b\na\n" : "a\nb\n");
        struct outcome_run run = run_new(0, out, err);
        run_file(&run, "/w/set", file);
        run_file(&run, "/w/long", &"x\nx\nx\n"[2 * i]);
        run_file_bytes(&run, "/w/bin", ARTIFACT_FILE, &"\0\1\2\3\4"[i], 2);
        refer(reference, run);
    }
    good(reference_settle(reference));
    warns(reference, "stdout line 2 varies: 'at 12:00' / 'at 12:01'; it is not compared");
    warns(reference, "stderr line 1 varies: '[4000] warning' / '[4001] warning'; it is not");
    warns(reference,
          "/w/set: the order of lines varies; its lines are compared without their order");
    warns(reference, "/w/long: the number of lines varies: 1 to 3; it is not compared");
    warns(reference, "/w/bin varies and is no text; it is not compared");

    struct outcome_run run = run_new(0, "start\nat 23:59\nend\n", "[77] warning\n");
    run_file(&run, "/w/set", "b\na\n");
    run_file(&run, "/w/long", "whatever\n");
    run_file_bytes(&run, "/w/bin", ARTIFACT_FILE, "\0whatever", 9);
    differs(reference, run, "", NULL);
    run = run_new(0, "start\nat 23:59\n", "[77] error\n");
    run_file(&run, "/w/set", "b\nc\n");
    run_file_bytes(&run, "/w/bin", ARTIFACT_FILE, "\0", 1);
    differs(reference, run, "ofm",
            "/w/long was not written; /w/set has a line that it should not have: 'c'; stdout has 2 "
            "lines instead of 3, the first missing: 'end'");
    reference_free(reference);
}

static void test_filters(void **state)
{
    struct filter filters[] = {{.pattern = "[0-9]+", .replacement = "N"}};
    oracle.filters.items = filters;
    oracle.filters.count = 1;
    struct reference *reference = begin();
    refer(reference, run_new(0, "pid 12\n", ""));
    refer(reference, run_new(0, "pid 345\n", ""));
    good(reference_settle(reference));
    assert_int_equal(reference_remark_count(reference), 0);
    differs(reference, run_new(0, "pid 6\n", ""), "", NULL);
    differs(reference, run_new(0, "pid none\n", ""), "o",
            "stdout differs at line 1: 'pid none' instead of 'pid N'");
    reference_free(reference);
    oracle.filters.count = 0;
    oracle.filters.items = NULL;
}

static char *repeat(const char *line, size_t times, const char *end)
{
    struct buffer text = {0};
    for (size_t i = 0; i < times; i++)
        good(buffer_append(&text, line, strlen(line)));
    good(buffer_append(&text, end, strlen(end)));
    return text.data;
}

static void test_huge(void **state)
{
    _cleanup_free_ char *same = repeat("0123456789\n", 300000, "end\n");
    _cleanup_free_ char *other = repeat("0123456789\n", 300000, "END\n");
    struct reference *reference = begin();
    for (int i = 0; i < 2; i++)
        refer(reference, run_new(0, same, same));
    good(reference_settle(reference));
    assert_int_equal(reference_remark_count(reference), 0);
    differs(reference, run_new(0, same, same), "", NULL);
    differs(reference, run_new(0, other, same), "o",
            "stdout differs beyond its first 64 KiB (3300004 bytes instead of 3300004)");
    differs(reference, run_new(0, "0123456789\n", same), "o",
            "stdout has 1 line instead of 5957, the first missing: '0123456789'");
    reference_free(reference);
    reference = begin();
    refer(reference, run_new(0, same, ""));
    refer(reference, run_new(0, other, ""));
    good(reference_settle(reference));
    warns(reference, "stdout varies beyond its first 64 KiB; that part is not compared");
    _cleanup_free_ char *third = repeat("0123456789\n", 200000, "");
    differs(reference, run_new(0, third, ""), "", NULL);
    reference_free(reference);
}

static void test_binary(void **state)
{
    struct reference *reference = begin();
    for (int i = 0; i < 2; i++) {
        struct outcome_run run = run_new(0, "", "");
        run_file_bytes(&run, "/w/bin", ARTIFACT_FILE, "\0\1\2", 3);
        refer(reference, run);
    }
    good(reference_settle(reference));
    struct outcome_run run = run_new(0, "", "");
    run_file_bytes(&run, "/w/bin", ARTIFACT_FILE, "\0\1\3", 3);
    differs(reference, run, "f", "/w/bin has other content (still 3 bytes)");
    run = run_new(0, "", "");
    run_file(&run, "/w/bin", "text\n");
    differs(reference, run, "f", "/w/bin has other content (5 bytes instead of 3)");
    reference_free(reference);
}

static void test_switches(void **state)
{
    oracle.compare_stdout = oracle.compare_files = false;
    oracle.compare_stderr = true;
    struct reference *reference = begin();
    refer(reference, run_new(0, "a\n", "hello\nbye\n"));
    refer(reference, run_new(0, "b\n", "hello\nbye\n"));
    good(reference_settle(reference));
    assert_int_equal(reference_remark_count(reference), 0);
    struct outcome_run run = run_new(0, "c\n", "hello\n");
    run_file(&run, "/w/new", "");
    differs(reference, run, "e", "stderr has 1 line instead of 2, the first missing: 'bye'");
    reference_free(reference);
    oracle.compare_stdout = oracle.compare_files = true;
    oracle.compare_stderr = false;
}

static void refused(struct outcome_run run, const char *why)
{
    struct reference *reference = begin();
    refer(reference, run_new(0, "", ""));
    refer(reference, run);
    bad(reference_settle(reference), why);
    reference_free(reference);
}

static void test_refused(void **state)
{
    struct reference *reference = begin();
    bad(reference_settle(reference), "there is no reference run");
    reference_free(reference);
    refused(run_new(3, "", ""), "exit status 0, 3 in its reference runs");
    struct outcome_run run = run_new(0, "", "x\nSegmentation\033[0m\n");
    run.workload.end = SANDBOX_SIGNAL;
    run.workload.status = 11;
    refused(run,
            "reference run 2 of 3, without any fault: the workload's command failed (killed by "
            "SIGSEGV); stderr: 'Segmentation\\x1b[0m'");
    run = run_new(0, "", "waiting");
    run.workload.end = SANDBOX_TIMEOUT;
    refused(run, "the workload or a process it left behind did not end within 0.001 s; stderr: "
                 "'waiting'");
    run = run_new(0, "", "");
    run_step(&run.pretest, 1, "", "no server\n");
    refused(run, "the pretest command failed (exit status 1); stderr: 'no server'");
    run = run_new(0, "", "");
    run_step(&run.setup, 127, "", "");
    run.setup_failed = true;
    refused(run, "the setup command failed (exit status 127)");
    run = run_new(0, "", "");
    run_step(&run.posttest, 1, "unclean\n", "");
    refused(run, "the posttest command failed (exit status 1); stdout: 'unclean'");
    run = run_new(0, "", "");
    run_step(&run.oracle, 0, "silent data lost\n", "");
    refused(run, "the oracle command must find nothing wrong, but it printed 'silent data lost'");
    run = run_new(0, "", "");
    run_step(&run.oracle, 0, "rubbish\n", "");
    refused(run, "but it printed 'rubbish'");
    run = run_new(0, "", "");
    run.trouble = strdup("no more processes");
    refused(run, "no more processes");
}

// One that always fails is allowed only if that is expected.
static void test_failing_workload(void **state)
{
    struct reference *reference = begin();
    for (int i = 0; i < 2; i++)
        refer(reference, run_new(2, "", "usage: x\n"));
    good(reference_settle(reference));
    bad(reference_check_status(reference),
        "the workload fails without any fault: exit status 2; stderr: 'usage: x'; if it is meant "
        "to end so: --expect-status 2");
    assert_int_equal(reference_status(reference), 2);
    differs(reference, run_new(2, "", "usage: x\n"), "", NULL);
    differs(reference, run_new(0, "", ""), "s", NULL);
    reference_free(reference);
}

static void test_timeout(void **state)
{
    struct reference *reference = begin();
    for (int i = 1; i <= 3; i++) {
        struct outcome_run run = run_new(0, "", "");
        run.workload.ns = (uint64_t)i * 1000000000u;
        refer(reference, run);
    }
    good(reference_settle(reference));
    assert_int_equal(reference_timeout_ns(reference), 20000000000u);
    assert_true(reference_seconds(reference)->mean > 1.99 &&
                reference_seconds(reference)->mean < 2.01);
    struct reference *loaded = store_and_load(reference);
    reference_free(loaded);
    reference_free(reference);
}

static void test_complaints(void **state)
{
    struct reference *reference = begin();
    struct outcome_run run = run_new(0, "", "");
    run.sanitizer = strdup("AddressSanitizer: memory leak in f\nvalgrind: errors\n");
    run.observation.crash_key = strdup("f (x)");
    refer(reference, run);
    refer(reference, run_new(0, "", ""));
    good(reference_settle(reference));
    struct reference *loaded = store_and_load(reference);
    size_t size;
    assert_null(reference_new_sanitizer_report(loaded, "valgrind: errors\n", &size));
    const char *list = "valgrind: errors\nAddressSanitizer: memory leak in fg\n";
    assert_ptr_equal(reference_new_sanitizer_report(loaded, list, &size), list + 17);
    assert_int_equal(size, 35);
    assert_true(reference_has_crash(loaded, "f (x)"));
    assert_false(reference_has_crash(loaded, "g (x)"));
    reference_free(loaded);
    reference_free(reference);
}

static void test_notes(void **state)
{
    struct reference *reference = begin();
    static const char *const notes[] = {"x could not allocate y\n", "x could not allocate y\n",
                                        NULL};
    for (int i = 0; i < 3; i++) {
        struct outcome_run run = run_new(0, "", "");
        run.observation.note = notes[i] != NULL ? strdup(notes[i]) : NULL;
        refer(reference, run);
    }
    good(reference_settle(reference));
    assert_int_equal(reference_remark_count(reference), 1);
    assert_string_equal(reference_remark(reference, 0).text, "x could not allocate y\\n");
    reference_free(reference);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stable),      cmocka_unit_test(test_modes),
        cmocka_unit_test(test_file_sets),   cmocka_unit_test(test_unsteady_files),
        cmocka_unit_test(test_drawn_names), cmocka_unit_test(test_left_as_it_was),
        cmocka_unit_test(test_emptied),     cmocka_unit_test(test_flaky_text),
        cmocka_unit_test(test_filters),     cmocka_unit_test(test_huge),
        cmocka_unit_test(test_binary),      cmocka_unit_test(test_switches),
        cmocka_unit_test(test_refused),     cmocka_unit_test(test_failing_workload),
        cmocka_unit_test(test_timeout),     cmocka_unit_test(test_complaints),
        cmocka_unit_test(test_odd_names),   cmocka_unit_test(test_notes),
    };
    return cmocka_run_group_tests(tests, victim_setup, victim_teardown);
}
