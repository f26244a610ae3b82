// Calls getppid, then jumps into it with a return address close to 0, as a broken stack may have
// it, and says where that led.
#include "victim.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>

static sigjmp_buf back;
static void *volatile fault;

static void caught(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    fault = info->si_addr;
    siglongjmp(back, 1);
}

int main(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = caught;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, NULL);
    say("%d\n", (int)getppid() == 77);
    if (sigsetjmp(back, 1) == 0)
        __asm__ volatile("andq $-16, %%rsp\n\tpushq $8\n\tjmp *%0" : : "r"(getppid) : "memory");
    say("fault at %d\n", (int)(long)fault);
    return 0;
}
