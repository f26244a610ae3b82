// SPDX-License-Identifier: GPL-3.0-or-later
// Reading the processor's time stamp counter is a signal in repeatable commands. The kernel
// switches that when it switches between two tasks of which only one has it, with a write to a
// control register that leaves a virtual machine: 5 us each time, 20 us for a call that stops
// twice. So the tracer has it, too, and does without the counter. Should some library read it even
// so, it may from then on.
#include "observe/tracer-internal.h"

#include <signal.h>
#include <sys/prctl.h>

static struct sigaction former;

static void on_fault(int number)
{
    int mode = PR_TSC_ENABLE;
    if (prctl(PR_GET_TSC, &mode) == 0 && mode == PR_TSC_SIGSEGV)
        prctl(PR_SET_TSC, PR_TSC_ENABLE);
    else
        sigaction(number, &former, NULL); // a fault of our own, which comes again
}

bool counter_forbid(void)
{
    struct sigaction action = {.sa_handler = on_fault};
    if (sigaction(SIGSEGV, &action, &former) < 0)
        return false;
    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0)
        return true;
    sigaction(SIGSEGV, &former, NULL);
    return false;
}

void counter_allow(void)
{
    prctl(PR_SET_TSC, PR_TSC_ENABLE);
    sigaction(SIGSEGV, &former, NULL);
}
