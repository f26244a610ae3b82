// SPDX-License-Identifier: GPL-3.0-or-later
// Usage: filtered WAY [ASK]. Filters its own system calls, then makes calls that rules may fail.
// WAY: strict (read, write and exit alone), filter (the same by a program), raw (the same
// without the C library's knowledge), handler (like filter, with a
// handler of faults of its own; the name it opens is no readable memory), or probe (only asks the
// kernel which filters it knows, and takes 20 ms between its first two calls). With ASK it makes a
// system call of its own that the filter forbids.
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sock_filter program[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 4, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};
static const struct sock_fprog code = {sizeof program / sizeof *program, program};

static long raw(long number, long a, long b, long c)
{
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
}

// As libseccomp and others do: none of these calls can succeed.
static int probe(void)
{
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL) < 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL) < 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) < 0;
}

static void on_fault(int number)
{
    (void)number;
    raw(SYS_write, 1, (long)"fault\n", 6);
    raw(SYS_exit, 4, 0, 0);
}

static void say(const char *text)
{
    if (write(1, text, strlen(text)) < 0)
        raw(SYS_write, 1, (long)"write failed\n", 13);
}

int main(int argc, char **argv)
{
    char name[64], byte;
    const char *way = argc > 1 ? argv[1] : "";
    snprintf(name, sizeof name, "/nowhere/%s", way);
    const char *to_open = name;
    if (strcmp(way, "handler") == 0) {
        signal(SIGSEGV, on_fault);
        to_open = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (strcmp(way, "strict") == 0)
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
    else if (strcmp(way, "filter") == 0 || strcmp(way, "handler") == 0)
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &code);
    else if (strcmp(way, "probe") == 0 && !probe())
        return 1;
    else if (strcmp(way, "raw") == 0)
        raw(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&code);
    say(open(to_open, O_RDONLY) == -7 ? "open failed\n" : "open passed\n");
    if (strcmp(way, "probe") == 0)
        usleep(20000);
    say(read(0, &byte, 1) == -7 ? "read failed\n" : "read passed\n");
    say("text\n");
    if (argc > 2)
        getppid();
    raw(SYS_exit, 3, 0, 0);
}
