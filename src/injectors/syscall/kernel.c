// SPDX-License-Identifier: GPL-3.0-or-later
// How system calls fail: the realism table knows functions of the C library, and most calls have
// the name of theirs. What a call cannot fail with, by the kernel's profile, is left out.
#include "injectors/syscall/internal.h"

#include "observe/linux-calls.h"
#include "profile/system-calls.h"

#include <stdio.h>
#include <string.h>

// Calls that other functions stand for.
static const struct {
    const char *call, *function;
} functions[] = {
    {"_newselect", "select"},
    {"chown32", "chown"},
    {"clone", "fork"},
    {"clone3", "fork"},
    {"epoll_pwait2", "epoll_pwait"},
    {"eventfd2", "eventfd"},
    {"faccessat2", "faccessat"},
    {"fchown32", "fchown"},
    {"fcntl64", "fcntl"},
    {"fstat64", "fstat"},
    {"fstatat64", "fstatat"},
    {"ftruncate64", "ftruncate"},
    {"getdents", "readdir"},
    {"getdents64", "readdir"},
    {"lchown32", "lchown"},
    {"lstat64", "lstat"},
    {"mmap2", "mmap"},
    {"newfstatat", "fstatat"},
    {"newselect", "select"},
    {"openat2", "openat"},
    {"ppoll_time64", "ppoll"},
    {"pread64", "pread"},
    {"preadv2", "preadv"},
    {"pselect6", "pselect"},
    {"pwrite64", "pwrite"},
    {"pwritev2", "pwritev"},
    {"recvmmsg", "recvmsg"},
    {"sendfile64", "sendfile"},
    {"sendmmsg", "sendmsg"},
    {"stat64", "stat"},
    {"truncate64", "truncate"},
    {"utimensat_time64", "utimensat"},
};

const struct realism *kernel_call_realism(const char *call)
{
    const char *function = call;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].call, call) == 0)
            function = functions[i].function;
    return linux_call_find(call) != NULL ? realism_find(function) : NULL;
}

static int error_number(const struct realism_error *error)
{
    for (int number = 1; number < 256; number++) {
        const char *name = strerrorname_np(number);
        if (name != NULL && strlen(name) == error->size &&
            memcmp(name, error->name, error->size) == 0)
            return number;
    }
    return 0;
}

bool kernel_call_can(const char *call, const struct realism_error *error)
{
    const struct linux_call *row = linux_call_find(call);
    if (error->is_short)
        return true;
    int number = error_number(error);
    if (row == NULL || number == 0)
        return false;
    const struct error_set *errors =
        row->number != CALL_NONE ? system_call_errors(NULL, row->number) : NULL;
    return errors == NULL || error_set_has(errors, (unsigned)number);
}

unsigned kernel_call_descriptor(const char *call)
{
    const struct linux_call *row = linux_call_find(call);
    return row != NULL && row->arguments[0] == CALL_ARG_DESCRIPTOR ? 1 : 0;
}

bool kernel_call_action(const struct realism_error *error, char action[REALISM_ACTION])
{
    if (error->is_short)
        snprintf(action, REALISM_ACTION, "short 1");
    else
        snprintf(action, REALISM_ACTION, "-1/%.*s", (int)error->size, error->name);
    return error->is_short || error->size != 0;
}
