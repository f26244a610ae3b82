// SPDX-License-Identifier: GPL-3.0-or-later
// The moments of signals, for workloads that are hardly ever seen alive.
#include "trial-help.h"

#include "injectors/signal/signal.c"

#include <sys/wait.h>
#include <unistd.h>

static struct error *check_moment(void *data, struct candidate *candidate)
{
    int number;
    uint64_t ns, *most_ns = data;
    must(parse_spec(candidate->spec, &number, &ns));
    assert_int_equal(number, SIGTERM);
    if (ns > *most_ns)
        *most_ns = ns;
    return NULL;
}

// A reference run of a process that has ended when it is looked at for the first time, as on a
// machine with much to do.
static void run_unseen(struct signals *signals, useconds_t duration)
{
    struct observation observation = {0};
    siginfo_t ended;
    pid_t pid = fork();
    if (pid == 0)
        _exit(0);
    assert_int_equal(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
    signals->is_reference = true;
    signals->last_ns = 0;
    started(signals, pid);
    usleep(duration);
    must(observe(signals, "/", &observation));
    forget_process(signals);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void moments_lie_in_a_run_that_nobody_saw(void **state)
{
    struct signals signals = {.handle = -1, .from = 0, .to = 1, .times = 100};
    int *number = ARRAY_ADD(&signals.numbers);
    assert_non_null(number);
    *number = SIGTERM;
    run_unseen(&signals, 3000);
    run_unseen(&signals, 20000);
    uint64_t most_ns = 0;
    must(candidates(&signals, check_moment, &most_ns));
    assert_in_range(most_ns, 1 * NS_PER_MS, 1 * NS_PER_S);
    ARRAY_DEINIT(&signals.numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(moments_lie_in_a_run_that_nobody_saw)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
