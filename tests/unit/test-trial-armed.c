// SPDX-License-Identifier: GPL-3.0-or-later
// Many trials with one region: each is as if it were the first.
#include "trial-help.h"

#include "trial/armed.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char *const command[] = {(char *)"/bin/cat", (char *)"/etc/passwd", NULL};

static struct scenario *scenario_of(const char *spec)
{
    struct scenario *scenario;
    must(scenario_new(&scenario));
    if (spec != NULL)
        must(scenario_add_spec(scenario, spec));
    return scenario;
}

static struct armed *armed_with_runtime(void)
{
    struct armed *armed;
    setenv("ORDEAL_RUNTIME", "src/runtime/ordeal-runtime.so",
           1); // tests run in the build directory
    must(armed_new(&armed));
    return armed;
}

static void prepare(struct armed *armed, const struct scenario *scenario)
{
    const struct armed_options options = {
        .scenario = scenario, .seed = 7, .command = command, .environment = environ};
    must(armed_prepare(armed, &options));
}

// Runs the command, its output thrown away; its wait status.
static int run(const struct armed *armed)
{
    pid_t pid = fork();
    if (pid == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, 1);
        dup2(nowhere, 2);
        execve(command[0], command, armed_environment(armed));
        _exit(99);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static struct wire_view one(struct armed *armed, const char *spec, int status)
{
    struct scenario *scenario = scenario_of(spec);
    struct wire_view view;
    prepare(armed, scenario);
    must(armed_begin(armed, ""));
    assert_int_equal(WEXITSTATUS(run(armed)), status);
    must(armed_end(armed, &view));
    scenario_free(scenario);
    return view;
}

static void trials_do_not_see_each_other(void **state)
{
    struct armed *armed = armed_with_runtime();
    char *first = NULL;
    for (int i = 0; i < 20; i++) {
        struct wire_view view = one(armed, "read=-1/EIO when count == 1", 1);
        assert_int_equal(view.record_count, 1);
        assert_int_equal(view.journal[0].process_number, 1);
        assert_int_equal(view.rule_states[0].fired, 1);
        assert_int_equal(view.region->processes, 1);
        view = one(armed, i % 2 == 0 ? "write*=-1/ENOSPC when random(0)" : NULL, 0);
        assert_int_equal(view.record_count, 0);
        assert_int_equal(view.modules[0].state, WIRE_MODULE_FREE);
        // With stack() the modules are asked about, so that the arena is used.
        view = one(armed, "read=-1/EIO when stack(libc:) and once", 1);
        assert_int_equal(view.record_count, 1);
        if (first == NULL)
            first = strdup(armed_file(armed));
        assert_string_equal(armed_file(armed), first);
    }
    free(first);
    armed_free(armed);
}

static void what_crashed_is_wiped_everywhere(void **state)
{
    struct armed *armed = armed_with_runtime();
    struct wire_view view = one(armed, "read=-1/EIO when count == 1", 1);
    struct wire_record *journal = (struct wire_record *)view.journal;
    journal[0].kind = WIRE_RECORD_CRASH;
    journal[900].state = 55; // what a stray pointer did
    view = one(armed, "read=-1/EIO when count == 1", 1);
    assert_int_equal(view.record_count, 1);
    assert_int_equal(view.journal[900].state, 0);
    armed_free(armed);
}

static void the_left_over_keep_their_region(void **state)
{
    struct armed *armed = armed_with_runtime();
    struct scenario *scenario = scenario_of("read=-1/EIO");
    struct wire_view view;
    prepare(armed, scenario);
    must(armed_begin(armed, ""));
    int file = open(armed_file(armed), O_RDWR);
    struct wire_region *stranger = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_true(stranger != MAP_FAILED);
    close(file);
    must(armed_end(armed, &view));
    stranger->journal_head = 3; // comes too late
    assert_int_equal(view.record_count, 0);
    assert_int_equal(view.region->journal_head, 0);
    char *old = strdup(armed_file(armed));
    prepare(armed, scenario);
    assert_string_not_equal(armed_file(armed), old);
    assert_int_equal(access(old, F_OK), -1);
    must(armed_begin(armed, ""));
    must(armed_end(armed, &view));
    assert_int_equal(view.region->journal_head, 0);
    munmap(stranger, 4096);
    free(old);
    scenario_free(scenario);
    armed_free(armed);
}

static void a_forked_worker_has_its_own(void **state)
{
    struct armed *armed = armed_with_runtime();
    one(armed, "read=-1/EIO when count == 1", 1);
    char *path = strdup(armed_file(armed));
    pid_t pid = fork();
    if (pid == 0) {
        struct scenario *scenario = scenario_of(NULL);
        prepare(armed, scenario);
        bool other = strcmp(armed_file(armed), path) != 0;
        armed_free(armed);
        _exit(other ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(access(path, F_OK), 0);
    armed_free(armed);
    assert_int_equal(access(path, F_OK), -1);
    free(path);
}

static void the_plan_has_a_hash(void **state)
{
    struct armed *armed = armed_with_runtime();
    struct scenario *a = scenario_of("read=-1/EIO"), *b = scenario_of("read=-1/EPERM");
    prepare(armed, a);
    uint64_t first = armed_plan_hash(armed);
    prepare(armed, b);
    assert_int_not_equal(armed_plan_hash(armed), first);
    prepare(armed, a);
    assert_int_equal(armed_plan_hash(armed), first);
    scenario_free(a);
    scenario_free(b);
    armed_free(armed);
}

// Whether the file is one of the modules that were noted.
static bool has_module(const struct wire_view *view, const char *path)
{
    for (size_t i = 0; i < WIRE_MODULES; i++)
        if (view->modules[i].state >= WIRE_MODULE_REGISTERED &&
            strcmp(view->modules[i].path, path) == 0)
            return true;
    return false;
}

static void run_link(struct armed *armed, const char *link, struct wire_view *ret_view)
{
    char *const words[] = {(char *)link, (char *)"/etc/passwd", NULL};
    pid_t pid = fork();
    if (pid == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, 1);
        dup2(nowhere, 2);
        execve(link, words, armed_environment(armed));
        _exit(99);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    must(armed_end(armed, ret_view));
}

// What is executed under a path is known beforehand, and not believed where it is another by then.
static void the_program_is_foreseen(void **state)
{
    char link[] = "/tmp/ordeal-test-XXXXXX", *cat = realpath("/bin/cat", NULL);
    char *tail = realpath("/usr/bin/tail", NULL);
    char *const words[] = {link, (char *)"/etc/passwd", NULL};
    assert_int_equal(close(mkstemp(link)), 0);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink(cat, link), 0);
    struct armed *armed = armed_with_runtime();
    struct scenario *scenario = scenario_of("read=-1/EIO when count == 1");
    struct wire_view view;
    for (int round = 0; round < 2; round++) {
        const struct armed_options options = {
            .scenario = scenario, .command = words, .environment = environ};
        must(armed_prepare(armed, &options));
        const struct wire_region *map = armed_region(armed)->map;
        const char *asked = (const char *)map + map->program;
        assert_int_not_equal(map->program, 0);
        assert_string_equal(asked, link);
        assert_string_equal(asked + strlen(asked) + 1, cat);
        if (round == 1) {
            assert_int_equal(unlink(link), 0);
            assert_int_equal(symlink(tail, link), 0);
        }
        run_link(armed, link, &view);
        assert_true(has_module(&view, round == 0 ? cat : tail));
        assert_false(has_module(&view, round == 0 ? tail : cat));
    }
    unlink(link);
    scenario_free(scenario);
    armed_free(armed);
    free(cat);
    free(tail);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trials_do_not_see_each_other),
        cmocka_unit_test(what_crashed_is_wiped_everywhere),
        cmocka_unit_test(the_left_over_keep_their_region),
        cmocka_unit_test(a_forked_worker_has_its_own),
        cmocka_unit_test(the_plan_has_a_hash),
        cmocka_unit_test(the_program_is_foreseen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
