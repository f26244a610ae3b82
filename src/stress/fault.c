// SPDX-License-Identifier: GPL-3.0-or-later
// By ptrace(), for as long as the change takes. What the process gets meanwhile (its timer's
// signal, its end) is passed on.
#include "stress/fault.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/timeouts.h"
#include "stress/copy.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const fault_model_names[FAULT_MODELS] = {"flip", "flips", "zero", "set"};

#define FLIPS 3 // bits, of the model FAULT_FLIPS

// ---- Stopping a process ----

// Whether this process has started it: not as a thread of something.
static bool is_own_child(pid_t process)
{
    char path[64], text[1024];
    int group = 0, parent = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)process);
    _cleanup_close_ int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file >= 0 ? read(file, text, sizeof text - 1) : 0;
    text[size > 0 ? size : 0] = '\0';
    const char *line = strstr(text, "\nTgid:");
    return line != NULL && sscanf(line, "\nTgid: %d", &group) == 1 &&
           (line = strstr(text, "\nPPid:")) != NULL && sscanf(line, "\nPPid: %d", &parent) == 1 &&
           group == process && parent == getpid();
}

// As waitpid(), without waiting. The end of a child of ours is left to whoever has started it.
static pid_t take_news(pid_t process, int *ret_status)
{
    siginfo_t news = {0};
    if (waitid(P_PID, (id_t)process, &news, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) != 0)
        return -1;
    if (news.si_pid == 0)
        return 0;
    if (news.si_code != CLD_TRAPPED && news.si_code != CLD_STOPPED && is_own_child(process)) {
        errno = ESRCH;
        return -1;
    }
    return waitpid(process, ret_status, __WALL | WNOHANG);
}

// Waits for the next stop. False if the process has ended, or does not stop in time.
static bool wait_for_stop(pid_t process, uint64_t deadline_ns, int *ret_status)
{
    for (;;) {
        pid_t got = take_news(process, ret_status);
        if (got == process)
            return WIFSTOPPED(*ret_status);
        if ((got < 0 && errno != EINTR) || clock_ns() > deadline_ns)
            return false;
        clock_sleep(TRACER_HOLD_PAUSE_NS);
    }
}

static bool stop(pid_t process)
{
    int status;
    if (ptrace(PTRACE_SEIZE, process, NULL, (void *)PTRACE_O_TRACESYSGOOD) != 0)
        return false;
    if (ptrace(PTRACE_INTERRUPT, process, NULL, NULL) != 0)
        return false;
    uint64_t deadline = clock_ns() + STRESS_CALL_WAIT_NS;
    while (wait_for_stop(process, deadline, &status)) {
        if (status >> 16 == PTRACE_EVENT_STOP)
            return true;
        // A signal that came first.
        ptrace(PTRACE_CONT, process, NULL, (void *)(intptr_t)WSTOPSIG(status));
    }
    return false;
}

// Also one that has not stopped. One that has ended is waited for: until then its parent is not
// told.
static void let_go(pid_t process)
{
    uint64_t deadline = clock_ns() + STRESS_REPAIR_WAIT_NS;
    int status, signal = 0;
    while (ptrace(PTRACE_DETACH, process, NULL, (void *)(intptr_t)signal) != 0 && errno == ESRCH &&
           clock_ns() < deadline) {
        if (ptrace(PTRACE_INTERRUPT, process, NULL, NULL) != 0 && errno != ESRCH)
            break;
        pid_t got = take_news(process, &status);
        if ((got < 0 && errno != EINTR) || (got == process && !WIFSTOPPED(status)))
            break;
        if (got == process && status >> 16 == 0 && WSTOPSIG(status) != (SIGTRAP | 0x80))
            signal = WSTOPSIG(status);
        else
            clock_sleep(TRACER_HOLD_PAUSE_NS);
    }
}

// ---- Whether all that may be done ----

// errno if not.
static bool may_change(pid_t process)
{
    struct user_regs_struct all;
    unsigned char byte = 0;
    struct iovec part = {&byte, 1};
    return stop(process) && ptrace(PTRACE_GETREGS, process, NULL, &all) == 0 &&
           ptrace(PTRACE_SETREGS, process, NULL, &all) == 0 &&
           process_vm_writev(process, &part, 1, &part, 1, 0) == 1;
}

struct error *fault_check(void)
{
    pid_t process = fork();
    if (process < 0)
        return error_from_errno(errno, "cannot start a process");
    if (process == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    errno = ETIMEDOUT;
    int code = may_change(process) ? 0 : errno;
    kill(process, SIGKILL);
    while (waitpid(process, NULL, __WALL) < 0 && errno == EINTR)
        ;
    return code == 0 ? NULL
                     : error_from_errno(code, "processes cannot be traced here (ptrace), so no "
                                              "fault can be injected into them; ordeal doctor "
                                              "says what helps");
}

// ---- Models ----

// Changes `size` bytes; a null fault exchanges each bit with itself.
static void apply(unsigned char *bytes, size_t size, const struct stress_fault *fault,
                  struct stats_random *random, unsigned *ret_bit)
{
    unsigned bit = (unsigned)stats_random_below(random, size * 8);
    *ret_bit = bit;
    switch (fault->model) {
    case FAULT_FLIP:
    case FAULT_FLIPS:
        for (unsigned i = 0; i < (fault->model == FAULT_FLIPS ? FLIPS : 1); i++) {
            bytes[bit / 8] ^= fault->null ? 0 : (unsigned char)(1u << bit % 8);
            bit = (bit + 1) % (unsigned)(size * 8);
        }
        break;
    case FAULT_ZERO:
    case FAULT_SET:
    case FAULT_MODELS:
        if (!fault->null)
            memset(bytes, fault->model == FAULT_ZERO ? 0 : 0xff, size);
        break;
    }
}

static struct error *describe(const struct stress_fault *fault, unsigned bit, struct buffer *text)
{
    if (fault->model == FAULT_FLIP || fault->model == FAULT_FLIPS)
        return buffer_printf(text, " %s %u", fault_model_names[fault->model], bit);
    return buffer_printf(text, " %s", fault_model_names[fault->model]);
}

// ---- Registers ----

static const struct {
    const char *name;
    size_t offset;
} registers[] = {
#define REGISTER(name)                                                                             \
    {                                                                                              \
#name, offsetof(struct user_regs_struct, name)                                             \
    }
    REGISTER(rbx), REGISTER(rbp), REGISTER(r12), REGISTER(r13),
    REGISTER(r14), REGISTER(r15), REGISTER(rsp), REGISTER(rip),
};
#define GENERAL (sizeof registers / sizeof *registers)
#define VECTORS 16

static bool change_vector(pid_t process, unsigned number, const struct stress_fault *fault,
                          struct stats_random *random, unsigned *ret_bit)
{
    struct user_fpregs_struct all;
    struct iovec part = {&all, sizeof all};
    if (ptrace(PTRACE_GETREGSET, process, (void *)NT_PRFPREG, &part) != 0)
        return false;
    // The lower half: where numbers are.
    apply((unsigned char *)&all.xmm_space[number * 4], 8, fault, random, ret_bit);
    return ptrace(PTRACE_SETREGSET, process, (void *)NT_PRFPREG, &part) == 0;
}

static bool change_general(pid_t process, size_t offset, const struct stress_fault *fault,
                           struct stats_random *random, unsigned *ret_bit)
{
    struct user_regs_struct all;
    if (ptrace(PTRACE_GETREGS, process, NULL, &all) != 0)
        return false;
    apply((unsigned char *)&all + offset, 8, fault, random, ret_bit);
    return ptrace(PTRACE_SETREGS, process, NULL, &all) == 0;
}

struct error *fault_register(pid_t process, const struct stress_fault *fault,
                             struct stats_random *random, struct buffer *ret_text, bool *ret_done)
{
    uint64_t number = stats_random_below(random, GENERAL + VECTORS);
    unsigned bit = 0;
    *ret_done = stop(process) &&
                (number < GENERAL
                     ? change_general(process, registers[number].offset, fault, random, &bit)
                     : change_vector(process, (unsigned)(number - GENERAL), fault, random, &bit));
    let_go(process);
    if (number < GENERAL)
        TRY(buffer_printf(ret_text, "%s", registers[number].name));
    else
        TRY(buffer_printf(ret_text, "xmm%u", (unsigned)(number - GENERAL)));
    return describe(fault, bit, ret_text);
}

// ---- Memory ----

#define STACK_BYTES 512 // below and above the stack pointer: frames that are in use

static bool change_byte(pid_t process, uint64_t address, const struct stress_fault *fault,
                        struct stats_random *random, unsigned *ret_bit)
{
    unsigned char byte;
    struct iovec here = {&byte, 1}, there = {(void *)(uintptr_t)address, 1};
    if (process_vm_readv(process, &here, 1, &there, 1, 0) != 1)
        return false;
    apply(&byte, 1, fault, random, ret_bit);
    return process_vm_writev(process, &here, 1, &there, 1, 0) == 1;
}

struct error *fault_byte(pid_t process, uint64_t address, const struct stress_fault *fault,
                         struct stats_random *random, struct buffer *ret_text, bool *ret_done)
{
    unsigned bit = 0;
    *ret_done = stop(process) && change_byte(process, address, fault, random, &bit);
    let_go(process);
    TRY(buffer_printf(ret_text, "memory at 0x%llx", (unsigned long long)address));
    return describe(fault, bit, ret_text);
}

struct error *fault_memory(const struct load_status *status, unsigned member, pid_t process,
                           const struct stress_fault *fault, struct stats_random *random,
                           struct buffer *ret_text, bool *ret_done)
{
    struct user_regs_struct all;
    const char *what;
    unsigned bit = 0;
    uint64_t address;
    *ret_done = stop(process) && ptrace(PTRACE_GETREGS, process, NULL, &all) == 0;
    if (!*ret_done) {
        let_go(process);
        return NULL;
    }
    if (status->areas[member] == STRESS_MEM) {
        what = "memory";
        address = status->memory + stats_random_below(random, status->memory_size);
    } else if (stats_random_below(random, 2) == 0) {
        what = "array";
        address = status->array + stats_random_below(random, WORK_ARRAY_WORDS * sizeof(uint64_t));
    } else {
        what = "stack";
        address = all.rsp + stats_random_below(random, STACK_BYTES);
    }
    *ret_done = change_byte(process, address, fault, random, &bit);
    let_go(process);
    TRY(buffer_printf(ret_text, "%s at 0x%llx", what, (unsigned long long)address));
    return describe(fault, bit, ret_text);
}

// ---- Calls about files ----

// Calls that wait for what a disk does: by path, or by a descriptor.
static const struct {
    long number;
    const char *name;
    int descriptor; // which argument it is; -1: the call has a path
    bool made;      // also if it fails: close() has closed
} calls[] = {
    {SYS_open, "open", -1, false},
    {SYS_openat, "open", -1, false},
    {SYS_openat2, "open", -1, false},
    {SYS_creat, "open", -1, false},
    {SYS_read, "read", 0, false},
    {SYS_pread64, "read", 0, false},
    {SYS_readv, "read", 0, false},
    {SYS_preadv, "read", 0, false},
    {SYS_preadv2, "read", 0, false},
    {SYS_getdents64, "read", 0, false},
    {SYS_copy_file_range, "read", 0, false},
    {SYS_sendfile, "read", 1, false},
    {SYS_write, "write", 0, false},
    {SYS_pwrite64, "write", 0, false},
    {SYS_writev, "write", 0, false},
    {SYS_pwritev, "write", 0, false},
    {SYS_pwritev2, "write", 0, false},
    {SYS_ftruncate, "write", 0, false},
    {SYS_fsync, "sync", 0, true},
    {SYS_fdatasync, "sync", 0, true},
    {SYS_close, "close", 0, true},
};
#define CALLS (sizeof calls / sizeof *calls)

static bool is_on_disk(pid_t process, int descriptor)
{
    char path[64];
    struct stat facts;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)process, descriptor);
    return stat(path, &facts) == 0 &&
           (S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode) || S_ISBLK(facts.st_mode));
}

// The call that is about to be made, if it is one of these, or CALLS.
static size_t find_call(pid_t process, const struct user_regs_struct *all)
{
    const unsigned long long arguments[] = {all->rdi, all->rsi};
    size_t call = 0;
    while (call < CALLS && (unsigned long long)calls[call].number != all->orig_rax)
        call++;
    return call == CALLS || calls[call].descriptor < 0 ||
                   is_on_disk(process, (int)arguments[calls[call].descriptor])
               ? call
               : CALLS;
}

// The process has stopped before the call: it says EIO, whether it is made or not.
static bool fail_call(pid_t process, size_t call, struct user_regs_struct *all,
                      const struct stress_fault *fault, uint64_t deadline_ns)
{
    int status;
    if (fault->null)
        return true;
    if (!calls[call].made)
        all->orig_rax = (unsigned long long)-1;
    if (ptrace(PTRACE_SETREGS, process, NULL, all) != 0 ||
        ptrace(PTRACE_SYSCALL, process, NULL, NULL) != 0 ||
        !wait_for_stop(process, deadline_ns + STRESS_CALL_WAIT_NS, &status) ||
        WSTOPSIG(status) != (SIGTRAP | 0x80) || ptrace(PTRACE_GETREGS, process, NULL, all) != 0)
        return false;
    all->rax = (unsigned long long)-EIO;
    return ptrace(PTRACE_SETREGS, process, NULL, all) == 0;
}

// Whether the process has stopped before a call, and not after one. Calls of 32-bit programs have
// other numbers, and are left alone.
static bool is_before_call(pid_t process)
{
    struct __ptrace_syscall_info info;
    return ptrace(PTRACE_GET_SYSCALL_INFO, process, sizeof info, &info) > 0 &&
           info.op == PTRACE_SYSCALL_INFO_ENTRY && info.arch == AUDIT_ARCH_X86_64;
}

struct error *fault_call(pid_t process, const struct stress_fault *fault, struct buffer *ret_text,
                         bool *ret_done)
{
    struct user_regs_struct all;
    uint64_t deadline = clock_ns() + STRESS_CALL_WAIT_NS;
    size_t call = CALLS;
    int status, signal = 0;
    *ret_done = false;
    for (bool go = stop(process); go && !*ret_done;) {
        if (ptrace(PTRACE_SYSCALL, process, NULL, (void *)(intptr_t)signal) != 0 ||
            !wait_for_stop(process, deadline, &status))
            break;
        signal = 0;
        if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
            signal = status >> 16 == 0 ? WSTOPSIG(status) : 0;
            continue;
        }
        if (!is_before_call(process))
            continue;
        if (ptrace(PTRACE_GETREGS, process, NULL, &all) != 0)
            break;
        call = find_call(process, &all);
        if (call < CALLS && !(*ret_done = fail_call(process, call, &all, fault, deadline)))
            break;
    }
    let_go(process);
    return *ret_done ? buffer_printf(ret_text, "%s fails with EIO", calls[call].name) : NULL;
}
