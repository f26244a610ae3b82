// SPDX-License-Identifier: GPL-3.0-or-later
// Supervision: outcomes, daemons, the timeout and the whole tree.
#include "trial-help.h"

#include "trial/supervise.h"

#include "base/clock.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static struct error *nothing(void *data)
{
    (*(unsigned *)data)++;
    return NULL;
}

static struct error *refuse(void *data)
{
    return error_new("the disk is full");
}

static struct error *run_command(char *const *command, uint64_t timeout_ms,
                                 struct error *(*settled)(void *), void *data,
                                 struct outcome *ret_outcome)
{
    struct supervise_signals signals;
    must(supervise_signals_take(&signals));
    struct supervise_options options = {.start_ns = clock_ns(),
                                        .timeout_ns = timeout_ms * NS_PER_MS,
                                        .settled = settled,
                                        .data = data};
    pid_t pid;
    uint64_t limits[2] = {0};
    must(supervise_start(command, environ, &signals, limits, &pid));
    struct error *error = supervise_wait(pid, &options, ret_outcome);
    supervise_signals_restore(&signals);
    return error;
}

static struct error *run_with(const char *script, uint64_t timeout_ms,
                              struct error *(*settled)(void *), void *data,
                              struct outcome *ret_outcome)
{
    char *command[] = {(char *)"sh", (char *)"-c", (char *)script, NULL};
    return run_command(command, timeout_ms, settled, data, ret_outcome);
}

static struct outcome run(const char *script, uint64_t timeout_ms)
{
    struct outcome outcome = {0};
    unsigned settled = 0;
    must(run_with(script, timeout_ms, nothing, &settled, &outcome));
    assert_true(settled <= 1);
    return outcome;
}

static void no_child_is_left(void)
{
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

static void the_status_is_told(void **state)
{
    struct outcome outcome = run("exit 7", 0);
    assert_int_equal(outcome.kind, WIRE_OUTCOME_EXIT);
    assert_int_equal(outcome.status, 7);
    outcome = run("kill -SEGV $$", 0);
    assert_int_equal(outcome.kind, WIRE_OUTCOME_SIGNAL);
    assert_int_equal(outcome.status, SIGSEGV);
    no_child_is_left();
}

static void daemons_are_waited_for(void **state)
{
    uint64_t start_ns = clock_ns();
    struct outcome outcome = run("setsid sh -c 'sleep 0.3; echo done >daemon' & exit 3", 0);
    assert_int_equal(outcome.status, 3);
    assert_true(outcome.ns < 250000000);
    assert_true(clock_ns() - start_ns >= 300 * NS_PER_MS);
    assert_int_equal(access("daemon", F_OK), 0);
    no_child_is_left();
}

static void the_timeout_takes_everybody(void **state)
{
    struct outcome outcome =
        run("trap '' TERM INT; setsid sleep 871 & sh -c 'sleep 872 & sleep 873' & "
            "sleep 874",
            200);
    assert_int_equal(outcome.kind, WIRE_OUTCOME_TIMEOUT);
    assert_int_equal(outcome.left_over, 0);
    assert_true(outcome.ns >= 200000000 && outcome.ns < 2000000000);
    no_child_is_left();
    assert_int_not_equal(system("pgrep -f '^sleep 87[1234]$' >/dev/null"), 0);
}

static void a_late_failure_ends_the_command(void **state)
{
    struct outcome outcome;
    uint64_t start_ns = clock_ns();
    must_say(run_with("sleep 875", 0, refuse, NULL, &outcome), "the disk is full");
    assert_true(clock_ns() - start_ns < 5 * NS_PER_S);
    no_child_is_left();
}

static void settling_is_told_once_and_not_to_short_commands(void **state)
{
    struct outcome outcome;
    unsigned settled = 0;
    must(run_with("sleep 0.1; sleep 0.1", 0, nothing, &settled, &outcome));
    assert_int_equal(settled, 1);
}

static void a_missing_program_is_an_error(void **state)
{
    char *command[] = {(char *)"/nonexistent/program", NULL};
    struct supervise_signals signals;
    must(supervise_signals_take(&signals));
    pid_t pid;
    uint64_t limits[2] = {0};
    struct error *error = supervise_start(command, environ, &signals, limits, &pid);
    supervise_signals_restore(&signals);
    must_say(error, "/nonexistent/program: No such file or directory");
    no_child_is_left();
}

static void signals_are_as_they_were(void **state)
{
    signal(SIGCHLD, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    sigset_t blocked, now;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    // Bit n-1 is signal n: CHLD is 17, PIPE 13, USR1 10. A shell would change them itself.
    char *command[] = {(char *)"grep", (char *)"-qzE",
                       (char *)"SigBlk:\t0*200\n.*SigIgn:\t0*11000\n", (char *)"/proc/self/status",
                       NULL};
    struct outcome outcome;
    unsigned settled = 0;
    must(run_command(command, 0, nothing, &settled, &outcome));
    assert_int_equal(outcome.status, 0);
    sigprocmask(SIG_SETMASK, NULL, &now);
    assert_true(sigismember(&now, SIGUSR1) && !sigismember(&now, SIGCHLD));
    assert_ptr_equal(signal(SIGCHLD, SIG_DFL), SIG_IGN);
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &blocked, NULL);
}

// What is sent to the controller reaches the command.
static void termination_is_passed_on(void **state)
{
    pid_t controller = getpid();
    pid_t sender = fork();
    if (sender == 0) {
        // Not a child of the trial: it is reaped below.
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
        kill(controller, SIGTERM);
        _exit(0);
    }
    struct outcome outcome = run("trap 'exit 9' TERM; while :; do sleep 0.05; done", 5000);
    assert_int_equal(outcome.kind, WIRE_OUTCOME_EXIT);
    assert_int_equal(outcome.status, 9);
    assert_true(sender > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_status_is_told),
        cmocka_unit_test_setup_teardown(daemons_are_waited_for, enter_scratch, leave_scratch),
        cmocka_unit_test(the_timeout_takes_everybody),
        cmocka_unit_test(a_late_failure_ends_the_command),
        cmocka_unit_test(settling_is_told_once_and_not_to_short_commands),
        cmocka_unit_test(a_missing_program_is_an_error),
        cmocka_unit_test(signals_are_as_they_were),
        cmocka_unit_test(termination_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
