// SPDX-License-Identifier: GPL-3.0-or-later
// A copy's side of the link. A timer of the kernel ends a copy that a fault keeps from answering,
// so that none is left if the voter is gone.
#include "stress/copy.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

// ---- What a copy may do ----

// Nothing here reaches other processes or files of others: paths are opened only as they are.
static const int allowed[] = {
    SYS_read,
    SYS_write,
    SYS_pread64,
    SYS_pwrite64,
    SYS_close,
    SYS_fdatasync,
    SYS_recvmsg,
    SYS_sendto,
    SYS_sendmsg,
    SYS_recvfrom,
    SYS_nanosleep,
    SYS_setitimer,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_rt_sigreturn,
    SYS_clone,
    SYS_exit,
    SYS_exit_group,
    SYS_getpid,
    SYS_gettid,
    SYS_futex,
    SYS_set_robust_list,
    SYS_rseq,
    SYS_rt_sigprocmask,
    SYS_sigaltstack,
    SYS_mmap,
    SYS_munmap,
    SYS_mprotect,
    SYS_madvise,
    SYS_brk,
    SYS_restart_syscall,
    SYS_dup2,
    -1, // a call that a fault has taken away, which says so itself
};
#define ALLOWED (sizeof allowed / sizeof *allowed)

static bool confine(void)
{
    enum { HEAD = 4, OPEN = 6 };
    struct sock_filter code[HEAD + OPEN + 2 * ALLOWED + 1];
    size_t n = 0;
    const struct sock_filter kill = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    code[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
    code[n++] = kill;
    code[n++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < ALLOWED; i++) {
        code[n++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], 0, 1);
        code[n++] = allow;
    }
    // Files that are there are opened, none is made or emptied.
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0);
    code[n++] = kill;
    code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                             offsetof(struct seccomp_data, args[2]));
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, O_RDWR, 1, 0);
    code[n++] = kill;
    code[n++] = allow;
    struct sock_fprog program = {.len = (unsigned short)n, .filter = code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// ---- Orders ----

static void set_limit(uint64_t limit_ns)
{
    struct itimerval timer = {.it_value = {.tv_sec = (time_t)(limit_ns / NS_PER_S),
                                           .tv_usec = (suseconds_t)(limit_ns % NS_PER_S / 1000)}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static struct copy_descriptors take_descriptors(struct msghdr *message)
{
    struct copy_descriptors descriptors = {-1, -1};
    struct cmsghdr *control = CMSG_FIRSTHDR(message);
    if (control != NULL && control->cmsg_type == SCM_RIGHTS &&
        control->cmsg_len == CMSG_LEN(sizeof descriptors))
        memcpy(&descriptors, CMSG_DATA(control), sizeof descriptors);
    return descriptors;
}

static void receive(int link, struct copy_command *command,
                    struct copy_descriptors *ret_descriptors)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(struct copy_descriptors))];
    } control;
    struct iovec part = {command, sizeof *command};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t size;
    do {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        size = recvmsg(link, &message, 0);
    } while (size < 0 && errno == EINTR);
    if (size != sizeof *command)
        _exit(0); // the voter is gone, or wants no more
    *ret_descriptors = take_descriptors(&message);
}

static void answer(int link, enum copy_order order, uint64_t sum)
{
    struct copy_answer message = {.order = order, .sum = sum};
    if (send(link, &message, sizeof message, MSG_NOSIGNAL) != sizeof message)
        _exit(0);
}

static void run(struct stress_work *work, const struct copy_command *command)
{
    unsigned owed = 0;
    stress_work_reset(work);
    for (uint64_t i = 0; i < command->units; i++) {
        owed += command->intensity;
        if (owed >= 100) {
            owed -= 100;
            stress_work_unit(work, command->area, command->turn * 1000003 + i);
        } else {
            clock_sleep(command->unit_ns);
        }
    }
}

// The new copy has its own link and file, in the places of the old one's.
static bool become_two(struct copy_descriptors descriptors)
{
    pid_t child = descriptors.link >= 0 ? fork() : -1;
    if (child == 0 &&
        (dup2(descriptors.link, COPY_LINK) < 0 || dup2(descriptors.file, COPY_FILE) < 0))
        _exit(1);
    close(descriptors.link);
    close(descriptors.file);
    return child >= 0;
}

_Noreturn void copy_live(struct stress_work *work)
{
    struct copy_command command;
    struct copy_descriptors descriptors;
    struct rlimit none = {0, 0};
    signal(SIGCHLD, SIG_IGN); // copies of this one need not be waited for
    signal(SIGALRM, SIG_DFL);
    signal(SIGINT, SIG_IGN); // the voter ends
    setrlimit(RLIMIT_CORE, &none);
    if (!confine())
        _exit(1);
    for (;;) {
        receive(COPY_LINK, &command, &descriptors);
        set_limit(command.limit_ns);
        if (command.order == COPY_RUN)
            run(work, &command);
        else if (!become_two(descriptors))
            _exit(1);
        set_limit(0);
        answer(COPY_LINK, command.order, stress_work_sum(work));
    }
}
