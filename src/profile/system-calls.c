// SPDX-License-Identifier: GPL-3.0-or-later
// Looks up system calls in the table system-calls.tab, which is unpacked at the first use.
#include "profile/system-calls.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>

#define NONE       0
#define OPERATIONS // marks errors that were found through tables of operations

#define CALL(call_number, call_name, ...) static const uint8_t errors_##call_name[] = {__VA_ARGS__};
#include "profile/system-calls.tab"
#undef CALL

static const struct {
    int64_t number;
    const char *name;
    const uint8_t *errors;
    size_t error_count;
} calls[] = {
#define CALL(call_number, call_name, ...)                                                          \
    {call_number, #call_name, errors_##call_name, sizeof errors_##call_name},
#include "profile/system-calls.tab"
#undef CALL
};
#define CALLS (sizeof calls / sizeof *calls)

static struct error_set sets[CALLS + 1]; // the last is for unknown calls
static once_flag unpacked = ONCE_FLAG_INIT;

// The index of a call, or CALLS.
static size_t find(int64_t number)
{
    size_t low = 0, high = CALLS;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (calls[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < CALLS && calls[low].number == number ? low : CALLS;
}

// These wait for the lock of the address space. Only a deadly signal ends that with EINTR, and then
// the program does not see it.
static const int64_t killable[] = {SYS_mmap, SYS_mprotect, SYS_munmap, SYS_brk, SYS_mremap};

static void unpack(void)
{
    for (size_t i = 0; i < CALLS; i++)
        for (size_t e = 0; e < calls[i].error_count; e++)
            if (calls[i].errors[e] != NONE)
                error_set_add(&sets[i], calls[i].errors[e]);
    for (size_t i = 0; i < sizeof killable / sizeof *killable; i++)
        error_set_remove(&sets[find(killable[i])], EINTR);
}

const struct error_set *system_call_errors(const void *data, int64_t number)
{
    size_t index = find(number);
    if (index == CALLS)
        return NULL;
    call_once(&unpacked, unpack);
    return &sets[index];
}

// mmap(2) without a file has no errors of files. EINVAL would be a mistake of the caller, and
// EAGAIN and EPERM are about locked memory and seals. mprotect(2) that makes memory readable and
// writable is used for memory that was reserved before. EACCES is about files that were opened for
// less, and EINVAL is a mistake again. mremap(2) that may move memory: wrong addresses are
// mistakes, too, and EAGAIN is about locked memory.
static const struct system_call_case cases[] = {
    {SYS_mmap, 4, -1, ENOMEM},
    {SYS_mprotect, 2, PROT_READ | PROT_WRITE, ENOMEM},
    {SYS_mremap, 3, MREMAP_MAYMOVE, ENOMEM},
};

const struct system_call_case *system_call_case(int64_t number)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (cases[i].number == number)
            return &cases[i];
    return NULL;
}

const char *system_call_name(int64_t number)
{
    size_t index = find(number);
    return index != CALLS ? calls[index].name : NULL;
}

int64_t system_call_number(const char *name)
{
    for (size_t i = 0; i < CALLS; i++)
        if (strcmp(calls[i].name, name) == 0)
            return calls[i].number;
    return SYSTEM_CALL_NONE;
}

size_t system_call_count(void)
{
    return CALLS;
}

int64_t system_call_at(size_t index)
{
    return calls[index].number;
}
