// SPDX-License-Identifier: GPL-3.0-or-later
// Errors as manual pages list them.
#include "profile/man.h"

#include "base/cleanup.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include <cmocka.h>

static unsigned number(const char *name, size_t size)
{
    static const struct {
        const char *name;
        unsigned number;
    } names[] = {{"EBADF", EBADF}, {"EIO", EIO}, {"EINTR", EINTR}, {"EINVAL", EINVAL}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == size && memcmp(names[i].name, name, size) == 0)
            return names[i].number;
    return 0;
}

static const char page[] = ".TH thing 2\n"
                           ".SH DESCRIPTION\n.TP\n.B EINVAL\nis not meant here\n"
                           ".SH ERRORS\n.TP\n.B EBADF\nnot like\n.BR EINVAL ,\nwhich is only "
                           "mentioned\n.TP\n.BR EIO \", \" EINTR\nboth\n.\\\" .TP EINVAL\n"
                           ".TP\n.B EUNHEARD\nwhat is that\n"
                           ".SH NOTES\n.TP\n.B EINVAL\nno more\n";

static void expect_listed(const struct error_set *errors)
{
    assert_true(error_set_has(errors, EBADF));
    assert_true(error_set_has(errors, EIO));
    assert_true(error_set_has(errors, EINTR));
    assert_false(error_set_has(errors, EINVAL));
    assert_false(error_set_has(errors, 0));
}

static void test_tags(void **state)
{
    const struct man man = {.number = number};
    struct error_set errors = {0};
    assert_true(man_parse(&man, page, &errors));
    expect_listed(&errors);
    assert_false(man_parse(&man, ".SH NAME\nnothing\n", &errors));
    assert_false(man_parse(&man, "", &errors));
    assert_true(man_parse(&man, ".SH ERRORS\n.TP", &errors));
    assert_true(man_parse(&man, ".Sh ERRORS\n.It Bq Er EBADF\ntext\n", &errors));
    assert_true(error_set_has(&errors, EBADF));
    assert_true(man_parse(&man, ".SH \"ERRORS\"\n.IP \\fBEIO\\fR 4\ntext\n", &errors));
    assert_true(error_set_has(&errors, EIO));
    assert_true(man_parse(&man, ".SH ERRORS\n.TP\n\\f", &errors));
}

static void write_compressed(const char *path, const char *text)
{
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, (unsigned)strlen(text)), (int)strlen(text));
    assert_int_equal(gzclose(file), Z_OK);
}

static void test_files(void **state)
{
    char directory[] = "/tmp/ordeal-man-XXXXXX", path[256];
    assert_non_null(mkdtemp(directory));
    assert_int_equal(setenv("MANPATH", directory, 1), 0);
    snprintf(path, sizeof path, "%s/man2", directory);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/man2/thing.2.gz", directory);
    write_compressed(path, page);
    snprintf(path, sizeof path, "%s/man2/alias.2.gz", directory);
    write_compressed(path, ".so man2/thing.2\n");
    snprintf(path, sizeof path, "%s/man2/circle.2.gz", directory);
    write_compressed(path, ".so man2/circle.2\n");

    _cleanup_(man_close) struct man man = {0};
    struct error_set errors = {0};
    bool found;
    assert_null(man_open(number, &man));
    assert_null(man_errors(&man, "thing", &errors, &found));
    assert_true(found);
    expect_listed(&errors);
    memset(&errors, 0, sizeof errors);
    assert_null(man_errors(&man, "alias", &errors, &found));
    assert_true(found);
    expect_listed(&errors);
    static const char *const nothing[] = {"circle", "missing", "../thing", ".", "", "a/b"};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
        assert_null(man_errors(&man, nothing[i], &errors, &found));
        assert_false(found);
    }
    snprintf(path, sizeof path, "rm -r %s", directory);
    assert_int_equal(system(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tags), cmocka_unit_test(test_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
