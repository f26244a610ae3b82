// SPDX-License-Identifier: GPL-3.0-or-later
// What a trial changed: found in every kind of sandbox, nothing else reported.
#include "base/remove.h"
#include "base/stale.h"
#include "sandbox-help.h"

#include "sandbox/changes.h"
#include "sandbox/digest.h"
#include "sandbox/mounts.h"

#include <sys/mman.h>
#include <sys/resource.h>

static struct buffer seen;
static const char *const *ignore;

static struct error *note(void *data, const struct sandbox_change *change)
{
    const char kinds[] = "fdlo-";
    const char *path = change->path;
    size_t size = strlen(place);
    if (strncmp(path, place, size) == 0 && path[size] == '/')
        path += size + 1;
    must(buffer_printf(&seen, "%c %s", kinds[change->kind], path));
    if (change->kind == SANDBOX_FILE) {
        assert_non_null(change->open);
        struct buffer content = {0};
        must(buffer_read_file(change->open, 1 << 20, &content));
        assert_int_equal(content.size, change->size);
        must(buffer_printf(&seen, " %o %.*s", change->mode, (int)strcspn(content.data, "\n"),
                           content.data));
        buffer_deinit(&content);
    } else {
        assert_null(change->open);
    }
    return buffer_append(&seen, "\n", 1);
}

static struct error *look(void *data, struct sandbox *sandbox)
{
    return sandbox_each_change(sandbox, ignore, note, NULL);
}

static void changes(enum sandbox_kind kind, const char *script, const char *expected)
{
    struct sandbox *sandbox = make(kind, NULL, false);
    for (int i = 0; i < (kind == SANDBOX_NONE ? 1 : 2); i++) { // the second time as the first
        struct sandbox_step step = {SCRIPT(script)};
        struct sandbox_result result;
        buffer_deinit(&seen);
        seen = (struct buffer){0};
        must(sandbox_run(sandbox, &step, 1, NULL, look, NULL, &result));
        if (result.status != 0)
            fail_msg("%s", text_of(&result.err));
        sandbox_result_deinit(&result);
        assert_string_equal(seen.data == NULL ? "" : seen.data, expected);
    }
    sandbox_free(sandbox);
    buffer_deinit(&seen);
    seen = (struct buffer){0};
}

static void original(void)
{
    assert_int_equal(chdir(place), 0);
    assert_int_equal(
        system("find . -mindepth 1 -delete; mkdir -p a/b c e; echo 1 > a/one; echo 2 > "
               "a/b/two; echo 3 > c/three; echo 4 > four; echo 5 > five; ln -s four link; "
               "echo 6 > e/six; chmod 600 five; touch -d @1000000000 four"),
        0);
}

static const enum sandbox_kind kinds[] = {SANDBOX_NONE, SANDBOX_COPY, SANDBOX_OVERLAY};
static void each(const char *script, const char *expected)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        original();
        changes(kinds[i], script, expected);
    }
}

static void nothing(void **state)
{
    each("cat four five a/one > /dev/null; ls -R > /dev/null", "");
    each("mkdir d; rmdir d; echo x > x; rm x; mv c d; mv d c", "");
    each(": >> four; chmod 600 four; chmod 644 four", "");
}

// With what they had before: who does not write them does something else.
static void written_again(void **state)
{
    each("cat four > x; cat x > four; rm x", "f four 644 4\n");
    each("cp five y; rm five; mv y five; chmod 600 five", "f five 600 5\n");
    each("rm -r c; mkdir c; echo 3 > c/three", "f c/three 644 3\n");
}

static void simple(void **state)
{
    each("echo new > new; echo 44 > four; rm five; mkdir d; echo in > d/in; ln -s x sym; mkfifo p",
         "d d\nf d/in 644 in\n- five\nf four 644 44\nf new 644 new\no p\nl sym\n");
    each("chmod 755 four; rm link; ln -s five link; chmod 700 a", "d a\nf four 755 4\nl link\n");
}

static void whole_directories(void **state)
{
    each("rm -r a", "- a\n");
    each("rm -r a; mkdir a; echo n > a/new", "- a/b\nf a/new 644 n\n- a/one\n");
    each("rm -r c; echo file > c", "f c 644 file\n");
    each("mv a z", "- a\nd z\nd z/b\nf z/b/two 644 2\nf z/one 644 1\n");
    each("mv a/b c/b; echo more > c/b/more",
         "- a/b\nd c/b\nf c/b/more 644 more\nf c/b/two 644 2\n");
    each("mv c e/c; mv e c", "d c/c\nf c/c/three 644 3\nf c/six 644 6\n- c/three\n- e\n");
}

static void unreadable(void **state)
{
    original();
    changes(SANDBOX_OVERLAY, "mkdir d; echo s > d/s; chmod 0 d/s d four",
            "d d\nf d/s 0 s\nf four 0 4\n");
}

static void ignored_patterns(void **state)
{
    static const char *const patterns[] = {"*.log", "a", "/*/e/six", "c/t*", NULL};
    ignore = patterns;
    each("echo l > x.log; echo 11 > a/one; echo 22 > a/b/two; echo 66 > e/six; echo 33 > c/three; "
         "echo n > c/n; mkdir d; echo l > d/y.log; echo ab > ab",
         "f ab 644 ab\nf c/n 644 n\nd d\n");
    ignore = NULL;
}

static void everywhere(void **state)
{
    if (geteuid() != 0)
        skip();
    original();
    changes(
        SANDBOX_OVERLAY,
        "echo x > /etc/ordeal-test; rm /etc/hostname; echo y > /tmp/y; echo z > /run/z; "
        "echo v > /var/ordeal-test; echo f > four",
        access("/etc/hostname", F_OK) == 0
            ? "- /etc/hostname\nf /etc/ordeal-test 644 x\nf /var/ordeal-test 644 v\nf four 644 f\n"
            : "f /etc/ordeal-test 644 x\nf /var/ordeal-test 644 v\nf four 644 f\n");
}

static bool before(void *data, struct sandbox *sandbox)
{
    must(look(NULL, sandbox));
    must(buffer_printf(&seen, "|\n"));
    return true;
}
// Deeper than files may be open at a time: a change there is told as any other.
static void deeper_than_files_are_open(void **state)
{
    enum { DEPTH = 60 };
    char path[2 * DEPTH + 16] = "", command[2 * DEPTH + 64], expected[2 * DEPTH + 32];
    struct rlimit before, few;
    original();
    for (int i = 0; i < DEPTH; i++)
        strcat(path, i == 0 ? "d" : "/d");
    snprintf(command, sizeof command, "mkdir -p %s", path);
    assert_int_equal(system(command), 0);
    snprintf(command, sizeof command, "echo 1 > %s/new", path);
    snprintf(expected, sizeof expected, "f %s/new 644 1\n", path);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    few.rlim_cur = 64;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct sandbox *sandbox = make(kinds[i], NULL, false);
        struct sandbox_step step = {SCRIPT(command)};
        struct sandbox_result result;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        struct error *error = sandbox_run(sandbox, &step, 1, NULL, look, NULL, &result);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        must(error);
        sandbox_result_deinit(&result);
        sandbox_free(sandbox);
        assert_non_null(seen.data);
        const char *told = strstr(seen.data, "f d/");
        assert_non_null(told);
        assert_string_equal(told, expected);
        buffer_deinit(&seen);
        seen = (struct buffer){0};
    }
}

enum { NESTED = 5000 };

static int nest(int shared)
{
    for (int i = 0; i < NESTED; i++)
        if (mkdir("nested", 0755) < 0 || chdir("nested") < 0)
            return 1;
    return 0;
}

static size_t deepest; // in components
static struct error *measure_one(void *data, const struct sandbox_change *change)
{
    size_t depth = 0;
    for (const char *at = change->path; (at = strstr(at, "/nested")) != NULL; at++)
        depth++;
    deepest = depth > deepest ? depth : deepest;
    return NULL;
}

static struct error *measure(void *data, struct sandbox *sandbox)
{
    return sandbox_each_change(sandbox, NULL, measure_one, NULL);
}

// A tree far deeper than paths are long, made by a trial and then there before it: it is listed as
// far as paths reach, copied and removed.
static void deeper_than_paths_are_long(void **state)
{
    struct sandbox_result result;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct sandbox *sandbox = make(kinds[i], NULL, false);
        struct sandbox_step step = {
            .command = (char *[]){"nest", NULL}, .environment = plain, .inside = nest, .input = -1};
        deepest = 0;
        must(sandbox_run(sandbox, &step, 1, NULL, measure, NULL, &result));
        assert_int_equal(result.end, SANDBOX_EXIT);
        assert_int_equal(result.status, 0);
        sandbox_result_deinit(&result);
        assert_true(deepest > (PATH_MAX - sizeof place) / strlen("/nested") - 1);
        sandbox_free(sandbox);
        if (kinds[i] != SANDBOX_NONE)
            continue;
        sandbox = make(SANDBOX_COPY, NULL, false);
        result = run_in(sandbox, "test -e nested/nested/nested && echo copied", 60000);
        assert_string_equal(text_of(&result.out), "copied\n");
        sandbox_result_deinit(&result);
        sandbox_free(sandbox);
        must(remove_tree("nested"));
        assert_int_equal(access("nested", F_OK), -1);
    }
}

static void after(void *data, struct sandbox *sandbox, const struct sandbox_result *result)
{
    must(look(NULL, sandbox));
    must(buffer_printf(&seen, "|\n"));
}

static void between_steps(void **state)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        original();
        struct sandbox *sandbox = make(kinds[i], NULL, false);
        struct sandbox_step steps[] = {{SCRIPT("echo a > new"), .before = before, .after = after},
                                       {SCRIPT("echo b > new; rm four"), .after = after}};
        struct sandbox_result results[2];
        must(sandbox_run(sandbox, steps, 2, NULL, NULL, NULL, results));
        assert_string_equal(seen.data, "|\nf new 644 a\n|\n- four\nf new 644 b\n|\n");
        buffer_deinit(&seen);
        seen = (struct buffer){0};
        for (int j = 0; j < 2; j++)
            sandbox_result_deinit(&results[j]);
        struct error *error = sandbox_each_change(sandbox, NULL, note, NULL);
        assert_non_null(error);
        error_free(error);
        sandbox_free(sandbox);
    }
}

static void only_none_touches_the_original(void **state)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        original();
        prints(kinds[i], "rm -r a; echo x > four; cat four", "x\n");
        assert_int_equal(access("a/one", F_OK) == 0, kinds[i] != SANDBOX_NONE);
        holds("four", kinds[i] == SANDBOX_NONE ? "x\n" : "4\n");
    }
}

static void copies_of_the_dead_are_removed(void **state)
{
    pid_t dead = fork();
    if (dead == 0)
        _exit(0);
    waitpid(dead, NULL, 0);
    char of_dead[200], of_live[200], of_us[200], of_namesake[200], of_others[200], file[300];
    setenv("TMPDIR", place, 1);
    snprintf(of_dead, sizeof of_dead, "%s/ordeal-copy-%d-abcdef", place, dead);
    snprintf(of_live, sizeof of_live, "%s/ordeal-copy-%d-abcdef", place, getpid());
    assert_int_equal(mkdir(of_dead, 0700), 0);
    assert_int_equal(mkdir(of_live, 0700), 0);
    snprintf(of_us, sizeof of_us, "%s/ordeal-copy-%s-abcdef", place, stale_owner());
    snprintf(of_namesake, sizeof of_namesake, "%s/ordeal-copy-%d.1-abcdef", place, getpid());
    assert_int_equal(mkdir(of_us, 0700), 0);
    assert_int_equal(mkdir(of_namesake, 0700), 0);
    // Somebody in another process namespace has the number, who for us is no more.
    snprintf(of_others, sizeof of_others, "%s/ordeal-copy-%d.1.1-abcdef", place, dead);
    assert_int_equal(mkdir(of_others, 0700), 0);
    snprintf(file, sizeof file, "%s/file", of_dead);
    put(file, "x");
    chmod(of_dead, 0);
    assert_int_equal(mkdir("work", 0755), 0);
    struct sandbox_options options = {.kind = SANDBOX_COPY, .directory = "work"};
    struct sandbox *sandbox = NULL;
    must(sandbox_new(&options, &sandbox));
    sandbox_free(sandbox);
    options.directory = place;
    struct error *error = sandbox_new(&options, &sandbox);
    assert_non_null(error);
    assert_non_null(strstr(error_message(error), "set TMPDIR to another directory"));
    error_free(error);
    unsetenv("TMPDIR");
    assert_int_equal(access(of_dead, F_OK), -1);
    assert_int_equal(access(of_live, F_OK), 0);
    assert_int_equal(rmdir(of_live), 0);
    assert_int_equal(rmdir(of_us), 0);
    assert_int_equal(rmdir(of_others), 0);
    assert_int_equal(access(of_namesake, F_OK), -1); // had this number before us
    assert_int_equal(rmdir("work"), 0);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(place), 0); // nothing else is left there
}

static void mount_tables(void **state)
{
    struct mounts mounts = {0};
    must(mounts_parse("1 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
                      "20 1 8:2 / /home\\040of rw,nosuid,noexec shared:1 - ext4 /dev/sda2 ro,x\n"
                      "21 1 0:5 / /proc rw - proc proc rw\n"
                      "22 20 0:9 /sub /home\\040of/me ro - nfs server:/x rw\n"
                      "23 20 0:9 / /home\\040of/me rw - xfs y rw\n"
                      "garbage\n1 2 3 4 5 6 7 8 9\n",
                      "", &mounts));
    assert_int_equal(mounts.entries.count, 4);
    const struct mount_entry *home = mounts_at(&mounts, "/home of");
    assert_non_null(home);
    assert_true(home->readonly && home->flags != 0);
    const struct mount_entry *me = mounts_at(&mounts, "/home of/me");
    assert_string_equal(me->type, "xfs");
    assert_false(me->readonly);
    assert_true(mounts_below(&mounts, "/home of"));
    assert_true(mounts_below(&mounts, ""));
    assert_false(mounts_below(&mounts, "/home"));
    assert_false(mounts_below(&mounts, "/home of/me"));
    assert_true(mount_is_virtual(mounts_at(&mounts, "/proc")));
    assert_true(mounts_option("rw,pids,x", "pids"));
    assert_false(mounts_option("rw,pidsx", "pids"));
    mounts_deinit(&mounts);
}

static void paths(void **state)
{
    assert_true(path_below("/a/b", "/a"));
    assert_true(path_below("/a", "/a"));
    assert_true(path_below("/a", "/"));
    assert_false(path_below("/ab", "/a"));
    assert_true(change_ignored("/w/x/y.o", "/w", (const char *const[]){"*.o", NULL}));
    assert_true(change_ignored("/w/out/x", "/w", (const char *const[]){"out", NULL}));
    assert_false(change_ignored("/v/out/x", "/w", (const char *const[]){"out", NULL}));
    assert_true(change_ignored("/v/out/x", "/w", (const char *const[]){"/v/*", NULL}));
    assert_false(change_ignored("/w/outer", "/w", (const char *const[]){"out", NULL}));
}

// A file that grows while it is looked at has the content of its size when that was asked.
static void digests_of_files_that_grow(void **state)
{
    _cleanup_close_ int file = memfd_create("grown", MFD_CLOEXEC);
    uint64_t hash;
    assert_int_equal(write(file, "abcdef", 6), 6);
    assert_true(digest_file(file, 3, &hash));
    assert_int_equal(hash, digest_bytes("abc", 3));
    assert_true(digest_file(file, 100, &hash));
    assert_int_equal(hash, digest_bytes("abcdef", 6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing),
        TEST(written_again),
        TEST(simple),
        TEST(whole_directories),
        TEST(unreadable),
        TEST(ignored_patterns),
        TEST(everywhere),
        TEST(deeper_than_files_are_open),
        TEST(deeper_than_paths_are_long),
        TEST(between_steps),
        TEST(only_none_touches_the_original),
        TEST(copies_of_the_dead_are_removed),
        TEST(mount_tables),
        TEST(paths),
        TEST(digests_of_files_that_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
