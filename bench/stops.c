// SPDX-License-Identifier: GPL-3.0-or-later
// What each way costs by which the kernel tells of system calls: stops. Prints microseconds of
// processor time a call, of both sides together. Needs no privileges.
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define MANY 1000000
#define SOME 20000
#define CALL SYS_lseek // of a descriptor that is not open

static double processor_us(void)
{
    struct rusage own, children;
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    const struct timeval *times[] = {&own.ru_utime, &own.ru_stime, &children.ru_utime,
                                     &children.ru_stime};
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += (double)times[i]->tv_sec * 1e6 + (double)times[i]->tv_usec;
    return sum;
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

// Calls that are CALL get an answer, all others pass.
static int filter(unsigned answer, unsigned flags)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALL, 0, 1), BPF_STMT(BPF_RET | BPF_K, answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    long result = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    if (result < 0)
        fail("seccomp");
    return (int)result;
}

static void bare(void) {}
static void pass_all(void)
{
    filter(SECCOMP_RET_ALLOW, 0);
}
// The kernel remembers calls that pass whatever their arguments are; here it cannot.
static void pass_by_argument(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {2, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
        fail("seccomp");
}
static char selector = SYSCALL_DISPATCH_FILTER_ALLOW;
static void dispatch(void)
{
    if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector) < 0)
        fail("user dispatch");
}
static void on_trap(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = 0;
}
static void trap(void)
{
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    sigaction(SIGSYS, &action, NULL);
    filter(SECCOMP_RET_TRAP, 0);
}

static void repeat(int count)
{
    for (int i = 0; i < count; i++)
        syscall(CALL, 1000, 0, 0);
}

static void in_process(const char *name, void (*prepare)(void), int count)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        prepare();
        double start_us = processor_us();
        repeat(count);
        printf("%-46s %7.3f\n", name, (processor_us() - start_us) / count);
        exit(0);
    }
    waitpid(child, NULL, 0);
}

enum counter { COUNTER_ALL, COUNTER_TRACER, COUNTER_NONE }; // who may read the time stamp counter

static void traced(const char *name, int both, enum counter counter)
{
    fflush(stdout);
    pid_t tracer = fork();
    if (tracer != 0) {
        waitpid(tracer, NULL, 0);
        return;
    }
    double start_us = processor_us();
    pid_t child = fork();
    if (child == 0) {
        if (counter != COUNTER_ALL)
            prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
        raise(SIGSTOP);
        filter(SECCOMP_RET_TRACE, 0);
        repeat(SOME);
        _exit(0);
    }
    int status;
    waitpid(child, &status, WUNTRACED);
    if (ptrace(PTRACE_SEIZE, child, NULL, PTRACE_O_TRACESECCOMP | PTRACE_O_TRACESYSGOOD) < 0)
        fail("ptrace");
    if (counter == COUNTER_NONE)
        prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    kill(child, SIGCONT);
    while (waitpid(child, &status, __WALL) == child && !WIFEXITED(status)) {
        int event = status >> 16;
        ptrace(both && event == PTRACE_EVENT_SECCOMP ? PTRACE_SYSCALL : PTRACE_CONT, child, NULL,
               NULL);
    }
    printf("%-46s %7.3f\n", name, (processor_us() - start_us) / SOME);
    exit(0);
}

static void notified(const char *name, int same_processor)
{
    fflush(stdout);
    pid_t supervisor = fork();
    if (supervisor != 0) {
        waitpid(supervisor, NULL, 0);
        return;
    }
    int ends[2], theirs;
    if (pipe(ends) < 0)
        fail("pipe");
    double start_us = processor_us();
    pid_t child = fork();
    if (child == 0) {
        int listener = filter(SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER);
        if (write(ends[1], &listener, sizeof listener) < 0)
            _exit(1);
        repeat(SOME);
        _exit(0);
    }
    if (read(ends[0], &theirs, sizeof theirs) != sizeof theirs)
        fail("read");
    int process = (int)syscall(SYS_pidfd_open, child, 0);
    int listener = (int)syscall(SYS_pidfd_getfd, process, theirs, 0);
    if (same_processor && ioctl(listener, _IOW('!', 4, __u64), 1ul) < 0)
        fail("SECCOMP_IOCTL_NOTIF_SET_FLAGS");
    for (int i = 0; i < SOME; i++) {
        struct seccomp_notif call = {0};
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0)
            fail("notification");
        struct seccomp_notif_resp answer = {.id = call.id,
                                            .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
    waitpid(child, NULL, 0);
    printf("%-46s %7.3f\n", name, (processor_us() - start_us) / SOME);
    exit(0);
}

static void look_up(void)
{
    char link[64], text[4096];
    struct stat status;
    int file = open("/etc/passwd", O_RDONLY);
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    double start_us = processor_us();
    for (int i = 0; i < SOME; i++)
        fstat(file, &status);
    double middle_us = processor_us();
    for (int i = 0; i < SOME; i++)
        if (readlink(link, text, sizeof text) < 0)
            return;
    printf("%-46s %7.3f\n", "fstat()", (middle_us - start_us) / SOME);
    printf("%-46s %7.3f\n", "readlink() of /proc/self/fd", (processor_us() - middle_us) / SOME);
    close(file);
}

int main(void)
{
    for (int round = 0; round < 2; round++) {
        in_process("bare call", bare, MANY);
        in_process("filter that lets all pass", pass_all, MANY);
        in_process("the same, but it looks at an argument", pass_by_argument, MANY);
        in_process("syscall user dispatch, selector open", dispatch, MANY);
        in_process("SECCOMP_RET_TRAP, empty handler", trap, MANY / 5);
        notified("seccomp notification", 0);
        notified("the same on one processor", 1);
        traced("ptrace, one stop", 0, COUNTER_ALL);
        traced("ptrace, two stops", 1, COUNTER_ALL);
        traced("the same, only tracer reads time stamps", 1, COUNTER_TRACER);
        traced("the same, nobody does", 1, COUNTER_NONE);
        look_up();
    }
}
