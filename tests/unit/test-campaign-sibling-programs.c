// SPDX-License-Identifier: GPL-3.0-or-later
// Programs of one project: by functions on their stacks, and by the lists of dpkg.
#include "base/cleanup.h"
#include "campaign/sibling-programs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void must(struct error *error)
{
    if (error != NULL)
        fail_msg("%s", error_message(error));
}

static void put(const char *directory, const char *name, const char *text)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void packages_tell_programs_of_one_project(void **state)
{
    char directory[] = "/tmp/ordeal-siblings.XXXXXX", info[sizeof directory + 5];
    assert_non_null(mkdtemp(directory));
    snprintf(info, sizeof info, "%s/info", directory);
    assert_int_equal(mkdir(info, 0700), 0);
    put(info, "tools.list", "/.\n/usr\n/usr/bin\n/usr/bin/one\n/usr/bin/a-very-long-name-of-one\n");
    put(info, "more.list",
        "/usr/bin/three\n/usr/share/doc/one\n/usr/share/doc/two\n/usr/bin/two.txt\n");
    put(info, "other.list", "/usr/sbin/two\n/usr/bin/four\n/usr/bin/three\n");
    put(info, "libone:amd64.list", "/usr/lib\n/usr/lib/libone.so.1\n/usr/lib/libmore.so.2.1\n");
    put(info, "libtwo.list", "/usr/lib/libtwo.so.1\n/usr/share/doc/libthree.so.1.txt\n");
    put(info, "wrong.md5sums", "/usr/bin/one\n/usr/bin/three\n");
    put(directory, "status",
        "Package: tools\nSource: everything (1.2-3)\nVersion: 1\n\n"
        "Package: more\nVersion: 1\n\nPackage: libone\nVersion: 2\nSource: everything\n\n"
        "Package: libtwo\nDescription: x\n Package: other\n\nPackage: none\nSource: tools\n");
    _cleanup_(sibling_programs_deinit) struct sibling_programs siblings = {0};
    static const char *const names[] = {
        "one",         "two",          "three",           "four",
        "none",        "libone.so.1",  "a-very-long-nam", "libmore.so.2",
        "libtwo.so.1", "libthree.so.1"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        must(sibling_programs_add(&siblings, names[i], ""));
    must(sibling_programs_add_packages(&siblings, "/nonexistent/directory"));
    assert_false(sibling_programs_are(&siblings, "two", "three"));
    must(sibling_programs_add_packages(&siblings, directory));
    assert_true(sibling_programs_are(&siblings, "two", "three"));
    assert_true(sibling_programs_are(&siblings, "four", "two"));
    assert_true(sibling_programs_are(&siblings, "one", "a-very-long-nam"));
    assert_true(sibling_programs_are(&siblings, "one", "libone.so.1"));
    assert_false(sibling_programs_are(&siblings, "one", "two"));
    assert_false(sibling_programs_are(&siblings, "one", "three"));
    assert_false(sibling_programs_are(&siblings, "none", "one"));
    assert_false(sibling_programs_are(&siblings, "one", "libmore.so.2"));
    assert_false(sibling_programs_are(&siblings, "two", "libtwo.so.1"));
    assert_false(sibling_programs_are(&siblings, "libthree.so.1", "libtwo.so.1"));
    static const char *const files[] = {
        "info/tools.list",        "info/more.list",   "info/other.list", "info/wrong.md5sums",
        "info/libone:amd64.list", "info/libtwo.list", "status"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[200];
        snprintf(path, sizeof path, "%s/%s", directory, files[i]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(info), 0);
    assert_int_equal(rmdir(directory), 0);
}

static void code_tells_programs_of_one_project(void **state)
{
    _cleanup_(sibling_programs_deinit) struct sibling_programs siblings = {0};
    must(sibling_programs_add(&siblings, "a", "a+0x10 {11112222+0x3}\na+0x40 {99990000+0x1}\n"));
    must(sibling_programs_add(&siblings, "b", "b+0x90 {11112222+0x7}\nb+0x50 {88880000+0x1}\n"));
    must(sibling_programs_add(&siblings, "c", "c+0x90 {33332222+0x7}\nc+0x50 {99990000+0x1}\n"));
    assert_true(sibling_programs_are(&siblings, "a", "b"));
    assert_false(sibling_programs_are(&siblings, "a", "c"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packages_tell_programs_of_one_project),
        cmocka_unit_test(code_tells_programs_of_one_project),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
