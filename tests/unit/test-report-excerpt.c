// SPDX-License-Identifier: GPL-3.0-or-later
// Which files the HTML report takes lines from, and which it leaves alone.
#include "report/campaign/html.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static char directory[] = "/tmp/ordeal-excerpt-XXXXXX";

static void write_file(const char *name, const char *content, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

// The page's text about a line of a file; the caller frees it.
static char *excerpt(const char *name, unsigned line)
{
    struct buffer text = {0};
    struct html_page page = {.text = &text};
    assert_null(html_excerpt(&page, directory, name, line));
    return text.data;
}

static void expect_nothing(const char *name, unsigned line)
{
    char *text = excerpt(name, line);
    assert_null(strstr(text, "class=\"line"));
    free(text);
}

static void lines_around(void **state)
{
    static const char content[] = "one\ntwo\nthree\nfour\nfive\nsix <&>\nseven\neight\nnine\nten\n"
                                  "eleven\ntwelve";
    write_file("x.c", content, sizeof content - 1);
    char *text = excerpt("x.c", 6);
    assert_non_null(strstr(text, "x.c:6"));
    assert_non_null(strstr(text, "<span class=\"line here\"><span class=\"number\">6</span>"
                                 "six &lt;&amp;&gt;\n</span>"));
    assert_non_null(strstr(text, ">2</span>two\n"));
    assert_non_null(strstr(text, ">10</span>ten\n"));
    assert_null(strstr(text, "one"));
    assert_null(strstr(text, "eleven"));
    free(text);
    // At both ends, and beyond.
    text = excerpt("x.c", 1);
    assert_non_null(strstr(text, "line here\"><span class=\"number\">1</span>one\n"));
    free(text);
    text = excerpt("x.c", 12);
    assert_non_null(strstr(text, "line here\"><span class=\"number\">12</span>twelve\n"));
    free(text);
    expect_nothing("x.c", 17);
    expect_nothing("x.c", 0);
    expect_nothing("x.c", UINT32_MAX);
    expect_nothing("missing.c", 1);
}

static void secrets_stay(void **state)
{
    write_file("secret", "key\n", 4);
    write_file("id.key", "key\n", 4);
    write_file("binary.c", "a\0b\n", 4);
    expect_nothing("secret", 1);
    expect_nothing("id.key", 1);
    expect_nothing("binary.c", 1);
    // Neither waits nor reads without end.
    char path[128];
    snprintf(path, sizeof path, "%s/fifo.c", directory);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_nothing("fifo.c", 1);
    snprintf(path, sizeof path, "%s/zero.c", directory);
    assert_int_equal(symlink("/dev/zero", path), 0);
    expect_nothing("zero.c", 1);
    snprintf(path, sizeof path, "%s/directory.c", directory);
    assert_int_equal(mkdir(path, 0700), 0);
    expect_nothing("directory.c", 1);
}

static int set_up(void **state)
{
    return mkdtemp(directory) == NULL;
}

static int tear_down(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf /tmp/ordeal-excerpt-%s", strrchr(directory, '-') + 1);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_around),
        cmocka_unit_test(secrets_stay),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
