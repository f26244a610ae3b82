// SPDX-License-Identifier: GPL-3.0-or-later
// The filter of a workload that forks: system calls that leave nothing behind outside the process
// that makes them. These are reading, asking, its own memory and signals, and writing to stdout and
// stderr. The list keeps a child's trial from touching anybody's files, so it says what is allowed,
// not what is forbidden. Before you add a system call, think of two processes that make it one
// after the other with the same descriptors: the second must not be able to tell.
#include "runtime/fork.h"
#include "runtime/system.h"

#include <linux/audit.h>
#include <linux/fcntl.h>
#include <linux/filter.h>
#include <linux/mman.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>

#include <asm/ioctls.h>

// Allowed with any arguments.
static const uint16_t harmless[] = {
    __NR_read,
    __NR_pread64,
    __NR_readv,
    __NR_preadv,
    __NR_lseek,
    __NR_close,
    __NR_fstat,
    __NR_newfstatat,
    __NR_stat,
    __NR_lstat,
    __NR_statx,
    __NR_getdents,
    __NR_getdents64,
    __NR_readlink,
    __NR_readlinkat,
    __NR_access,
    __NR_faccessat,
    __NR_faccessat2,
    __NR_getcwd,
    __NR_chdir,
    __NR_fchdir,
    __NR_statfs,
    __NR_fstatfs,
    __NR_getxattr,
    __NR_lgetxattr,
    __NR_fgetxattr,
    __NR_listxattr,
    __NR_llistxattr,
    __NR_flistxattr,
    __NR_fadvise64,
    __NR_readahead,
    __NR_poll,
    __NR_ppoll,
    __NR_select,
    __NR_pselect6,
    // memory
    __NR_brk,
    __NR_munmap,
    __NR_mprotect,
    __NR_mremap,
    __NR_madvise,
    __NR_mincore,
    // itself. A signal to its own thread names the process by a number that a filter made before
    // the fork cannot know; nobody sends signals to threads of others.
    __NR_rt_sigaction,
    __NR_rt_sigprocmask,
    __NR_rt_sigreturn,
    __NR_rt_sigpending,
    __NR_rt_sigsuspend,
    __NR_rt_sigtimedwait,
    __NR_sigaltstack,
    __NR_tgkill,
    __NR_rt_tgsigqueueinfo,
    __NR_pause,
    __NR_getpid,
    __NR_gettid,
    __NR_getppid,
    __NR_getuid,
    __NR_geteuid,
    __NR_getgid,
    __NR_getegid,
    __NR_getgroups,
    __NR_getresuid,
    __NR_getresgid,
    __NR_getpgrp,
    __NR_getpgid,
    __NR_getsid,
    __NR_getpriority,
    __NR_getrlimit,
    __NR_setrlimit,
    __NR_getrusage,
    __NR_umask,
    __NR_capget,
    __NR_arch_prctl,
    __NR_set_tid_address,
    __NR_set_robust_list,
    __NR_get_robust_list,
    __NR_rseq,
    __NR_futex,
    __NR_membarrier,
    __NR_sched_yield,
    __NR_sched_getaffinity,
    __NR_sched_getparam,
    __NR_sched_getscheduler,
    __NR_sched_get_priority_max,
    __NR_sched_get_priority_min,
    __NR_getcpu,
    __NR_restart_syscall,
    __NR_wait4,
    __NR_waitid,
    __NR_exit,
    __NR_exit_group,
    __NR_process_vm_readv,
    __NR_process_vm_writev, // the runtime's, on itself
    // clocks and the rest of the world
    __NR_nanosleep,
    __NR_clock_nanosleep,
    __NR_clock_gettime,
    __NR_clock_getres,
    __NR_gettimeofday,
    __NR_time,
    __NR_times,
    __NR_uname,
    __NR_sysinfo,
    __NR_getrandom,
    __NR_getitimer,
};

enum test {
    STREAM,  // the argument is the descriptor of stdout or stderr
    WITHOUT, // none of the bits of `value`
    AMONG,   // one of `values`, which end with 0
    BEHIND,  // at least 3: not one of the standard streams
};

struct condition {
    uint16_t number;
    uint8_t argument;
    uint8_t test;
    uint32_t value;
    uint32_t values[6];
};

#define WRITING (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | 020000000) // the last: a file without name
#define SET_VMA 0x53564d41u

static const struct condition conditions[] = {
    {__NR_write, 0, STREAM, 0, {0}},
    {__NR_writev, 0, STREAM, 0, {0}},
    {__NR_openat, 2, WITHOUT, WRITING, {0}},
    {__NR_open, 1, WITHOUT, WRITING, {0}},
    {__NR_ioctl, 1, AMONG, 0, {TCGETS, TIOCGWINSZ, FIONREAD, FIOCLEX, FIONCLEX, 0}},
    {__NR_dup2, 1, BEHIND, 0, {0}},
    {__NR_dup3, 1, BEHIND, 0, {0}},
    {__NR_sendfile, 0, STREAM, 0, {0}},
    {__NR_splice, 2, STREAM, 0, {0}},
    {__NR_copy_file_range, 2, STREAM, 0, {0}},
    {__NR_prlimit64, 0, AMONG, 0, {0}}, // of itself
    {__NR_prctl, 0, AMONG, 0, {PR_SET_NAME, PR_GET_NAME, PR_GET_DUMPABLE, SET_VMA, 0}},
};

#define ROOM 512
static struct sock_filter fork_program[ROOM];
static uint16_t size;
static uint16_t to_deny[64]; // jumps whose target is known in the end
static uint16_t denials;

static void emit(uint16_t code, uint32_t value, uint8_t if_true, uint8_t if_false)
{
    if (size < ROOM)
        fork_program[size] = (struct sock_filter){code, if_true, if_false, value};
    size++;
}

static void emit_load(uint32_t offset)
{
    emit(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

static void emit_argument(uint32_t number)
{
    emit_load(__builtin_offsetof(struct seccomp_data, args) + 8 * number);
}

static void emit_allow(void)
{
    emit(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

static void emit_allow_if(uint16_t test, uint32_t value)
{
    emit(BPF_JMP | test | BPF_K, value, 0, 1);
    emit_allow();
}

static void emit_deny(void)
{
    if (denials < sizeof to_deny / sizeof *to_deny)
        to_deny[denials++] = size;
    emit(BPF_JMP | BPF_JA, 0, 0, 0);
}

// Begins a part of the filter for one system call: a jump over it if the number is another.
// close_case() fills in the distance.
static uint16_t open_case(uint32_t number)
{
    emit(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 0);
    return size;
}

static void close_case(uint16_t start)
{
    emit_deny();
    if (start <= ROOM)
        fork_program[start - 1].jf = (uint8_t)(size - start);
}

static void emit_condition(const struct condition *condition)
{
    uint16_t start = open_case(condition->number);
    emit_argument(condition->argument);
    switch (condition->test) {
    case STREAM:
        emit_allow_if(BPF_JEQ, 1);
        emit_allow_if(BPF_JEQ, 2);
        break;
    case WITHOUT:
        emit(BPF_JMP | BPF_JSET | BPF_K, condition->value, 1, 0);
        emit_allow();
        break;
    case BEHIND:
        emit_allow_if(BPF_JGE, 3);
        break;
    default:
        for (uint32_t i = 0; i == 0 || condition->values[i] != 0; i++)
            emit_allow_if(BPF_JEQ, condition->values[i]);
    }
    close_case(start);
}

// fcntl() may read flags, and duplicate descriptors to numbers above the standard streams.
static void emit_fcntl(void)
{
    uint16_t start = open_case(__NR_fcntl);
    emit_argument(1);
    emit_allow_if(BPF_JEQ, F_GETFD);
    emit_allow_if(BPF_JEQ, F_SETFD);
    emit_allow_if(BPF_JEQ, F_GETFL);
    emit(BPF_JMP | BPF_JEQ | BPF_K, F_DUPFD, 2, 0);
    emit(BPF_JMP | BPF_JEQ | BPF_K, F_DUPFD_CLOEXEC, 1, 0);
    emit_deny();
    emit_argument(2);
    emit_allow_if(BPF_JGE, 3);
    close_case(start);
}

// Private memory, or memory of a file that is not writable. Shared memory without a file could be
// made writable later, and the next child would have it, too.
static void emit_mmap(void)
{
    const uint32_t kinds = 0xf | MAP_ANONYMOUS;
    uint16_t start = open_case(__NR_mmap);
    emit_argument(3);
    emit(BPF_ALU | BPF_AND | BPF_K, kinds, 0, 0);
    emit_allow_if(BPF_JEQ, MAP_PRIVATE);
    emit_allow_if(BPF_JEQ, MAP_PRIVATE | MAP_ANONYMOUS);
    emit(BPF_JMP | BPF_JEQ | BPF_K, MAP_SHARED, 1, 0);
    emit_deny();
    emit_argument(2);
    emit(BPF_JMP | BPF_JSET | BPF_K, PROT_WRITE, 1, 0);
    emit_allow();
    close_case(start);
}

extern const char fork_system_end[] __attribute__((visibility("hidden")));
__asm__(".pushsection .text, \"ax\"\n"
        ".globl fork_system, fork_system_end\n"
        ".hidden fork_system\n"
        ".type fork_system, @function\n"
        "fork_system:\n"
        "endbr64\n"
        "mov %rdi, %rax\n"
        "mov %rsi, %rdi\n"
        "mov %rdx, %rsi\n"
        "mov %rcx, %rdx\n"
        "mov %r8, %r10\n"
        "xor %r8d, %r8d\n"
        "xor %r9d, %r9d\n"
        "syscall\n"
        "fork_system_end:\n"
        "ret\n"
        ".size fork_system, . - fork_system\n"
        ".popsection");

// A system call that is in no list passes if it comes from fork_system(). Any other kills the
// process, so that no SIGSYS handler of the target sees it.
static void emit_end(void)
{
    uint64_t place = (uint64_t)fork_system_end;
    const uint32_t pointer = __builtin_offsetof(struct seccomp_data, instruction_pointer);
    for (uint16_t i = 0; i < denials; i++)
        fork_program[to_deny[i]].k = (uint32_t)(size - to_deny[i] - 1);
    emit_load(pointer);
    emit(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)place, 0, 3);
    emit_load(pointer + 4);
    emit(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(place >> 32), 0, 1);
    emit_allow();
    emit(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
}

static bool make_program(void)
{
    size = denials = 0;
    emit_load(__builtin_offsetof(struct seccomp_data, arch));
    emit(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
    emit(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
    emit_load(__builtin_offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < sizeof conditions / sizeof *conditions; i++)
        emit_condition(&conditions[i]);
    emit_fcntl();
    emit_mmap();
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        emit_allow_if(BPF_JEQ, harmless[i]);
    emit_end();
    return size <= ROOM && denials < sizeof to_deny / sizeof *to_deny;
}

bool fork_filter(void)
{
    struct {
        uint16_t size;
        struct sock_filter *program;
    } filter;
    if (!make_program())
        return false;
    filter.size = size;
    filter.program = fork_program;
    const int one = 1;
    if (system_failed(SYSTEM_6(__NR_prctl, PR_SET_NO_NEW_PRIVS, one, 0, 0, 0, 0)))
        return false;
    return !system_failed(
        SYSTEM_3(__NR_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &filter));
}
