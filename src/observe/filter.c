// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the filter. Calls that always pass cost nearly nothing: the kernel runs the filter once for
// each number and remembers those that pass whatever their arguments are. So arguments are loaded
// only behind the test of a number.
#include "observe/filter.h"

#include "base/cleanup.h"
#include "observe/linux-calls.h"
#include "observe/process-numbers.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH // of Linux 5.11
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

#define X32_BIT     0x40000000u
#define ARGUMENT(n) ((uint32_t)(offsetof(struct seccomp_data, args) + 8u * (n))) // lower half

static struct error *emit(struct filter *filter, uint16_t code, uint8_t jt, uint8_t jf, uint32_t k)
{
    struct sock_filter *added = ARRAY_ADD(&filter->code);
    if (added == NULL)
        return error_no_memory();
    *added = (struct sock_filter){code, jt, jf, k};
    return NULL;
}

static struct error *load(struct filter *filter, uint32_t offset)
{
    return emit(filter, BPF_LD | BPF_W | BPF_ABS, 0, 0, offset);
}

static struct error *answer(struct filter *filter, uint32_t action)
{
    return emit(filter, BPF_RET | BPF_K, 0, 0, action);
}

// Stops if the argument has one of the bits.
static struct error *if_bits(struct filter *filter, unsigned argument, uint32_t bits)
{
    TRY(load(filter, ARGUMENT(argument)));
    TRY(emit(filter, BPF_JMP | BPF_JSET | BPF_K, 0, 1, bits));
    TRY(answer(filter, SECCOMP_RET_TRACE));
    return answer(filter, SECCOMP_RET_ALLOW);
}

// Stops if a file is mapped shared and writable.
static struct error *if_shared(struct filter *filter)
{
    TRY(load(filter, ARGUMENT(2)));
    TRY(emit(filter, BPF_JMP | BPF_JSET | BPF_K, 0, 5, PROT_WRITE));
    TRY(load(filter, ARGUMENT(3)));
    TRY(emit(filter, BPF_JMP | BPF_JSET | BPF_K, 3, 0, MAP_ANONYMOUS));
    TRY(emit(filter, BPF_ALU | BPF_AND | BPF_K, 0, 0, MAP_TYPE));
    TRY(emit(filter, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, MAP_PRIVATE));
    TRY(answer(filter, SECCOMP_RET_TRACE));
    return answer(filter, SECCOMP_RET_ALLOW);
}

// Also the commands that are about processes.
static struct error *if_locks(struct filter *filter)
{
    static const uint32_t commands[] = {F_SETLK,    F_SETLKW,    F_OFD_SETLK, F_OFD_SETLKW,
                                        F_SETLEASE, F_GETLK,     F_SETOWN,    F_GETOWN,
                                        12,         F_SETOWN_EX, F_GETOWN_EX, 13,
                                        14}; // 12, 13, 14: F_GETLK64 .. F_SETLKW64 of i386
    TRY(load(filter, ARGUMENT(1)));
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        TRY(emit(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, commands[i]));
        TRY(answer(filter, SECCOMP_RET_TRACE));
    }
    return answer(filter, SECCOMP_RET_ALLOW);
}

// Stops if the argument is one of these, or if it is none of them.
static struct error *if_word(struct filter *filter, uint32_t offset, const uint32_t *words,
                             size_t count, bool wanted)
{
    TRY(load(filter, offset));
    for (size_t i = 0; i < count; i++) {
        TRY(emit(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, words[i]));
        TRY(answer(filter, wanted ? SECCOMP_RET_TRACE : SECCOMP_RET_ALLOW));
    }
    return answer(filter, wanted ? SECCOMP_RET_ALLOW : SECCOMP_RET_TRACE);
}

static struct error *if_pointer(struct filter *filter, unsigned argument)
{
    static const uint32_t null = 0;
    TRY(load(filter, ARGUMENT(argument) + 4));
    TRY(emit(filter, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, 0));
    TRY(answer(filter, SECCOMP_RET_TRACE));
    return if_word(filter, ARGUMENT(argument), &null, 1, false);
}

static struct error *if_positive(struct filter *filter, unsigned argument)
{
    static const uint32_t zero = 0;
    TRY(load(filter, ARGUMENT(argument)));
    TRY(emit(filter, BPF_JMP | BPF_JSET | BPF_K, 0, 1, 0x80000000u));
    TRY(answer(filter, SECCOMP_RET_ALLOW));
    return if_word(filter, ARGUMENT(argument), &zero, 1, false);
}

static struct error *if_deadline(struct filter *filter, unsigned argument)
{
    static const uint32_t operations[] = {FUTEX_WAIT_BITSET, FUTEX_LOCK_PI, FUTEX_LOCK_PI2,
                                          FUTEX_WAIT_REQUEUE_PI};
    size_t count = sizeof operations / sizeof *operations;
    TRY(load(filter, ARGUMENT(1)));
    TRY(emit(filter, BPF_ALU | BPF_AND | BPF_K, 0, 0, FUTEX_CMD_MASK));
    for (size_t i = 0; i < count; i++)
        TRY(emit(filter, BPF_JMP | BPF_JEQ | BPF_K, (uint8_t)(count - i), 0, operations[i]));
    TRY(answer(filter, SECCOMP_RET_ALLOW));
    return if_pointer(filter, argument);
}

static struct error *if_argument(struct filter *filter, enum filter_stop stop, unsigned argument)
{
    static const uint32_t peer = SO_PEERCRED,
                          filters[] = {PR_SET_SECCOMP, PR_SET_SYSCALL_USER_DISPATCH};
    switch (stop) {
    case FILTER_STOP_IF_PROCESS:
        return if_bits(filter, argument, PROCESS_NUMBER_BIT);
    case FILTER_STOP_IF_POSITIVE:
        return if_positive(filter, argument);
    case FILTER_STOP_IF_POINTER:
        return if_pointer(filter, argument);
    case FILTER_STOP_IF_DEADLINE:
        return if_deadline(filter, argument);
    case FILTER_STOP_IF_PEER:
        return if_word(filter, ARGUMENT(argument), &peer, 1, true);
    case FILTER_STOP_IF_FILTERS:
        return if_word(filter, ARGUMENT(argument), filters, 2, true);
    default:
        return answer(filter, SECCOMP_RET_TRACE);
    }
}

static struct error *decide(struct filter *filter, const struct linux_call *call, bool i386,
                            unsigned char stops)
{
    enum filter_stop stop = (enum filter_stop)(stops & 15);
    if (stop != FILTER_STOP_IF_VISIBLE)
        return if_argument(filter, stop, stops >> 4);
    switch (call->visible) {
    case CALL_CREATES:
        if (call->arguments[0] == CALL_ARG_PATH && call->arguments[1] == CALL_ARG_OPEN_FLAGS)
            return if_bits(filter, 1, O_CREAT | O_TRUNC);
        if (call->arguments[2] == CALL_ARG_OPEN_FLAGS)
            return if_bits(filter, 2, O_CREAT | O_TRUNC);
        return answer(filter, SECCOMP_RET_TRACE);
    case CALL_SHARED: // the old call of i386 has its arguments in memory
        return i386 && call->number >= 0 ? answer(filter, SECCOMP_RET_TRACE) : if_shared(filter);
    case CALL_LOCKS:
        return if_locks(filter);
    case CALL_RING:
        return answer(filter, SECCOMP_RET_ERRNO | ENOSYS);
    default:
        return answer(filter, SECCOMP_RET_TRACE);
    }
}

static struct error *pass_if_trusted(struct filter *filter, const struct filter_code *trusted)
{
    uint32_t at = offsetof(struct seccomp_data, instruction_pointer);
    TRY(load(filter, at + 4));
    TRY(emit(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 3, (uint32_t)(trusted->start >> 32)));
    TRY(load(filter, at));
    TRY(emit(filter, BPF_JMP | BPF_JGE | BPF_K, 1, 0, trusted->size));
    return answer(filter, SECCOMP_RET_ALLOW);
}

static struct error *add_calls(struct filter *filter, const unsigned char *stops,
                               const struct filter_code *trusted, bool i386)
{
    TRY(load(filter, offsetof(struct seccomp_data, nr)));
    for (size_t i = 0; i < linux_call_count(); i++) {
        const struct linux_call *call = linux_call_at(i);
        int number = i386 ? call->number_i386 : call->number;
        if (stops[i] == FILTER_PASS || number == CALL_NONE)
            continue;
        TRY(emit(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, (uint32_t)number));
        size_t test = filter->code.count - 1;
        if (trusted != NULL && !i386)
            TRY(pass_if_trusted(filter, trusted));
        TRY(decide(filter, call, i386, stops[i]));
        filter->code.items[test].jf = (uint8_t)(filter->code.count - test - 1);
    }
    return answer(filter, SECCOMP_RET_ALLOW);
}

struct error *filter_make(const unsigned char *stops, const struct filter_code *trusted,
                          struct filter *ret_filter)
{
    _cleanup_(filter_deinit) struct filter filter = {0};
    TRY(load(&filter, offsetof(struct seccomp_data, arch)));
    TRY(emit(&filter, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, AUDIT_ARCH_X86_64));
    TRY(emit(&filter, BPF_JMP | BPF_JA, 0, 0, 0));
    size_t jump = filter.code.count - 1;
    // The third set of numbers, x32, is not in the table.
    TRY(load(&filter, offsetof(struct seccomp_data, nr)));
    TRY(emit(&filter, BPF_JMP | BPF_JGE | BPF_K, 0, 1, X32_BIT));
    TRY(answer(&filter, SECCOMP_RET_ERRNO | ENOSYS));
    TRY(add_calls(&filter, stops, trusted, false));
    filter.code.items[jump].k = (uint32_t)(filter.code.count - jump - 1);
    TRY(add_calls(&filter, stops, trusted, true));
    *ret_filter = filter;
    filter = (struct filter){0};
    return NULL;
}

void filter_deinit(struct filter *filter)
{
    ARRAY_DEINIT(&filter->code);
}

bool filter_install(const struct filter *filter)
{
    struct sock_fprog program = {(unsigned short)filter->code.count, filter->code.items};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0)
        return true;
    // Without privileges, programs must not gain any from here on.
    return errno == EACCES && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
}
