// SPDX-License-Identifier: GPL-3.0-or-later
// What the processes of a recorded workload tell those that come later about a module's imports:
// nothing that would have one of them miss a call.
#include "record-help.h"

static void shell(const char *command)
{
    assert_int_equal(system(command), 0);
}

// More imports than are kept, and one that nobody defines: the program is looked at a second time,
// when all others have their stubs.
static void a_second_look_is_not_kept(void **state)
{
    struct calls calls;
    shell("seq -f 'int f%.0f(void) { return 0; }' 0 1099 >many.c && gcc -O0 -shared -fPIC"
          " -o libmany.so many.c -Df1099=f_absent");
    shell("{ seq -f 'int f%.0f(void);' 0 1098; echo 'int f_absent(void); int all(void) {';"
          " seq -f 'f%.0f();' 0 1098; echo 'return f_absent(); }'; } >all.h");
    put_source("#include \"all.h\"\n#include <unistd.h>\n"
               "int main(int argc, char **argv) {\n"
               "  f7(); if (argc > 100) all();\n"
               "  char *const more[] = {argv[0], argv[0], argc > 1 ? argv[0] : 0, 0};\n"
               "  return argc < 3 ? execv(argv[0], more) : 0; }\n");
    shell("gcc -O0 -o victim victim.c -L. -lmany -Wl,-rpath,. -Wl,-z,lazy &&"
          " gcc -O0 -shared -fPIC -o libmany.so many.c");
    assert_int_equal(record("f* watch", false, &calls), 0);
    assert_int_equal(calls.processes.count, 3);
    assert_int_equal(calls_of(&calls, "f7"), 3);
    calls_deinit(&calls);
}

#define PLUGIN            "int f(void); int go(void) { return f(); }\n"
#define OPEN_AND_GO(name) "((int (*)(void))dlsym(dlopen(\"./" name "\", RTLD_LAZY), \"go\"))();"

static void make_libraries(void)
{
    put_source("int f(void) { return 0; }\n");
    shell("gcc -O0 -shared -fPIC -o liba.so victim.c && gcc -O0 -shared -fPIC -o libb.so victim.c");
    put_source(PLUGIN);
    shell("gcc -O0 -shared -fPIC -o plugin.so victim.c");
}

// A plug-in of one build, in two programs that give it different functions of the same name.
static void where_a_late_import_leads_is_not_kept(void **state)
{
    struct calls calls;
    make_libraries();
    put_source("#include <dlfcn.h>\n#include <unistd.h>\n"
               "int main(int argc, char **argv) { " OPEN_AND_GO(
                   "plugin.so") "\n"
                                "  char *const other[] = {\"./other\", \"x\", 0};\n"
                                "  return argc < 2 ? execv(other[0], other) : 0; }\n");
    shell("gcc -O0 -o victim victim.c -Wl,--no-as-needed -L. -lb -Wl,-rpath,. &&"
          " gcc -O0 -o other victim.c -Wl,--no-as-needed -L. -la -Wl,-rpath,.");
    assert_int_equal(record("liba:f watch", false, &calls), 0);
    assert_int_equal(calls_of(&calls, "f"), 1);
    calls_deinit(&calls);
}

// Calls of a sanitizer's library are nobody's business; those of its copy under another name are.
static void what_is_spared_is_not_kept(void **state)
{
    struct calls calls;
    make_libraries();
    shell("cp plugin.so libasan.so");
    put_source("#include <dlfcn.h>\n"
               "int main(void) { " OPEN_AND_GO("libasan.so")
                   OPEN_AND_GO("plugin.so") " return 0; }\n");
    shell("gcc -O0 -o victim victim.c -Wl,--no-as-needed -L. -la -Wl,-rpath,.");
    assert_int_equal(record("f watch", false, &calls), 0);
    assert_int_equal(calls_of(&calls, "f"), 1);
    calls_deinit(&calls);
}

int main(void)
{
    if (!find_runtime())
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_second_look_is_not_kept, enter_scratch, leave_scratch),
        cmocka_unit_test_setup_teardown(where_a_late_import_leads_is_not_kept, enter_scratch,
                                        leave_scratch),
        cmocka_unit_test_setup_teardown(what_is_spared_is_not_kept, enter_scratch, leave_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
