// SPDX-License-Identifier: GPL-3.0-or-later
// Profiles that are kept: found again as they were, not found when anything is wrong with them.
#include "profile/batch.h"

#include "base/cleanup.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char directory[] = "/tmp/ordeal-cache-XXXXXX";
static char library[64];

static const char source[] = "#include <errno.h>\n"
                             "int setting;\n"
                             "int bad(int x, int *y)\n"
                             "{\n"
                             "    if (x == 3) { errno = EINVAL; *y = 7; setting = 4; return -1; }\n"
                             "    return 0;\n"
                             "}\n";

static int set_up(void **state)
{
    char path[64], command[256];
    assert_non_null(mkdtemp(directory));
    assert_int_equal(setenv("XDG_CACHE_HOME", directory, 1), 0);
    snprintf(path, sizeof path, "%s/a.c", directory);
    snprintf(library, sizeof library, "%s/a.so", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(source, file) >= 0);
    assert_int_equal(fclose(file), 0);
    snprintf(command, sizeof command, "cc -O1 -shared -fPIC -nostartfiles -o %s %s", library, path);
    return system(command);
}

static int tear_down(void **state)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command);
}

// Profiles the library; whether it came out of the cache.
static bool profile(const char *kernel)
{
    _cleanup_(profile_cache_close) struct profile_cache cache = {0};
    _cleanup_(batch_item_deinit) struct batch_item item = {.path = library};
    assert_null(profile_cache_open(kernel, &cache));
    const struct batch batch = {.jobs = 1, .cache = &cache};
    assert_null(profile_batch(&batch, &item, 1));
    assert_null(item.error);
    assert_int_equal(item.profile.functions.count, 1);
    const struct profile_function *function = &item.profile.functions.items[0];
    assert_string_equal(profile_text(&item.profile, function->name), "bad");
    assert_int_equal(function->count, 1);
    const struct failure *failure = &item.profile.failures.items[function->first];
    assert_int_equal(failure->result.number, -1);
    assert_int_equal(failure->error.kind, VALUE_ERRORS);
    assert_true(error_set_has(&item.profile.sets.items.items[failure->error.set], 22));
    bool named = false;
    for (unsigned i = 0; i < failure->effect_count; i++) {
        const char *name = profile_effect_name(&item.profile, &failure->effects[i]);
        named |= name != NULL && strcmp(name, "setting") == 0;
    }
    assert_true(named);
    return item.profile.cached;
}

static char *kept_file(void)
{
    static char found[256];
    char pattern[64];
    glob_t result;
    snprintf(pattern, sizeof pattern, "%s/ordeal/*.profile", directory);
    assert_int_equal(glob(pattern, 0, NULL, &result), 0);
    assert_int_equal(result.gl_pathc, 1);
    snprintf(found, sizeof found, "%s", result.gl_pathv[0]);
    globfree(&result);
    return found;
}

static void test_kept(void **state)
{
    assert_false(profile("built-in"));
    assert_true(profile("built-in"));
    // Other errors of system calls are another profile.
    assert_false(profile("another"));
    assert_true(profile("another"));
    assert_true(profile("built-in"));
}

// The build-id is that of before, the last byte is not.
static void test_changed(void **state)
{
    assert_true(profile("built-in"));
    FILE *file = fopen(library, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, -1, SEEK_END), 0);
    int last = fgetc(file);
    assert_int_equal(fseek(file, -1, SEEK_END), 0);
    assert_int_equal(fputc(last ^ 1, file), last ^ 1);
    assert_int_equal(fclose(file), 0);
    assert_false(profile("built-in"));
    assert_true(profile("built-in"));
}

static void test_damage(void **state)
{
    char command[512];
    snprintf(command, sizeof command, "rm -r %s/ordeal", directory);
    assert_int_equal(system(command), 0);
    assert_false(profile("built-in"));
    const char *path = kept_file();
    _cleanup_(buffer_deinit) struct buffer good = {0};
    assert_null(buffer_read_file(path, 1 << 20, &good));
    for (size_t i = 0; i < good.size; i += good.size / 6 + 1) {
        FILE *file = fopen(path, "r+");
        assert_non_null(file);
        assert_int_equal(fseek(file, (long)i, SEEK_SET), 0);
        assert_int_equal(fputc(good.data[i] ^ 0x41, file), (unsigned char)(good.data[i] ^ 0x41));
        assert_int_equal(fclose(file), 0);
        assert_false(profile("built-in")); // and it is whole again
    }
    for (size_t size = 0; size < good.size; size += good.size / 2 + 1) {
        assert_int_equal(truncate(path, (off_t)size), 0);
        assert_false(profile("built-in"));
    }
    assert_true(profile("built-in"));
}

static void test_unwritable(void **state)
{
    assert_int_equal(setenv("XDG_CACHE_HOME", "/proc/nowhere", 1), 0);
    assert_false(profile("built-in"));
    assert_false(profile("built-in"));
    assert_int_equal(setenv("XDG_CACHE_HOME", directory, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_changed),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_unwritable),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
