// SPDX-License-Identifier: GPL-3.0-or-later
// The table of formats, tried with the programs themselves where they are installed: a sound file
// is sound, gives the same content again, and cut short it is damaged or another one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "oracle/format.h"
#include "victim.h"

#include <string.h>
#include <sys/wait.h>

static void the_table_is_consistent(void **state)
{
    for (size_t i = 0; i < format_count; i++) {
        const struct format *format = &formats[i];
        char beginning[FORMAT_BEGINNING] = {0};
        assert_true(format->size != 0);
        assert_true(format->offset + format->size <= sizeof beginning);
        memcpy(beginning + format->offset, format->magic, format->size);
        assert_ptr_equal(format_find(beginning, sizeof beginning), format);
        assert_null(format_find(beginning, format->offset + format->size - 1));
        assert_ptr_equal(format_named(format->name), format);
        assert_non_null(strstr(format->script, format->tool));
        assert_false(format->packs && format->streams);
    }
    assert_null(format_find("plain text\n", 11));
    assert_null(format_named("text"));
}

// How a file of each format is made in the directory, as "made". `needs` is what that takes.
static const struct {
    const char *format, *needs, *make;
} makers[] = {
    {"gzip", "gzip", "gzip -c a >made"},
    {"xz", "xz", "xz -c a >made"},
    {"bzip2", "bzip2", "bzip2 -c a >made"},
    {"zstd", "zstd", "zstd -qc a >made"},
    {"lz4", "lz4", "lz4 -qc a >made"},
    {"tar", "tar", "tar -cf made a b"},
    {"cpio", "cpio", "printf 'a\\nb\\n' | cpio -o --quiet -H newc >made"},
    {"binary cpio", "cpio", "printf 'a\\nb\\n' | cpio -o --quiet -H bin >made"},
    {"zip", "zip", "zip -q made.zip a b && mv made.zip made"},
    {"PNG", "base64",
     "echo "
     "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg== "
     "|"
     " base64 -d >made"},
    {"JPEG", "cjpeg", "printf 'P5 9 9 255\\n%081d' 7 | cjpeg >made"},
    {"SQLite", "sqlite3",
     "sqlite3 made 'CREATE TABLE t (x); INSERT INTO t VALUES (zeroblob(9000))'"},
};

static int sh(const char *command)
{
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Runs the script of a format on "made"; its output goes to the file `output`.
static int run_script(const struct format *format, const struct format *inner, const char *output)
{
    char *script = NULL;
    _cleanup_(buffer_deinit) struct buffer command = {0};
    good(format_script(format, inner, &script));
    good(buffer_printf(&command, "cat >script <<'END'\n%s\nEND\nLC_ALL=C sh script <made >%s 2>err",
                       script, output));
    free(script);
    return sh(command.data);
}

static void every_format_is_read(void **state)
{
    unsigned tried = 0;
    assert_int_equal(sizeof makers / sizeof *makers, format_count);
    for (size_t i = 0; i < format_count; i++) {
        const struct format *format = format_named(makers[i].format);
        _cleanup_(buffer_deinit) struct buffer ask = {0};
        assert_non_null(format);
        good(buffer_printf(&ask, "command -v %s %s >/dev/null", makers[i].needs, format->tool));
        if (sh(ask.data) != 0)
            continue;
        tried++;
        assert_int_equal(sh("rm -f made* && seq 1 3000 >a && seq 7 5000 >b"), 0);
        assert_int_equal(sh(makers[i].make), 0);
        int first = run_script(format, NULL, "one"), second = run_script(format, NULL, "two");
        if ((first != 0 && first != FORMAT_SOUND_ONLY) || second != first ||
            sh("cmp -s one two") != 0)
            fail_msg("%s: %d, %d", format->name, first, second);
        assert_int_equal(sh("truncate -s $(($(stat -c %s made) * 2 / 3)) made"), 0);
        int cut = run_script(format, NULL, "two");
        if (cut == FORMAT_NO_TOOL || cut == FORMAT_SOUND_ONLY ||
            (cut == 0 && sh("cmp -s one two") == 0))
            fail_msg("%s, cut: %d", format->name, cut);
    }
    assert_true(tried >= 4); // gzip, bzip2, tar and xz are on every Debian
}

static void archives_are_read_in_what_is_packed(void **state)
{
    const struct format *gzip = format_named("gzip"), *tar = format_named("tar");
    assert_int_equal(sh("seq 1 3000 >a && tar -czf made a"), 0);
    assert_int_equal(run_script(gzip, tar, "one"), 0);
    assert_int_equal(sh("cmp one a"), 0);
    // Sound for gzip, not for tar.
    assert_int_equal(sh("tar -cf whole a && head -c 3000 whole | gzip >made"), 0);
    assert_int_equal(run_script(gzip, NULL, "one"), 0);
    assert_int_not_equal(run_script(gzip, tar, "one"), 0);
}

static void a_missing_tool_is_told(void **state)
{
    struct format other = *format_named("gzip");
    other.tool = "there-is-no-such-tool";
    assert_int_equal(sh("echo x | gzip >made"), 0);
    assert_int_equal(run_script(&other, NULL, "one"), FORMAT_NO_TOOL);
}

static int setup(void **state)
{
    return victim_setup(state) == 0 ? chdir(victim_directory) : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_consistent),
        cmocka_unit_test(every_format_is_read),
        cmocka_unit_test(archives_are_read_in_what_is_packed),
        cmocka_unit_test(a_missing_tool_is_told),
    };
    return cmocka_run_group_tests(tests, setup, victim_teardown);
}
