// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests of recorded calls share: a program is compiled and run, and its calls are read.
#ifndef ORDEAL_TESTS_RECORD_HELP_H
#define ORDEAL_TESTS_RECORD_HELP_H

#include "trial-help.h"

#include "trial/calls.h"
#include "trial/runtime-session.h"

#include <limits.h>
#include <sys/wait.h>

static char runtime[PATH_MAX];

// For programs that run in the build directory, as the tests do.
static inline bool find_runtime(void)
{
    return realpath("src/runtime/ordeal-runtime.so", runtime) != NULL;
}

static inline void put_source(const char *text)
{
    FILE *file = fopen("victim.c", "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static inline void compile(const char *text)
{
    put_source(text);
    assert_int_equal(system("gcc -O0 -g -D_GNU_SOURCE -pthread -o victim victim.c"), 0);
}

// Runs ./victim with the scenario's rules, which it frees; its wait status.
static inline int record_scenario(struct scenario *scenario, bool stacks, struct calls *ret_calls)
{
    static char *const command[] = {(char *)"./victim", NULL};
    struct runtime_session *session;
    struct wire_view view;
    setenv("ORDEAL_RUNTIME", runtime, 1);
    must(runtime_session_new(&session));
    const struct runtime_session_options options = {.scenario = scenario,
                                                    .command = command,
                                                    .environment = environ,
                                                    .record_calls = true,
                                                    .record_stacks = stacks};
    must(runtime_session_prepare(session, &options));
    must(runtime_session_begin(session, ""));
    pid_t pid = fork();
    if (pid == 0) {
        execve(command[0], command, runtime_session_environment(session));
        _exit(99);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    must(runtime_session_end(session, &view));
    must(calls_read(&view, ret_calls));
    scenario_free(scenario);
    runtime_session_free(session);
    return status;
}

static inline int record(const char *spec, bool stacks, struct calls *ret_calls)
{
    struct scenario *scenario;
    must(scenario_new(&scenario));
    must(scenario_add_spec(scenario, spec));
    return record_scenario(scenario, stacks, ret_calls);
}

static inline uint64_t calls_of(const struct calls *calls, const char *function)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < calls->rows.count; i++)
        if (strcmp(calls->functions.items[calls->rows.items[i].function].name, function) == 0)
            sum += calls->rows.items[i].count;
    return sum;
}

#endif
