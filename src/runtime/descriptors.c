// SPDX-License-Identifier: GPL-3.0-or-later
// Descriptors of the target, and the paths they are open on. Asking the kernel for a path takes
// microseconds, so a path is kept until the descriptor may have become something else. A number can
// only change its meaning after it was closed, or by dup2(): it does not matter how descriptors are
// made. The hooks below see what closes them, and what changes paths, if it goes through the C
// library. What they cannot see: a close() by the bare system call instruction, or by io_uring; and
// another process that renames or removes a file, mounts something over it, or changes the root.
#include "runtime/descriptors.h"

#include "runtime/identity.h"
#include "runtime/runtime.h"
#include "runtime/system.h"

#include <linux/fcntl.h>
#include <linux/stat.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <asm/ioctls.h>

#define KEPT      1024 // lower numbers only
#define PATH_SIZE 512

// A stamp says when a path was read: how often all descriptors, and this one, may have changed by
// then. So a path that is read while another thread closes the descriptor is never taken for later.
#define BUSY UINT64_MAX
static struct known {
    uint64_t stamp; // 0: no path; BUSY: it is being written
    char path[PATH_SIZE];
} known[KEPT];
static uint32_t changes_of[KEPT];
static uint32_t changes_of_all = 1;
static uint32_t changing; // changes that are being made; one that never ends costs only time
static bool is_used, is_off;

bool descriptors_are_known(void)
{
    return is_used;
}

void descriptors_note_unshare(void)
{
    atomic_store(&is_off, true);
}

void descriptors_note_clone(int flags)
{
    const int memory = 0x100, files = 0x400, parent_waits = 0x4000;
    if ((flags & (memory | files | parent_waits)) == memory)
        descriptors_note_unshare();
}

static void all_may_change(void)
{
    atomic_add(&changes_of_all, 1);
}

static void may_change(int descriptor)
{
    if (descriptor >= 0 && descriptor < KEPT)
        atomic_add(&changes_of[descriptor], 1);
}

static uint64_t stamp_now(int64_t descriptor)
{
    return (uint64_t)atomic_load(&changes_of_all) << 32 | atomic_load(&changes_of[descriptor]);
}

uint32_t descriptor_kind(int64_t descriptor)
{
    struct statx status;
    if (system_failed(SYSTEM_6(__NR_statx, descriptor, "", AT_EMPTY_PATH, STATX_TYPE, &status, 0)))
        return WIRE_NONE;
    switch (status.stx_mode & S_IFMT) {
    case S_IFIFO:
        return WIRE_FD_PIPE;
    case S_IFSOCK:
        return WIRE_FD_SOCKET;
    case S_IFREG:
        return WIRE_FD_FILE;
    case S_IFDIR:
        return WIRE_FD_DIRECTORY;
    default:
        return WIRE_NONE;
    }
}

uint64_t descriptor_inode(int64_t descriptor)
{
    struct statx status;
    return system_failed(SYSTEM_6(__NR_statx, descriptor, "", AT_EMPTY_PATH, STATX_INO, &status, 0))
               ? 0
               : status.stx_ino;
}

bool descriptor_is_connection(int64_t descriptor)
{
    int type = 0;
    unsigned size = sizeof type;
    long result = SYSTEM_6(__NR_getsockopt, descriptor, SOL_SOCKET, SO_TYPE, &type, &size, 0);
    return !system_failed(result) && (type == SOCK_STREAM || type == SOCK_SEQPACKET);
}

bool descriptor_is(uint16_t test, int64_t descriptor)
{
    char terminal[64];
    if (test == WIRE_FD_NONBLOCKING) {
        long flags = SYSTEM_2(__NR_fcntl, descriptor, F_GETFL);
        return !system_failed(flags) && (flags & O_NONBLOCK) != 0;
    }
    if (test == WIRE_FD_CONNECTION)
        return descriptor_is_connection(descriptor);
    if (test == WIRE_FD_TTY)
        return !system_failed(SYSTEM_3(__NR_ioctl, descriptor, TCGETS, terminal));
    return descriptor_kind(descriptor) == test;
}

static bool matches(const struct wire_instruction *instruction, const char *path)
{
    const char *wanted = plan_string(instruction->b);
    return instruction->a == WIRE_MATCH_GLOB ? text_glob(wanted, path) : text_equal(wanted, path);
}

// A child of vfork() is here in its parent's memory, with descriptors of its own.
static bool is_this_process(void)
{
    return random_mix((uint32_t)SYSTEM_1(__NR_getpid, 0)) == runtime.process->key;
}

static void keep(int64_t descriptor, uint64_t stamp, const char *path, size_t size)
{
    struct known *entry = &known[descriptor];
    uint64_t before = atomic_load(&entry->stamp);
    if (atomic_load(&is_off) || atomic_load(&changing) != 0 || before == BUSY ||
        !is_this_process() || !atomic_swap_if(&entry->stamp, before, BUSY))
        return;
    memcpy(entry->path, path, size + 1);
    atomic_store(&entry->stamp, stamp);
}

// Not inlined, because of its buffer: most descriptors are known.
__attribute__((noinline)) static bool ask_for_path(const struct wire_instruction *instruction,
                                                   int64_t descriptor)
{
    char link[64] = "/proc/thread-self/fd/";
    char path[PATH_SIZE];
    uint64_t stamp = descriptor < KEPT ? stamp_now(descriptor) : 0;
    text_put_number(link + text_length(link), (unsigned)descriptor);
    long size = SYSTEM_3(__NR_readlink, link, path, sizeof path - 1);
    if (system_failed(size))
        return false;
    path[size] = '\0';
    if (is_used && descriptor < KEPT)
        keep(descriptor, stamp, path, (size_t)size);
    return matches(instruction, path);
}

bool descriptor_has_path(const struct wire_instruction *instruction, int64_t descriptor)
{
    if (descriptor < 0 || descriptor > INT32_MAX)
        return false;
    if (descriptor < KEPT && !atomic_load(&is_off)) {
        const struct known *entry = &known[descriptor];
        uint64_t stamp = atomic_load(&entry->stamp);
        if (stamp == stamp_now(descriptor)) {
            bool result = matches(instruction, entry->path);
            __atomic_thread_fence(__ATOMIC_ACQUIRE);
            if (atomic_load(&entry->stamp) == stamp) // nobody wrote meanwhile
                return result;
        }
    }
    return ask_for_path(instruction, descriptor);
}

// Hooks. They note a change before it is made, since another thread may get the same number before
// the call is back, and after it: a path that was read before has an older stamp. In between no
// path is kept.

// clang-format off
#define EACH_HOOK(X) \
    X(close) X(__close) X(dup2) X(__dup2) X(dup3) X(fclose) X(freopen) X(freopen64) \
    X(fcloseall) X(closedir) X(pclose) X(daemon) X(login_tty) X(forkpty) X(rename) \
    X(renameat) X(renameat2) X(unlink) X(unlinkat) X(remove) X(rmdir) X(unshare) \
    X(close_range) X(closefrom)
// clang-format on
#define AT(name) AT_##name,
enum { EACH_HOOK(AT) HOOKS };
_Static_assert(HOOKS == DESCRIPTOR_HOOKS, "DESCRIPTOR_HOOKS");

static void *reals[DESCRIPTOR_HOOKS];
#define REAL(name) ((__typeof__(hook_##name) *)hook_real(&reals[AT_##name], #name))

#define CLOSING_HOOK(name, type, parameters, arguments, note)                                      \
    static type hook_##name parameters                                                             \
    {                                                                                              \
        atomic_add(&changing, 1);                                                                  \
        note;                                                                                      \
        type result = REAL(name) arguments;                                                        \
        note;                                                                                      \
        atomic_add(&changing, -1u);                                                                \
        return result;                                                                             \
    }
CLOSING_HOOK(close, int, (int a), (a), may_change(a))
CLOSING_HOOK(__close, int, (int a), (a), may_change(a))
CLOSING_HOOK(dup2, int, (int a, int b), (a, b), may_change(b))
CLOSING_HOOK(__dup2, int, (int a, int b), (a, b), may_change(b))
CLOSING_HOOK(dup3, int, (int a, int b, int c), (a, b, c), may_change(b))
CLOSING_HOOK(fclose, int, (void *a), (a), all_may_change())
CLOSING_HOOK(freopen, void *, (const char *a, const char *b, void *c), (a, b, c), all_may_change())
CLOSING_HOOK(freopen64, void *, (const char *a, const char *b, void *c), (a, b, c),
             all_may_change())
CLOSING_HOOK(fcloseall, int, (void), (), all_may_change())
CLOSING_HOOK(closedir, int, (void *a), (a), all_may_change())
CLOSING_HOOK(pclose, int, (void *a), (a), all_may_change())
CLOSING_HOOK(daemon, int, (int a, int b), (a, b), all_may_change())
CLOSING_HOOK(login_tty, int, (int a), (a), all_may_change())
CLOSING_HOOK(forkpty, int, (int *a, char *b, const void *c, const void *d), (a, b, c, d),
             all_may_change())
CLOSING_HOOK(rename, int, (const char *a, const char *b), (a, b), all_may_change())
CLOSING_HOOK(renameat, int, (int a, const char *b, int c, const char *d), (a, b, c, d),
             all_may_change())
CLOSING_HOOK(renameat2, int, (int a, const char *b, int c, const char *d, unsigned e),
             (a, b, c, d, e), all_may_change())
CLOSING_HOOK(unlink, int, (const char *a), (a), all_may_change())
CLOSING_HOOK(unlinkat, int, (int a, const char *b, int c), (a, b, c), all_may_change())
CLOSING_HOOK(remove, int, (const char *a), (a), all_may_change())
CLOSING_HOOK(rmdir, int, (const char *a), (a), all_may_change())

static int hook_unshare(int flags)
{
    const int files = 0x400;
    if ((flags & files) != 0)
        descriptors_note_unshare();
    return REAL(unshare)(flags);
}

static int hook_close_range(unsigned first, unsigned last, int flags)
{
    const int unshares = 2;
    if ((flags & unshares) != 0)
        descriptors_note_unshare();
    atomic_add(&changing, 1);
    all_may_change();
    int result = REAL(close_range)(first, last, flags);
    all_may_change();
    atomic_add(&changing, -1u);
    return result;
}

static void hook_closefrom(int first)
{
    atomic_add(&changing, 1);
    all_may_change();
    REAL(closefrom)(first);
    all_may_change();
    atomic_add(&changing, -1u);
}

// Noted before the call, since the hook of syscall() must end in a jump.
void descriptors_note_call(long number)
{
    switch (number) {
    case __NR_unshare:
        descriptors_note_unshare();
        break;
    case __NR_close:
    case __NR_close_range:
    case __NR_dup2:
    case __NR_dup3:
    case __NR_io_uring_enter:
    case __NR_rename:
    case __NR_renameat:
    case __NR_renameat2:
    case __NR_unlink:
    case __NR_unlinkat:
    case __NR_rmdir:
        all_may_change();
        break;
    default:
        break;
    }
}

// Filled in at run time: a table with addresses would have to be relocated in every process.
struct hook descriptor_hooks[DESCRIPTOR_HOOKS];

__attribute__((noinline)) static void put(uint32_t at, const char *name, void *replacement)
{
    descriptor_hooks[at] = (struct hook){name, replacement, &reals[at]};
}

void descriptors_prepare(void)
{
    const struct wire_span code = runtime.plan->code;
    for (uint32_t i = 0; i < code.count && !is_used; i++)
        is_used = runtime.code[i].op == WIRE_OP_FD_PATH;
    if (!is_used)
        return;
#define PUT(name) put(AT_##name, #name, (void *)hook_##name);
    EACH_HOOK(PUT)
}
