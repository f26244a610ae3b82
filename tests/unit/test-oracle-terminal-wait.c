// SPDX-License-Identifier: GPL-3.0-or-later
// Who waits for somebody to type, and who only seems to.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "oracle/terminal-wait.h"

static int output; // that can merely be written to
static int other;  // that somebody may write to

static void poll_endlessly(void)
{
    poll(&(struct pollfd){.fd = output, .events = POLLIN}, 1, -1);
}

static void poll_for_a_while(void)
{
    poll(&(struct pollfd){.fd = output, .events = POLLIN}, 1, 1000000);
}

static void poll_two(void)
{
    poll((struct pollfd[]){{.fd = output, .events = POLLIN}, {.fd = other, .events = POLLIN}}, 2,
         -1);
}

static void select_output(int more, int except, struct timeval *timeout)
{
    fd_set input, writing, exceptional;
    FD_ZERO(&input);
    FD_ZERO(&writing);
    FD_ZERO(&exceptional);
    FD_SET(output, &input);
    if (more >= 0)
        FD_SET(more, &writing);
    if (except >= 0)
        FD_SET(except, &exceptional);
    select(8, &input, &writing, &exceptional, timeout);
}

static void select_endlessly(void)
{
    select_output(-1, -1, NULL);
}

static void select_for_a_while(void)
{
    select_output(-1, -1, &(struct timeval){.tv_sec = 1000});
}

static void select_exceptions(void)
{
    select_output(-1, other, NULL);
}

static void *sleep_a_while(void *data)
{
    nanosleep(&(struct timespec){.tv_sec = 1000}, NULL);
    return NULL;
}

static void *lock(void *data)
{
    pthread_mutex_lock(data);
    return NULL;
}

static void start_thread(void *(*function)(void *), void *data)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, data) != 0)
        _exit(1);
}

static void poll_beside_a_sleeper(void)
{
    start_thread(sleep_a_while, NULL);
    poll_endlessly();
}

static void poll_beside_a_waiter(void)
{
    static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&held);
    start_thread(lock, &held);
    poll_endlessly();
}

static void *wait_for_signal(void *data)
{
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigwait(&set, &number);
    return NULL;
}

// As with a timer that runs a function in a thread.
static void poll_beside_a_signal(void)
{
    start_thread(wait_for_signal, NULL);
    poll_endlessly();
}

static void parent_of_a_poll(void)
{
    if (fork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        poll_endlessly();
        _exit(0);
    }
    wait(NULL);
}

static void watchdog_thread(void)
{
    start_thread(sleep_a_while, NULL);
    parent_of_a_poll();
}

static void nothing(int number) {}

static void watchdog_alarm(void)
{
    signal(SIGALRM, nothing);
    alarm(1000);
    parent_of_a_poll();
}

static void watchdog_timer(void)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    const struct itimerspec late = {.it_value = {.tv_sec = 1000}};
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 ||
        timer_settime(timer, 0, &late, NULL) != 0)
        _exit(1);
    parent_of_a_poll();
}

// Whether all threads of it, and of its children, are where they will stay.
static bool sleeps(pid_t pid)
{
    char command[160];
    snprintf(command, sizeof command,
             "for p in %d $(cat /proc/%d/task/*/children); do cat /proc/$p/task/*/syscall; done | "
             "grep -qv '^[0-9]'",
             (int)pid, (int)pid);
    return system(command) != 0;
}

// What is said of a process that does this, once it sleeps for good.
static bool waits(void (*function)(void), int threads, int children)
{
    char command[160];
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        function();
        _exit(0);
    }
    assert_true(pid > 0);
    snprintf(
        command, sizeof command,
        "[ $(ls /proc/%d/task | wc -l) = %d ] && [ $(cat /proc/%d/task/*/children | wc -w) = %d ]",
        (int)pid, threads, (int)pid, children);
    // Three times in a row, as there are short waits on the way, for the loader's locks and such.
    for (int seen = 0; seen < 3;) {
        seen = system(command) == 0 && sleeps(pid) ? seen + 1 : 0;
        assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
    }
    bool found = waits_for_terminal(pid);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return found;
}

static void who_waits_for_ever(void **state)
{
    assert_true(waits(poll_endlessly, 1, 0));
    assert_true(waits(select_endlessly, 1, 0));
    assert_true(waits(poll_beside_a_waiter, 2, 0));
    assert_true(waits(poll_beside_a_signal, 2, 0));
    assert_true(waits(parent_of_a_poll, 1, 1));
}

static void who_may_go_on(void **state)
{
    assert_false(waits(poll_for_a_while, 1, 0));
    assert_false(waits(poll_two, 1, 0));
    assert_false(waits(select_for_a_while, 1, 0));
    assert_false(waits(select_exceptions, 1, 0));
    assert_false(waits(poll_beside_a_sleeper, 2, 0));
}

static void who_is_watched(void **state)
{
    assert_false(waits(watchdog_thread, 2, 1));
    assert_false(waits(watchdog_alarm, 1, 1));
    assert_false(waits(watchdog_timer, 1, 1));
}

int main(void)
{
    enum { LOW = 6, HIGH = 20 };
    int pipes[4];
    if (pipe2(pipes, O_CLOEXEC) < 0 || pipe2(pipes + 2, O_CLOEXEC) < 0)
        return 1;
    // Only those with low numbers are looked at.
    for (int i = 0; i < 4; i++)
        if ((pipes[i] = fcntl(pipes[i], F_DUPFD_CLOEXEC, HIGH)) < 0)
            return 1;
    output = dup2(pipes[1], LOW);
    other = dup2(pipes[2], LOW + 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_for_ever),
        cmocka_unit_test(who_may_go_on),
        cmocka_unit_test(who_is_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
