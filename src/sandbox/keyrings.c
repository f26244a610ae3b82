// SPDX-License-Identifier: GPL-3.0-or-later
// No namespace covers the kernel's keyrings: whoever has our user id reaches the user's keyrings by
// fixed numbers, and every key by its serial number. So the calls are refused by a filter. ENOSYS
// is the answer of a kernel without keyrings, which programs know.
#include "sandbox/keyrings.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define X32_BIT 0x40000000u

// Numbers of the three calls on i386, which is an ABI of its own. They follow one another there as
// on x86-64: add_key, request_key, keyctl.
#define I386_ADD_KEY 286
#define I386_KEYCTL  288

_Static_assert(SYS_request_key == SYS_add_key + 1 && SYS_keyctl == SYS_add_key + 2,
               "the calls for keys are one range");

#define LOAD(field)                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define JUMP(test, value, yes, no) BPF_JUMP(BPF_JMP | (test) | BPF_K, value, yes, no)

static const struct sock_filter program[] = {
    LOAD(arch),
    JUMP(BPF_JEQ, AUDIT_ARCH_I386, 4, 0),
    LOAD(nr),
    BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~X32_BIT),
    JUMP(BPF_JGE, SYS_add_key, 0, 4),
    JUMP(BPF_JGT, SYS_keyctl, 3, 4),
    LOAD(nr), // of i386
    JUMP(BPF_JGE, I386_ADD_KEY, 0, 1),
    JUMP(BPF_JGT, I386_KEYCTL, 0, 1),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
};

struct error *keyrings_leave(void)
{
    // The kernel itself looks for keys in the session keyring, for file systems. If this is
    // refused, there are no keys, or something around us guards them already.
    syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
    const struct sock_fprog filter = {sizeof program / sizeof *program,
                                      (struct sock_filter *)program};
    // Without the flag some kernels slow down the processor for the sake of processes with filters.
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &filter) < 0)
        return error_from_errno(errno, "cannot keep trials from the kernel's keyrings");
    return NULL;
}
