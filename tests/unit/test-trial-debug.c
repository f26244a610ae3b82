// SPDX-License-Identifier: GPL-3.0-or-later
// Trials under gdb: it stops where the fault is injected, and shows the target's stack.
#include "skip.h"
#include "trial-help.h"

#include "trial/debug.h"

#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <sys/wait.h>

static char runtime[PATH_MAX];

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

struct session {
    struct runtime_session *session;
    struct scenario *scenario;
    struct wire_view view;
    struct buffer output;
};

static struct error *run_gdb(struct runtime_session *session, const struct debug_options *how,
                             int *ret_status)
{
    _cleanup_(debug_list_free) char **arguments = NULL;
    _cleanup_(debug_list_free) char **environment = NULL;
    TRY(debug_words(session, how, &arguments, &environment));
    TRY(runtime_session_begin(session, ""));
    pid_t pid;
    assert_int_equal(posix_spawnp(&pid, arguments[0], NULL, NULL, arguments, environment), 0);
    assert_int_equal(waitpid(pid, ret_status, 0), pid);
    return NULL;
}

// Runs a command under gdb in batch mode; what it printed.
static struct error *debug(struct session *session, const char *spec, char *const *command)
{
    *session = (struct session){0};
    setenv("ORDEAL_RUNTIME", runtime, 1);
    must(runtime_session_new(&session->session));
    must(scenario_new(&session->scenario));
    must(scenario_add_spec(session->scenario, spec));
    const struct runtime_session_options options = {
        .scenario = session->scenario, .command = command, .environment = environ};
    must(runtime_session_prepare(session->session, &options));
    const struct debug_options how = {.command = command, .batch = true};
    int kept[2] = {dup(1), dup(2)}, status = 0;
    int file = open("output", O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(file, 1);
    dup2(file, 2);
    struct error *error = run_gdb(session->session, &how, &status);
    for (int i = 0; i < 2; i++) {
        dup2(kept[i], i + 1);
        close(kept[i]);
    }
    close(file);
    if (error != NULL)
        return error;
    assert_true(WIFEXITED(status));
    must(runtime_session_end(session->session, &session->view));
    must(buffer_read_file("output", 1 << 20, &session->output));
    return NULL;
}

static void session_end(struct session *session)
{
    buffer_deinit(&session->output);
    runtime_session_free(session->session);
    scenario_free(session->scenario);
}

static void has(const struct session *session, const char *part)
{
    if (strstr(session->output.data, part) == NULL)
        fail_msg("'%s' is not in:\n%s", part, session->output.data);
}

static void needs_gdb(void)
{
    if (system("gdb -nx -batch -ex starti /bin/true 2>&1 | grep -q 'Program stopped'") != 0)
        skip_because("gdb cannot stop a program here");
}

static void it_stops_at_the_injection(void **state)
{
    struct session session;
    char *command[] = {(char *)"./victim", (char *)"two words", (char *)"it's $HOME", NULL};
    needs_gdb();
    write_text("victim.c",
               "#include <stdio.h>\n#include <unistd.h>\n"
               "static int inner(void) { return getppid() == 77; }\n"
               "static int outer(void) { return inner() + inner(); }\n"
               "int main(int argc, char **argv) {\n"
               "  int found = outer(); printf(\"found %d of %s, %s\\n\", found, argv[1],"
               " argv[argc - 1]); return 0; }\n");
    assert_int_equal(system("gcc -g -O0 -o victim victim.c"), 0);
    must(debug(&session, "getppid=77 when process(1) and count == 2", command));
    has(&session, "ordeal_injection (");
    has(&session, " in inner (");
    has(&session, " in outer (");
    has(&session, " in main (");
    // The command is the trial's first process, sees its words, and goes on.
    has(&session, "found 1 of two words, it's $HOME");
    assert_int_equal(session.view.record_count, 1);
    assert_int_equal(session.view.journal[0].process_number, 1);
    assert_int_equal(session.view.region->processes, 1);
    session_end(&session);
}

static void children_are_followed(void **state)
{
    struct session session;
    char *command[] = {(char *)"./parent", NULL};
    needs_gdb();
    write_text("parent.c",
               "#include <sys/wait.h>\n#include <unistd.h>\n"
               "static int child(void) { return getppid() == 77 ? 0 : 1; }\n"
               "int main(void) { int status = 9; pid_t pid = fork();\n"
               "  if (pid == 0) _exit(child()); waitpid(pid, &status, 0); return 0; }\n");
    assert_int_equal(system("gcc -g -O0 -o parent parent.c"), 0);
    must(debug(&session, "getppid=77 when process(2)", command));
    has(&session, "ordeal_injection (");
    has(&session, " in child (");
    session_end(&session);
}

static void a_missing_gdb_is_said(void **state)
{
    struct session session;
    char *command[] = {(char *)"/bin/true", NULL};
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nonexistent", 1);
    must_say(debug(&session, "read=-1", command), "gdb is not installed");
    setenv("PATH", path, 1);
    free(path);
    session_end(&session);
}

int main(void)
{
    if (realpath("src/runtime/ordeal-runtime.so", runtime) == NULL) // run in the build directory
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_stops_at_the_injection, enter_scratch, leave_scratch),
        cmocka_unit_test_setup_teardown(children_are_followed, enter_scratch, leave_scratch),
        cmocka_unit_test_setup_teardown(a_missing_gdb_is_said, enter_scratch, leave_scratch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
