// SPDX-License-Identifier: GPL-3.0-or-later
// The n-th allocation fails, for every n, alone and with all that follow: reading objects, finding
// programs and libraries, and resolving must not crash, and must give back what they took.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dwarf/symbolizer.h"
#include "elf/object.h"
#include "failing-memory.h"
#include "scenario/resolve.h"
#include "victim.h"

#include <sys/wait.h>

static char program_path[128], script_path[128], debug_path[128];
static struct scenario *scenario, *debug_scenario;

static struct error *find(void)
{
    struct elf_program program = {0};
    TRY(elf_find_program(script_path, &program));
    elf_program_deinit(&program);
    return NULL;
}

static struct error *look(void)
{
    struct elf_object *object = NULL;
    struct elf_closure closure = {0};
    TRY(elf_object_open(program_path, &object));
    struct error *error = elf_closure_find(object, &closure);
    elf_closure_deinit(&closure);
    elf_object_close(object);
    return error;
}

static struct error *resolve(void)
{
    struct buffer bytes = {0};
    TRY(resolve_module(scenario, program_path, program_path, &bytes));
    buffer_deinit(&bytes);
    return NULL;
}

static struct error *name(void)
{
    struct dwarf_symbolizer *symbolizer = NULL;
    TRY(dwarf_symbolizer_new(&symbolizer));
    dwarf_symbolizer_find(symbolizer, program_path, 0x1200);
    dwarf_symbolizer_free(symbolizer);
    return NULL;
}

static void exhaust(struct error *(*work)(void))
{
    for (int mode = 0; mode < 2; mode++) {
        persistent = mode;
        unsigned long refused = 0;
        for (fail_at = 1;; fail_at++) {
            asked = 0;
            living = 0;
            armed = true;
            struct error *error = work();
            bool reached = asked >= fail_at;
            bool failed = error != NULL;
            error_free(error);
            armed = false;
#ifndef UNDER_ASAN // which has its own strdup() and its own search for leaks
            assert_int_equal(living, 0);
#endif
            refused += failed;
            if (!reached) {
                assert_false(failed);
                break;
            }
        }
#ifdef UNDER_ASAN
        (void)refused;
#else
        assert_true(fail_at > 2);
        assert_true(work == name || refused > 0);
#endif
    }
}

static void program_lookup(void **state)
{
    exhaust(find);
}

static void objects_and_closures(void **state)
{
    exhaust(look);
}

static void resolution_by_symbols(void **state)
{
    exhaust(resolve);
}

static void naming_by_symbols(void **state)
{
    exhaust(name);
}

// libdw says that memory is short and exits; that, too, is no crash.
static void resolution_by_dwarf(void **state)
{
    for (fail_at = 1; fail_at < 4000; fail_at += 1 + fail_at / 40) {
        pid_t child = fork();
        if (child == 0) {
            struct buffer bytes = {0};
            persistent = false;
            asked = 0;
            close(1);
            close(2);
            armed = true;
            error_free(resolve_module(debug_scenario, debug_path, debug_path, &bytes));
            _exit(asked < fail_at ? 99 : 0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFEXITED(status))
            fail_msg("allocation %lu: killed by signal %d", fail_at, WTERMSIG(status));
        if (WEXITSTATUS(status) == 99)
            break;
    }
    assert_true(fail_at > 30);
}

static int setup(void **state)
{
    if (victim_setup(state) != 0)
        return -1;
    static const char source[] = "#include <unistd.h>\n"
                                 "struct s { int a[3]; struct s *next; } list;\n"
                                 "int f(int kept) { return (int)read(0, &list, 1) + kept; }\n"
                                 "int main(int c, char **v) { return f(c); }\n";
    victim_build(victim_compiler(), "program", source, "");
    victim_build(victim_compiler(), "debug", source, "-g");
    strcpy(program_path, victim_path("program"));
    strcpy(debug_path, victim_path("debug"));
    strcpy(script_path, victim_path("script"));
    victim_write("script", "#!/bin/sh\n", 10, 0755);
    good(scenario_new(&scenario));
    good(scenario_add_spec(scenario,
                           "read=-1 when caller(f) or caller(\"m*\") or caller(program+0x1)"));
    good(scenario_new(&debug_scenario));
    good(scenario_add_spec(debug_scenario,
                           "read=-1 when caller(debug.c:3) and var(list.next->a[1]) "
                           "== 1 and var(kept) == 2"));
    return 0;
}

static int teardown(void **state)
{
    scenario_free(scenario);
    scenario_free(debug_scenario);
    return victim_teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_lookup),        cmocka_unit_test(objects_and_closures),
        cmocka_unit_test(resolution_by_symbols), cmocka_unit_test(naming_by_symbols),
        cmocka_unit_test(resolution_by_dwarf),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
