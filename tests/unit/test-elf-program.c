// SPDX-License-Identifier: GPL-3.0-or-later
// Which file a command runs, and why not; which libraries a program loads.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "elf/object.h"
#include "skip.h"
#include "victim.h"

#include <errno.h>
#include <limits.h>

static void write_script(const char *name, const char *text, mode_t mode)
{
    victim_write(name, text, strlen(text), mode);
}

static void is_found(const char *command, const char *path, bool script)
{
    struct elf_program program = {0};
    good(elf_find_program(command, &program));
    assert_string_equal(program.path, path);
    assert_int_equal(program.script, script);
    elf_program_deinit(&program);
}

static void is_refused(const char *command, const char *why)
{
    struct elf_program program = {.path = NULL};
    bad(elf_find_program(command, &program), why);
    assert_null(program.path);
}

// Sets an environment variable for one test.
static char *saved;
static void set(const char *name, const char *value)
{
    const char *old = getenv(name);
    saved = old != NULL ? strdup(old) : NULL;
    setenv(name, value, 1);
}
static void restore(const char *name)
{
    if (saved != NULL)
        setenv(name, saved, 1);
    else
        unsetenv(name);
    free(saved);
    saved = NULL;
}

static void by_path_and_by_search(void **state)
{
    victim_build(victim_compiler(), "tool", "int main(void) { return 0; }", "");
    is_found(victim_path("tool"), victim_path("tool"), false);
    assert_true(
        victim_run("mkdir -p a b c/tool && cp tool b/tool && cp tool a/tool && chmod -x a/tool"));
    char list[PATH_MAX];
    snprintf(list, sizeof list, "/nonexistent:%s/c:%s/a:%s/b", victim_directory, victim_directory,
             victim_directory);
    set("PATH", list);
    is_found("tool", victim_path("b/tool"), false);
    snprintf(list, sizeof list, "%s/a", victim_directory);
    setenv("PATH", list, 1);
    is_refused("tool", "permission denied");
    is_refused("absent", "not found in PATH");
    // An empty element is the current directory.
    char *directory = getcwd(NULL, 0);
    assert_int_equal(chdir(victim_directory), 0);
    setenv("PATH", "/nonexistent:", 1);
    is_found("tool", "./tool", false);
    assert_int_equal(chdir(directory), 0);
    free(directory);
    restore("PATH");
}

static void what_cannot_run(void **state)
{
    is_refused("", "empty command");
    is_refused("/nonexistent/x", "No such file or directory");
    is_refused(victim_directory, "is a directory");
    write_script("plain", "hello\n", 0644);
    is_refused(victim_path("plain"), "permission denied");
    write_script("words", "hello\n", 0755);
    is_refused(victim_path("words"), "neither an ELF program nor a script");
    write_script("nothing", "", 0755);
    is_refused(victim_path("nothing"), "empty");
}

static void scripts(void **state)
{
    write_script("script", "#!/bin/sh\necho\n", 0755);
    is_found(victim_path("script"), "/bin/sh", true);
    write_script("spaced", "#! \t/usr/bin/env  -S sh -x\n", 0755);
    is_found(victim_path("spaced"), "/usr/bin/env", true);
    write_script("unended", "#!/bin/sh", 0755);
    is_found(victim_path("unended"), "/bin/sh", true);
    char text[512];
    snprintf(text, sizeof text, "#!%s\n", victim_path("script"));
    write_script("outer", text, 0755);
    is_found(victim_path("outer"), "/bin/sh", true);
    write_script("lost", "#!/nonexistent/interpreter -x\n", 0755);
    is_refused(victim_path("lost"), "/nonexistent/interpreter");
    is_refused(victim_path("lost"), "lost");
    write_script("blank", "#!  \n", 0755);
    is_refused(victim_path("blank"), "names no interpreter");
    snprintf(text, sizeof text, "#!%s\n", victim_path("ring"));
    write_script("ring", text, 0755);
    is_refused(victim_path("ring"), "scripts lead to one another");
    memset(text, 'a', 400);
    memcpy(text, "#!/", 3);
    victim_write("long", text, 400, 0755);
    is_refused(victim_path("long"), "too long");
}

static void privileges(void **state)
{
    struct elf_program program = {0};
    victim_build(victim_compiler(), "suid", "int main(void) { return 0; }", "");
    assert_int_equal(chmod(victim_path("suid"), 06755), 0);
    good(elf_find_program(victim_path("suid"), &program));
    assert_false(program.setuid); // it is our own
    elf_program_deinit(&program);
    if (chown(victim_path("suid"), 12345, 0) != 0)
        skip_because("a file cannot be given to another user: %s", strerror(errno));
    assert_int_equal(chmod(victim_path("suid"), 04755), 0);
    good(elf_find_program(victim_path("suid"), &program));
    assert_true(program.setuid);
    elf_program_deinit(&program);
    assert_int_equal(chown(victim_path("suid"), 0, 12345), 0);
    assert_int_equal(chmod(victim_path("suid"), 02755), 0);
    good(elf_find_program(victim_path("suid"), &program));
    assert_true(program.setuid);
    elf_program_deinit(&program);
    assert_int_equal(chmod(victim_path("suid"), 02745), 0); // not executable by its group
    good(elf_find_program(victim_path("suid"), &program));
    assert_false(program.setuid);
    elf_program_deinit(&program);
}

static struct elf_closure closure_of(const char *path)
{
    struct elf_object *object = NULL;
    struct elf_closure closure = {0};
    good(elf_object_open(path, &object));
    good(elf_closure_find(object, &closure));
    elf_object_close(object);
    return closure;
}

static size_t position(const struct elf_closure *closure, const char *path)
{
    for (size_t i = 0; i < closure->count; i++)
        if (strcmp(closure->paths[i], path) == 0)
            return i + 1;
    return 0;
}

static bool is_missing(const struct elf_closure *closure, const char *name)
{
    for (size_t i = 0; i < closure->missing_count; i++)
        if (strcmp(closure->missing[i], name) == 0)
            return true;
    return false;
}

static void libraries_beside_the_program(void **state)
{
    assert_true(victim_run("mkdir -p lib/deep other"));
    victim_build(victim_compiler(), "lib/deep/libdeep.so", "int deep(void) { return 1; }",
                 "-shared -fPIC");
    victim_build(victim_compiler(), "lib/libnear.so",
                 "int deep(void); int near(void) { return deep(); }",
                 "-shared -fPIC -Llib/deep -ldeep -Wl,-rpath,'$ORIGIN/deep'");
    victim_build(victim_compiler(), "user", "int near(void); int main(void) { return near(); }",
                 "-Llib -lnear -Wl,-rpath-link,lib/deep -Wl,-rpath,'/nonexistent:${ORIGIN}/lib'");
    struct elf_closure closure = closure_of(victim_path("user"));
    assert_int_equal(position(&closure, victim_path("lib/libnear.so")), 1);
    assert_int_equal(closure.count, 4);
    size_t deep = 0;
    for (size_t i = 0; i < closure.count; i++)
        if (strstr(closure.paths[i], "/lib/deep/libdeep.so") != NULL)
            deep = i + 1;
    assert_int_equal(deep, 3); // breadth first: after libc
    assert_int_equal(closure.missing_count, 0);
    elf_closure_deinit(&closure);

    // A link to the program does not change its $ORIGIN.
    assert_true(victim_run("ln -sf ../user other/user"));
    closure = closure_of(victim_path("other/user"));
    assert_int_equal(closure.count, 4);
    elf_closure_deinit(&closure);

    // DT_RUNPATH is not inherited, DT_RPATH is.
    victim_build(victim_compiler(), "lib/libnear.so",
                 "int deep(void); int near(void) { return deep(); }",
                 "-shared -fPIC -Llib/deep -ldeep");
    closure = closure_of(victim_path("user"));
    assert_true(is_missing(&closure, "libdeep.so"));
    elf_closure_deinit(&closure);
    victim_build(victim_compiler(), "user", "int near(void); int main(void) { return near(); }",
                 "-Llib -lnear -Wl,-rpath-link,lib/deep -Wl,--disable-new-dtags "
                 "-Wl,-rpath,'$ORIGIN/lib:$ORIGIN/lib/deep'");
    closure = closure_of(victim_path("user"));
    assert_int_equal(closure.missing_count, 0);
    assert_int_not_equal(position(&closure, victim_path("lib/deep/libdeep.so")), 0);
    elf_closure_deinit(&closure);
}

static void the_environment_counts(void **state)
{
    assert_true(victim_run("mkdir -p env32 env"));
    victim_build(victim_compiler(), "env/libenv.so", "int env(void) { return 1; }",
                 "-shared -fPIC");
    victim_build(victim_compiler(), "asks", "int env(void); int main(void) { return env(); }",
                 "-Lenv -lenv");
    struct elf_closure closure = closure_of(victim_path("asks"));
    assert_true(is_missing(&closure, "libenv.so"));
    elf_closure_deinit(&closure);
    // What is no library for this machine is passed over.
    write_script("env32/libenv.so", "junk that is long enough to be read\n", 0755);
    char list[PATH_MAX];
    snprintf(list, sizeof list, "%s/env32;%s/env", victim_directory, victim_directory);
    set("LD_LIBRARY_PATH", list);
    closure = closure_of(victim_path("asks"));
    assert_int_equal(closure.missing_count, 0);
    assert_int_equal(position(&closure, victim_path("env/libenv.so")), 1);
    elf_closure_deinit(&closure);
    restore("LD_LIBRARY_PATH");
}

// The loader is the judge.
static void as_the_loader_finds_them(void **state)
{
    static const char *const programs[] = {"/bin/sh",          "/usr/bin/git", "/usr/bin/perl",
                                           "/usr/bin/python3", "/usr/bin/ld",  "/usr/bin/curl"};
    size_t compared = 0;
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        if (access(programs[i], X_OK) != 0)
            continue;
        struct elf_closure closure = closure_of(programs[i]);
        char command[256], line[1024];
        snprintf(command, sizeof command, "LD_TRACE_LOADED_OBJECTS=1 %s | grep -c '=> /'",
                 programs[i]);
        FILE *pipe = popen(command, "r");
        size_t expected = 0;
        assert_int_equal(fscanf(pipe, "%zu", &expected), 1);
        pclose(pipe);
        assert_int_equal(closure.count, expected + 1); // and the loader itself
        snprintf(command, sizeof command,
                 "LD_TRACE_LOADED_OBJECTS=1 %s | sed -n 's/.*=> \\(.*\\) (.*/\\1/p'", programs[i]);
        pipe = popen(command, "r");
        size_t last = 0;
        while (fgets(line, sizeof line, pipe) != NULL) {
            line[strcspn(line, "\n")] = '\0';
            size_t at = position(&closure, line);
            if (*line == '/' && at <= last)
                fail_msg("%s: %s is out of order", programs[i], line);
            last = at;
        }
        pclose(pipe);
        elf_closure_deinit(&closure);
        compared++;
    }
    assert_true(compared > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_path_and_by_search),
        cmocka_unit_test(what_cannot_run),
        cmocka_unit_test(scripts),
        cmocka_unit_test(privileges),
        cmocka_unit_test(libraries_beside_the_program),
        cmocka_unit_test(the_environment_counts),
        cmocka_unit_test(as_the_loader_finds_them),
    };
    return cmocka_run_group_tests(tests, victim_setup, victim_teardown);
}
