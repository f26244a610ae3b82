// SPDX-License-Identifier: GPL-3.0-or-later
// What a system call costs that no filter stops: filters WAY. Prints nanoseconds of this process'
// processor time a call, for a call that does nothing, and for one that reads 4096 bytes.
//   none      no filter
//   all       the shortest filter that there can be: one instruction, which lets everything pass
//   argument  one that looks at an argument, so that the kernel cannot remember what it says
// Under `ordeal trace --real` or `ordeal run`, `none` has their filter.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS 400000

static double processor_ns(void)
{
    struct rusage own;
    getrusage(RUSAGE_SELF, &own);
    return (double)(own.ru_utime.tv_sec + own.ru_stime.tv_sec) * 1e9 +
           (double)(own.ru_utime.tv_usec + own.ru_stime.tv_usec) * 1e3;
}

static int install(struct sock_filter *code, unsigned short count)
{
    struct sock_fprog program = {count, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

int main(int count, char **words)
{
    static char bytes[4096];
    struct sock_filter pass = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_filter look[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)), pass};
    const char *way = count > 1 ? words[1] : "none";
    int file = open("/proc/self/exe", O_RDONLY);
    if ((strcmp(way, "all") == 0 && install(&pass, 1) != 0) ||
        (strcmp(way, "argument") == 0 && install(look, 2) != 0))
        return 1;
    for (int i = 0; i < CALLS / 10; i++)
        syscall(SYS_lseek, 1000, 0, 0);
    double start_ns = processor_ns();
    for (int i = 0; i < CALLS; i++)
        syscall(SYS_lseek, 1000, 0, 0);
    double middle_ns = processor_ns();
    for (int i = 0; i < CALLS / 4; i++)
        if (pread(file, bytes, sizeof bytes, 0) != sizeof bytes)
            return 1;
    printf("%.2f %.2f\n", (middle_ns - start_ns) / CALLS,
           (processor_ns() - middle_ns) / (CALLS / 4));
    return 0;
}
