// SPDX-License-Identifier: GPL-3.0-or-later
// Many trials with one region: each is as if it were the first.
#include "trial-help.h"

#include "trial/runtime-session.h"

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

static struct runtime_session *runtime_session_with_runtime(void)
{
    struct runtime_session *session;
    setenv("ORDEAL_RUNTIME", "src/runtime/ordeal-runtime.so",
           1); // tests run in the build directory
    must(runtime_session_new(&session));
    return session;
}

static void prepare(struct runtime_session *session, const struct scenario *scenario)
{
    const struct runtime_session_options options = {
        .scenario = scenario, .seed = 7, .command = command, .environment = environ};
    must(runtime_session_prepare(session, &options));
}

// Runs the command, its output thrown away; its wait status.
static int run(const struct runtime_session *session)
{
    pid_t pid = fork();
    if (pid == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, 1);
        dup2(nowhere, 2);
        execve(command[0], command, runtime_session_environment(session));
        _exit(99);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static struct wire_view one(struct runtime_session *session, const char *spec, int status)
{
    struct scenario *scenario = scenario_of(spec);
    struct wire_view view;
    prepare(session, scenario);
    must(runtime_session_begin(session, ""));
    assert_int_equal(WEXITSTATUS(run(session)), status);
    must(runtime_session_end(session, &view));
    scenario_free(scenario);
    return view;
}

static void trials_do_not_see_each_other(void **state)
{
    struct runtime_session *session = runtime_session_with_runtime();
    char *first = NULL;
    for (int i = 0; i < 20; i++) {
        struct wire_view view = one(session, "read=-1/EIO when count == 1", 1);
        assert_int_equal(view.record_count, 1);
        assert_int_equal(view.journal[0].process_number, 1);
        assert_int_equal(view.rule_states[0].fired, 1);
        assert_int_equal(view.region->processes, 1);
        view = one(session, i % 2 == 0 ? "write*=-1/ENOSPC when random(0)" : NULL, 0);
        assert_int_equal(view.record_count, 0);
        assert_int_equal(view.modules[0].state, WIRE_MODULE_FREE);
        // With stack() the modules are asked about, so that the arena is used.
        view = one(session, "read=-1/EIO when stack(libc:) and once", 1);
        assert_int_equal(view.record_count, 1);
        if (first == NULL)
            first = strdup(runtime_session_file(session));
        assert_string_equal(runtime_session_file(session), first);
    }
    free(first);
    runtime_session_free(session);
}

static void what_crashed_is_wiped_everywhere(void **state)
{
    struct runtime_session *session = runtime_session_with_runtime();
    struct wire_view view = one(session, "read=-1/EIO when count == 1", 1);
    struct wire_record *journal = (struct wire_record *)view.journal;
    journal[0].kind = WIRE_RECORD_CRASH;
    journal[900].state = 55; // what a stray pointer did
    view = one(session, "read=-1/EIO when count == 1", 1);
    assert_int_equal(view.record_count, 1);
    assert_int_equal(view.journal[900].state, 0);
    runtime_session_free(session);
}

static void the_left_over_keep_their_region(void **state)
{
    struct runtime_session *session = runtime_session_with_runtime();
    struct scenario *scenario = scenario_of("read=-1/EIO");
    struct wire_view view;
    prepare(session, scenario);
    must(runtime_session_begin(session, ""));
    int file = open(runtime_session_file(session), O_RDWR);
    struct wire_region *stranger = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    assert_true(stranger != MAP_FAILED);
    close(file);
    must(runtime_session_end(session, &view));
    stranger->journal_head = 3; // comes too late
    assert_int_equal(view.record_count, 0);
    assert_int_equal(view.region->journal_head, 0);
    char *old = strdup(runtime_session_file(session));
    prepare(session, scenario);
    assert_string_not_equal(runtime_session_file(session), old);
    assert_int_equal(access(old, F_OK), -1);
    must(runtime_session_begin(session, ""));
    must(runtime_session_end(session, &view));
    assert_int_equal(view.region->journal_head, 0);
    munmap(stranger, 4096);
    free(old);
    scenario_free(scenario);
    runtime_session_free(session);
}

static void a_forked_worker_has_its_own(void **state)
{
    struct runtime_session *session = runtime_session_with_runtime();
    one(session, "read=-1/EIO when count == 1", 1);
    char *path = strdup(runtime_session_file(session));
    pid_t pid = fork();
    if (pid == 0) {
        struct scenario *scenario = scenario_of(NULL);
        prepare(session, scenario);
        bool other = strcmp(runtime_session_file(session), path) != 0;
        runtime_session_free(session);
        _exit(other ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(access(path, F_OK), 0);
    runtime_session_free(session);
    assert_int_equal(access(path, F_OK), -1);
    free(path);
}

static void the_plan_has_a_hash(void **state)
{
    struct runtime_session *session = runtime_session_with_runtime();
    struct scenario *a = scenario_of("read=-1/EIO"), *b = scenario_of("read=-1/EPERM");
    prepare(session, a);
    uint64_t first = runtime_session_plan_hash(session);
    prepare(session, b);
    assert_int_not_equal(runtime_session_plan_hash(session), first);
    prepare(session, a);
    assert_int_equal(runtime_session_plan_hash(session), first);
    scenario_free(a);
    scenario_free(b);
    runtime_session_free(session);
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

static void run_link(struct runtime_session *session, const char *link, struct wire_view *ret_view)
{
    char *const words[] = {(char *)link, (char *)"/etc/passwd", NULL};
    pid_t pid = fork();
    if (pid == 0) {
        int nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, 1);
        dup2(nowhere, 2);
        execve(link, words, runtime_session_environment(session));
        _exit(99);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    must(runtime_session_end(session, ret_view));
}

// What is executed under a path is known beforehand, and not believed where it is another by then.
static void the_program_is_identified(void **state)
{
    char link[] = "/tmp/ordeal-test-XXXXXX", *cat = realpath("/bin/cat", NULL);
    char *tail = realpath("/usr/bin/tail", NULL);
    char *const words[] = {link, (char *)"/etc/passwd", NULL};
    assert_int_equal(close(mkstemp(link)), 0);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink(cat, link), 0);
    struct runtime_session *session = runtime_session_with_runtime();
    struct scenario *scenario = scenario_of("read=-1/EIO when count == 1");
    struct wire_view view;
    for (int round = 0; round < 2; round++) {
        const struct runtime_session_options options = {
            .scenario = scenario, .command = words, .environment = environ};
        must(runtime_session_prepare(session, &options));
        const struct wire_region *map = runtime_session_region(session)->map;
        const char *asked = (const char *)map + map->program;
        assert_int_not_equal(map->program, 0);
        assert_string_equal(asked, link);
        assert_string_equal(asked + strlen(asked) + 1, cat);
        if (round == 1) {
            assert_int_equal(unlink(link), 0);
            assert_int_equal(symlink(tail, link), 0);
        }
        run_link(session, link, &view);
        assert_true(has_module(&view, round == 0 ? cat : tail));
        assert_false(has_module(&view, round == 0 ? tail : cat));
    }
    unlink(link);
    scenario_free(scenario);
    runtime_session_free(session);
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
        cmocka_unit_test(the_program_is_identified),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
