// SPDX-License-Identifier: GPL-3.0-or-later
// What debuggers do: breakpoints, single steps, system calls, memory and signals of a child.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile long value = 1;

__attribute__((noinline)) static long work(long n)
{
    for (long i = 0; i < n; i++)
        value = value * 3 + i;
    return value;
}

static _Noreturn void be_debugged(void)
{
    ptrace(PTRACE_TRACEME, 0, 0, 0);
    raise(SIGSTOP);
    work(10);
    for (int i = 0; i < 20; i++)
        syscall(SYS_getppid);
    raise(SIGUSR1);
    _exit(0);
}

static int wait_for(pid_t process)
{
    int status = -1;
    if (waitpid(process, &status, 0) != process) {
        perror("waitpid");
        exit(2);
    }
    return status;
}

// The process runs up to the place, where an int3 is put, and may go on.
static void stop_at(pid_t process, void *place)
{
    struct user_regs_struct registers;
    errno = 0;
    long code = ptrace(PTRACE_PEEKTEXT, process, place, 0);
    ptrace(PTRACE_POKETEXT, process, place, (void *)((code & ~0xffL) | 0xcc));
    ptrace(PTRACE_CONT, process, 0, 0);
    printf("breakpoint: signal %d\n", WSTOPSIG(wait_for(process)));
    ptrace(PTRACE_GETREGS, process, 0, &registers);
    printf("at the place: %d\n", registers.rip == (unsigned long)place + 1);
    registers.rip--;
    ptrace(PTRACE_SETREGS, process, 0, &registers);
    ptrace(PTRACE_POKETEXT, process, place, (void *)code);
}

static void trace_calls(pid_t process)
{
    int calls = 0, status = 0, signal = 0;
    ptrace(PTRACE_SETOPTIONS, process, 0, (void *)PTRACE_O_TRACESYSGOOD);
    while (calls < 500) {
        ptrace(PTRACE_SYSCALL, process, 0, (void *)(long)signal);
        status = wait_for(process);
        if (!WIFSTOPPED(status))
            break;
        signal = WSTOPSIG(status) == (SIGTRAP | 0x80) ? 0 : WSTOPSIG(status);
        calls += signal == 0;
    }
    printf("many calls: %d, ended by signal %d\n", calls >= 40, WTERMSIG(status));
}

static void attach(void)
{
    pid_t other = fork();
    if (other == 0)
        for (;;)
            pause();
    printf("attach %ld\n", ptrace(PTRACE_ATTACH, other, 0, 0));
    wait_for(other);
    printf("detach %ld\n", ptrace(PTRACE_DETACH, other, 0, 0));
    kill(other, SIGKILL);
    printf("killed by %d\n", WTERMSIG(wait_for(other)));
}

int main(void)
{
    pid_t process = fork();
    if (process == 0)
        be_debugged();
    printf("stopped: %d\n", WIFSTOPPED(wait_for(process)));
    stop_at(process, (void *)work);
    ptrace(PTRACE_POKEDATA, process, (void *)&value, (void *)7L);
    for (int i = 0; i < 100; i++) {
        ptrace(PTRACE_SINGLESTEP, process, 0, 0);
        if (!WIFSTOPPED(wait_for(process)))
            return 1;
    }
    printf("value changed: %d\n", ptrace(PTRACE_PEEKDATA, process, (void *)&value, 0) != 1);
    trace_calls(process);
    attach();
    return 0;
}
