// SPDX-License-Identifier: GPL-3.0-or-later
// Who ends a run before all other work does so for a moment only.
#include "sandbox-help.h"

static int policy = SCHED_OTHER;
static unsigned raised, refused;

// In place of the C library's functions: the kernel as it is for a user who may have a little
// real-time priority and nothing else. Such a user cannot take back SCHED_RESET_ON_FORK.
int sched_setscheduler(pid_t pid, int wanted, const struct sched_param *parameters)
{
    if ((policy & SCHED_RESET_ON_FORK) != 0 && (wanted & SCHED_RESET_ON_FORK) == 0) {
        refused++;
        errno = EPERM;
        return -1;
    }
    raised += (wanted & ~SCHED_RESET_ON_FORK) == SCHED_RR;
    policy = wanted;
    return 0;
}

int sched_getscheduler(pid_t pid)
{
    return policy;
}

static void priority_is_given_back(void **state)
{
    struct sandbox *sandbox = make(SANDBOX_NONE, NULL, false);
    struct sandbox_result result = run_in(sandbox, "sleep 47.5 & sleep 47.5", 100);
    assert_int_equal(result.end, SANDBOX_TIMEOUT);
    sandbox_result_deinit(&result);
    sandbox_free(sandbox);
    nothing_left("47.5");
    assert_true(raised > 0);
    assert_int_equal(refused, 0);
    assert_int_equal(policy, SCHED_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(priority_is_given_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
