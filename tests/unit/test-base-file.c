// SPDX-License-Identifier: GPL-3.0-or-later
// Files are replaced as a whole, under names nobody can foresee.
#include "trial-help.h"

#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>

static void base_names(void **state)
{
    assert_string_equal(file_base_name("/a/b.so"), "b.so");
    assert_string_equal(file_base_name("b.so"), "b.so");
    assert_string_equal(file_base_name("a/"), "a/");
}

static void a_file_gets_new_content_as_a_whole(void **state)
{
    struct buffer text = {0}, found = {0};
    must(buffer_printf(&text, "one"));
    must(file_replace("file", &text));
    int old = open("file", O_RDONLY);
    must(buffer_printf(&text, " two"));
    must(file_replace("file", &text));
    must(buffer_read_file("file", 100, &found));
    assert_string_equal(found.data, "one two");
    char byte[8] = "";
    assert_int_equal(read(old, byte, sizeof byte), 3); // its readers keep the old
    close(old);
    assert_int_equal(system("test \"$(ls -A)\" = file"), 0);
    must_say(file_replace("/nonexistent/file", &text), "/nonexistent/file: No such file");
    buffer_deinit(&text);
    buffer_deinit(&found);
}

static void a_failure_leaves_nothing_behind(void **state)
{
    struct buffer text = {0};
    must(buffer_printf(&text, "x"));
    assert_int_equal(mkdir("file", 0700), 0);
    must_say(file_replace("file", &text), "cannot write file");
    assert_int_equal(system("test \"$(ls -A)\" = file"), 0);
    int full = open("/dev/full", O_WRONLY);
    must_say(file_write(full, "the disk", &text), "the disk: No space left");
    close(full);
    buffer_deinit(&text);
}

static void library_stems(void **state)
{
    static const struct {
        const char *name;
        size_t size;
    } cases[] = {{"libc.so.6", 4},        {"libx.so", 4},      {"prog", 4}, {"libfoo.sock.so", 11},
                 {"libfoo.so.1.so.2", 6}, {"x.so-backup", 11}, {"", 0},     {".so", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (file_library_stem(cases[i].name) != cases[i].size)
            fail_msg("%s: %zu", cases[i].name, file_library_stem(cases[i].name));
}

static void temporary_names_differ(void **state)
{
    int first, second;
    _cleanup_free_ char *one = NULL, *two = NULL;
    must(file_beside("file", &first, &one));
    must(file_beside("file", &second, &two));
    assert_string_not_equal(one, two);
    close(first);
    close(second);
    uint64_t a, b;
    must(random_word(&a));
    must(random_word(&b));
    assert_true(a != b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base_names),
        cmocka_unit_test(library_stems),
        cmocka_unit_test_setup_teardown(a_file_gets_new_content_as_a_whole, enter_scratch,
                                        leave_scratch),
        cmocka_unit_test_setup_teardown(a_failure_leaves_nothing_behind, enter_scratch,
                                        leave_scratch),
        cmocka_unit_test_setup_teardown(temporary_names_differ, enter_scratch, leave_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
