// SPDX-License-Identifier: GPL-3.0-or-later
// Says its number and asks for a file until it is there. Whoever likes may trace it.
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

__attribute__((noinline)) static void ask(void)
{
    struct stat facts;
    printf("%d\n", (int)getpid());
    fflush(stdout);
    while (stat("/", &facts) < 0)
        ;
}

int main(void)
{
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    ask();
    return 0;
}
