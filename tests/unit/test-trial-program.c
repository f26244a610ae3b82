// SPDX-License-Identifier: GPL-3.0-or-later
// Which programs can be intercepted, with which environment, and why a rule cannot apply.
#include "trial-help.h"

#include "trial/diagnose.h"
#include "trial/linkage.h"
#include "trial/program.h"

#include <fcntl.h>
#include <sys/stat.h>

static void write_program(const char *path, const char *text)
{
    int file = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0755);
    assert_true(file >= 0);
    assert_true(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
}

static void programs_are_looked_at(void **state)
{
    must(program_check("cat"));
    write_program("script", "#!/bin/sh\n");
    must(program_check("./script"));
    must_say(program_check("./nowhere"), "nowhere");
    must_say(program_check("no-such-program-anywhere"), "no-such-program-anywhere");
    write_program("text", "hello\n");
    must_say(program_check("./text"), "text");
    assert_int_equal(system("cp /bin/cat foreign && printf '\\267\\000' | "
                            "dd of=foreign bs=1 seek=18 conv=notrunc status=none"),
                     0);
    must_say(program_check("./foreign"), "foreign");
    write_program("foreign-script", "#!./foreign\n");
    must_say(program_check("./foreign-script"), "foreign");
    assert_null(program_obstacle("/bin/cat"));
    _cleanup_free_ char *why = program_obstacle("./foreign");
    assert_non_null(why);
    assert_null(program_obstacle("./nowhere"));
}

// The quick look comes to the same answers, and knows what will run.
static void programs_are_looked_at_quickly(void **state)
{
    struct region_program program = {0};
    must(program_check_and_identify("/bin/cat", &program));
    struct region_program identified = program_identify("/bin/cat");
    assert_string_equal(program.asked, "/bin/cat");
    assert_string_equal(program.file, identified.file);
    assert_int_equal(program.fingerprint, identified.fingerprint);
    region_program_deinit(&program);
    region_program_deinit(&identified);
    write_program("script", "#!/bin/sh\n");
    must(program_check_and_identify("./script", &program));
    assert_null(program.file);
    must_say(program_check_and_identify("./nowhere", &program), "nowhere");
    write_program("text", "hello\n");
    must_say(program_check_and_identify("./text", &program), "text");
    assert_int_equal(system("cp /bin/cat foreign && printf '\\267\\000' | "
                            "dd of=foreign bs=1 seek=18 conv=notrunc status=none"),
                     0);
    must_say(program_check_and_identify("./foreign", &program), "another machine");
    assert_int_equal(system("head -c 3000 /bin/cat >cut && chmod +x cut"), 0);
    must_say(program_check_and_identify("./cut", &program), "truncated");
    // Without its interpreter, it is a static program: the type of the header is changed.
    assert_int_equal(system("cp /bin/cat static && printf '\\000' | "
                            "dd of=static bs=1 seek=120 conv=notrunc status=none"),
                     0);
    must_say(program_check_and_identify("./static", &program), "statically linked");
}

// As the kernel has it, there is nothing above the root: ordeal may lie there.
static void above_the_root_is_the_root(void **state)
{
    char many[3 * 100 + 20] = "";
    for (int i = 0; i < 100; i++)
        strcat(many, "../");
    strcat(many, "proc/version");
    _cleanup_free_ char *path = NULL;
    must(program_beside_executable(many, &path));
    assert_non_null(path);
    assert_string_equal(path, "/proc/version");
}

static const char *variable(char **environment, const char *name)
{
    const char *found = NULL;
    for (; *environment != NULL; environment++)
        if (strncmp(*environment, name, strlen(name)) == 0 && (*environment)[strlen(name)] == '=') {
            assert_null(found); // only once
            found = *environment + strlen(name) + 1;
        }
    return found;
}

static void the_environment_is_the_users_and_more(void **state)
{
    setenv("LD_PRELOAD", "/mine.so", 1);
    setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
    setenv("ORDEAL_REGION", "/old", 1);
    setenv("ORDEAL_TEST_WORD", "kept", 1);
    char **environment;
    must(program_environment(environ, "/r.so:/mine.so", "/region", &environment));
    assert_string_equal(variable(environment, "LD_PRELOAD"), "/r.so:/mine.so");
    assert_string_equal(variable(environment, "ORDEAL_REGION"), "/region");
    assert_string_equal(variable(environment, "ASAN_OPTIONS"),
                        "detect_leaks=0:verify_asan_link_order=0");
    assert_string_equal(variable(environment, "ORDEAL_TEST_WORD"), "kept");
    program_environment_free(&environment);
    unsetenv("ASAN_OPTIONS");
    must(program_environment(environ, "/r.so", "/region", &environment));
    assert_string_equal(variable(environment, "ASAN_OPTIONS"), "verify_asan_link_order=0");
    program_environment_free(&environment);
    unsetenv("LD_PRELOAD");
    unsetenv("ORDEAL_REGION");
}

static void the_preload_is_in_order(void **state)
{
    struct scenario *scenario;
    must(scenario_new(&scenario));
    write_program("runtime.so", "");
    setenv("ORDEAL_RUNTIME", "./runtime.so", 1);
    setenv("LD_PRELOAD", "/a.so /b.so", 1);
    char *preload, *runtime;
    must(program_runtime(&runtime));
    must(program_preload(scenario, runtime, environ, &preload));
    free(runtime);
    const char *end = strstr(preload, "/runtime.so:/a.so /b.so");
    assert_true(preload[0] == '/' && end != NULL);
    free(preload);
    unsetenv("LD_PRELOAD");
    setenv("ORDEAL_RUNTIME", "/nonexistent.so", 1);
    must_say(program_runtime(&runtime), "ORDEAL_RUNTIME names /nonexistent.so");
    assert_int_equal(mkdir("with blank", 0755), 0);
    write_program("with blank/runtime.so", "");
    setenv("ORDEAL_RUNTIME", "with blank/runtime.so", 1);
    must(program_runtime(&runtime));
    must_say(program_preload(scenario, runtime, environ, &preload), "LD_PRELOAD cannot hold");
    free(runtime);
    unsetenv("ORDEAL_RUNTIME");
    scenario_free(scenario);
}

static void imports_have_a_home(void **state)
{
    struct linkage linkage;
    must(linkage_find("cat", &linkage));
    assert_true(linkage.modules.count >= 2);
    const struct linkage_module *program = &linkage.modules.items[0];
    bool found = false;
    for (size_t i = 0; i < program->imports.count; i++) {
        const struct linkage_import *import = &program->imports.items[i];
        if (strcmp(import->name, "read") != 0)
            continue;
        found = true;
        assert_non_null(strstr(linkage.modules.items[import->definer].path, "libc.so"));
    }
    assert_true(found);
    assert_true(linkage_definer(&linkage, "no_such_function", NULL) == LINKAGE_UNDEFINED);
    linkage_deinit(&linkage);
    must_say(linkage_find("./nowhere", &linkage), "nowhere");
}

static struct error *make_cat(struct region *ret_region)
{
    static const char *const specs[] = {
        "raed=1", "libm:read=1", "qsort_r=void", "no_such_*=1", "read=-1", "zzzzzzzzzzzz=1", NULL};
    char *command[] = {(char *)"cat", NULL};
    struct buffer plan = compile_specs(specs);
    struct region_options options = {
        .plan = plan.data, .plan_size = plan.size, .preload = "", .command = command};
    struct error *error = region_create(&options, ret_region);
    buffer_deinit(&plan);
    return error;
}

static void reasons_help(void **state)
{
    struct region region;
    must(make_cat(&region));
    region.map->processes = 1;
    struct wire_view view;
    must(region_check(region.map, region.size, "region", &view));
    struct wire_pattern_state *states =
        (struct wire_pattern_state *)((char *)region.map + region.map->patterns);
    for (uint32_t i = 0; i < view.pattern_count; i++)
        states[i].bound = *wire_view_rule_refs(&view, &view.patterns[i]) == 4;
    struct diagnosis diagnosis;
    must(diagnosis_make(&view, &diagnosis));
    assert_string_equal(diagnosis.whys[0],
                        "no module of any process imports raed; did you mean read?");
    assert_string_equal(diagnosis.whys[1], "read comes from libc.so.6, which 'libm' does not name");
    assert_non_null(strstr(diagnosis.whys[2], "libc.so.6 defines qsort_r, but no module"));
    assert_string_equal(diagnosis.whys[3],
                        "no module of any process imports a function 'no_such_*'");
    assert_null(diagnosis.whys[4]);
    assert_string_equal(diagnosis.whys[5], "no module of any process imports zzzzzzzzzzzz");
    diagnosis_deinit(&diagnosis);
    region.map->processes = 0;
    must(diagnosis_make(&view, &diagnosis));
    assert_non_null(strstr(diagnosis.whys[0], "the runtime was not loaded"));
    diagnosis_deinit(&diagnosis);
    region_close(&region);
}

static void programs_out_of_reach_are_told_once(void **state)
{
    assert_int_equal(system("cp /bin/cat foreign && printf '\\267\\000' | "
                            "dd of=foreign bs=1 seek=18 conv=notrunc status=none && mkfifo pipe && "
                            "chmod +x pipe"),
                     0);
    struct region region;
    must(make_cat(&region));
    struct wire_record *journal = (struct wire_record *)((char *)region.map + region.map->journal);
    const char *const started[] = {"./foreign", "/bin/cat", "./foreign", "./nowhere", "./pipe"};
    for (size_t i = 0; i < 5; i++) {
        journal[i].state = WIRE_RECORD_COMPLETE;
        journal[i].kind = WIRE_RECORD_EXEC;
        journal[i].process_number = 1;
        strcpy(journal[i].process_name, "make");
        strcpy(journal[i].text, started[i]);
    }
    memset(journal[5].text, '/', sizeof journal[5].text); // no end
    journal[5].state = WIRE_RECORD_COMPLETE;
    journal[5].kind = WIRE_RECORD_EXEC;
    journal[5].process_number = region.map->processes = 1;
    region.map->journal_head = 6;
    struct wire_view view;
    must(region_check(region.map, region.size, "region", &view));
    struct diagnosis diagnosis;
    must(diagnosis_make(&view, &diagnosis));
    assert_int_equal(diagnosis.warnings.count, 1);
    assert_non_null(strstr(diagnosis.warnings.items[0], "./foreign, started by make"));
    diagnosis_deinit(&diagnosis);
    region_close(&region);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(programs_are_looked_at, enter_scratch, leave_scratch),
        cmocka_unit_test_setup_teardown(programs_are_looked_at_quickly, enter_scratch,
                                        leave_scratch),
        cmocka_unit_test(above_the_root_is_the_root),
        cmocka_unit_test(the_environment_is_the_users_and_more),
        cmocka_unit_test_setup_teardown(the_preload_is_in_order, enter_scratch, leave_scratch),
        cmocka_unit_test(imports_have_a_home),
        cmocka_unit_test(reasons_help),
        cmocka_unit_test_setup_teardown(programs_out_of_reach_are_told_once, enter_scratch,
                                        leave_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
