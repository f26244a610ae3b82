// SPDX-License-Identifier: GPL-3.0-or-later
// Files of counts, whole and broken.
#include "fidelity/counts.h"

#include "mutate/counts.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct made { // two modules, the second of two pages, and the page with the path
    struct counts_header one;
    uint64_t ones[(COUNTS_PAGE - sizeof(struct counts_header)) / 8];
    struct counts_header two;
    uint64_t twos[(2 * COUNTS_PAGE - sizeof(struct counts_header)) / 8];
    char path[COUNTS_PAGE];
};

static struct made *make(void)
{
    struct made *made = calloc(1, sizeof *made);
    assert_non_null(made);
    made->one = (struct counts_header){COUNTS_MAGIC, COUNTS_VERSION, COUNTS_PAGE, 7, 2};
    made->two = (struct counts_header){COUNTS_MAGIC, COUNTS_VERSION, 2 * COUNTS_PAGE, 9, 1};
    made->ones[0] = 3;
    made->ones[1] = UINT64_MAX;
    made->twos[0] = 5;
    strcpy(made->path, "/bin/made");
    return made;
}

static struct error *parse(const void *bytes, size_t size, struct counts_file *ret_file)
{
    struct buffer buffer = {0};
    assert_null(buffer_append(&buffer, bytes, size));
    return counts_file_parse("made.counts", &buffer, ret_file);
}

// Counter 0 of the first counts block 1, its counter 1 and that of the second block 0.
static struct fidelity_module modules[] = {{7, 0, 2}, {9, 2, 1}};
static size_t counter_blocks[] = {1, 0, 0};

static struct fidelity_subject make_subject(void)
{
    struct fidelity_subject subject = {0};
    subject.modules.items = modules;
    subject.modules.count = 2;
    subject.counter_blocks.items = counter_blocks;
    subject.counter_blocks.count = 3;
    return subject;
}

static void counts_are_added(void **state)
{
    struct made *made = make();
    struct counts_file file;
    struct fidelity_subject subject = make_subject();
    uint64_t counts[2] = {0};
    assert_null(parse(made, sizeof *made, &file));
    assert_string_equal(file.program, "/bin/made");
    assert_int_equal(file.modules.count, 2);
    assert_null(counts_file_add(&file, &subject, counts));
    assert_int_equal(counts[1], 3);
    assert_true(counts[0] == UINT64_MAX); // and not beyond
    counter_blocks[1] = SIZE_MAX;         // counts nothing
    memset(counts, 0, sizeof counts);
    assert_null(counts_file_add(&file, &subject, counts));
    assert_int_equal(counts[0], 5);
    counter_blocks[1] = 0;
    counts_file_close(&file);
    free(made);
}

static void expect_broken(const void *bytes, size_t size, const char *what)
{
    struct counts_file file;
    struct error *error = parse(bytes, size, &file);
    assert_non_null(error);
    if (strstr(error_message(error), what) == NULL)
        fail_msg("%s", error_message(error));
    error_free(error);
}

static void broken_files_are_refused(void **state)
{
    struct made *made = make();
    for (size_t size = 1; size < sizeof *made; size += 511)
        if (size % COUNTS_PAGE != 0)
            expect_broken(made, size, "cut off at byte");
    expect_broken(made, COUNTS_PAGE, "cut off");
    expect_broken(made, 3 * COUNTS_PAGE, "made.counts: counts are cut off at byte 4096");
    made->two.magic ^= 1;
    expect_broken(made, sizeof *made, "something else than counts at byte 4096");
    made->two.magic ^= 1;
    made->two.version++;
    expect_broken(made, sizeof *made, "another version of Ordeal");
    made->two.version--;
    const uint64_t sizes[] = {0, 8, COUNTS_PAGE + 8, 3 * COUNTS_PAGE, UINT64_MAX - 4095};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        made->two.size = sizes[i];
        expect_broken(made, sizeof *made, "cut off");
    }
    made->two.size = 2 * COUNTS_PAGE;
    made->two.counters = 2 * COUNTS_PAGE / 8 - 3;
    expect_broken(made, sizeof *made, "cut off");
    free(made);
}

// A process that died early leaves an empty file, or one without anything in it.
static void nothing_is_nothing(void **state)
{
    struct made *made = make();
    struct counts_file file;
    assert_null(parse("", 0, &file));
    assert_int_equal(file.modules.count, 0);
    counts_file_close(&file);
    memset(made, 0, sizeof *made);
    assert_null(parse(made, sizeof *made, &file));
    assert_int_equal(file.modules.count, 0);
    assert_string_equal(file.program, "");
    counts_file_close(&file);
    free(made);
}

// A process that is killed while it describes its counters: what is whole is taken.
static void what_is_whole_is_taken(void **state)
{
    const struct counts_header heads[] = {{0},
                                          {COUNTS_MAGIC, 0, 0, 0, 0},
                                          {COUNTS_MAGIC, COUNTS_VERSION, 0, 0, 0},
                                          {COUNTS_MAGIC, COUNTS_VERSION, 2 * COUNTS_PAGE, 0, 0}};
    struct made *made = make();
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct counts_file file;
        made->two = heads[i];
        made->twos[0] = 0;
        assert_null(parse(made, sizeof *made, &file));
        assert_true(file.cut);
        assert_int_equal(file.modules.count, 1);
        assert_string_equal(file.program, "/bin/made");
        counts_file_close(&file);
    }
    // not what a process leaves
    const struct counts_header others[] = {
        {0, COUNTS_VERSION, 0, 0, 0}, {0, 0, 0, 9, 0}, {COUNTS_MAGIC ^ 1, COUNTS_VERSION, 0, 0, 0}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        made->two = others[i];
        expect_broken(made, sizeof *made, "something else than counts at byte 4096");
    }
    made->two = (struct counts_header){COUNTS_MAGIC, COUNTS_VERSION + 1, 0, 0, 0};
    expect_broken(made, sizeof *made, "another version of Ordeal");
    made->two = heads[2];
    made->twos[3] = 1;
    expect_broken(made, sizeof *made, "cut off at byte 4096");
    free(made);
}

// Names of files that are gone, or have a line break, as the kernel tells them.
static void paths_are_as_they_are(void **state)
{
    char directory[] = "/tmp/ordeal-test-XXXXXX", path[64], noted[64];
    struct made *made = make();
    struct counts_file file;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/a\nb", directory);
    assert_int_equal(close(creat(path, 0600)), 0);
    const char *const endings[] = {"a\\012b", "a\\012b (deleted)"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(noted, sizeof noted, "%s/%s", directory, endings[i]);
        strcpy(made->path, noted);
        assert_null(parse(made, sizeof *made, &file));
        assert_string_equal(file.program, path);
        counts_file_close(&file);
    }
    assert_int_equal(close(creat(noted, 0600)), 0); // one that is called so
    assert_null(parse(made, sizeof *made, &file));
    assert_string_equal(file.program, noted);
    counts_file_close(&file);
    unlink(noted);
    unlink(path);
    rmdir(directory);
    free(made);
}

static void other_builds_are_refused(void **state)
{
    struct made *made = make();
    struct fidelity_subject subject = make_subject();
    uint64_t counts[2] = {0};
    for (int i = 0; i < 2; i++) {
        struct counts_file file;
        made->one.key = i == 0 ? 8 : 7;
        made->one.counters = i == 0 ? 2 : 3;
        assert_null(parse(made, sizeof *made, &file));
        struct error *error = counts_file_add(&file, &subject, counts);
        assert_non_null(error);
        assert_non_null(strstr(error_message(error), "was /bin/made built anew since?"));
        error_free(error);
        counts_file_close(&file);
    }
    free(made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_added),      cmocka_unit_test(broken_files_are_refused),
        cmocka_unit_test(nothing_is_nothing),    cmocka_unit_test(what_is_whole_is_taken),
        cmocka_unit_test(paths_are_as_they_are), cmocka_unit_test(other_builds_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
