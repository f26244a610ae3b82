// SPDX-License-Identifier: GPL-3.0-or-later
// Looks system calls up. By number that happens at every stop, so there is an index for it.
#include "observe/linux-calls.h"

#include <linux/net.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>

#define HIGHEST 1024 // no number of a call is as large

static const struct linux_call calls[] = {
#define NONE CALL_NONE
#define CALL(name, number, number_i386, visible, reason, arguments)                                \
    {#name, number, number_i386, CALL_##visible, REASON_##reason, arguments},
#include "observe/linux-calls.tab"
#undef CALL
#undef NONE
};
#define CALLS (sizeof calls / sizeof *calls)

size_t linux_call_count(void)
{
    return CALLS;
}

const struct linux_call *linux_call_at(size_t index)
{
    return &calls[index];
}

size_t linux_call_index(const struct linux_call *call)
{
    return (size_t)(call - calls);
}

const struct linux_call *linux_call_find(const char *name)
{
    for (size_t i = 0; i < CALLS; i++)
        if (strcmp(calls[i].name, name) == 0)
            return &calls[i];
    return NULL;
}

const struct linux_call *linux_call_by_number(int number, bool i386)
{
    static uint16_t index[2][HIGHEST]; // + 1
    static bool made;
    for (size_t i = 0; !made && i < CALLS; i++) {
        if (calls[i].number >= 0 && calls[i].number < HIGHEST)
            index[0][calls[i].number] = (uint16_t)(i + 1);
        if (calls[i].number_i386 >= 0 && calls[i].number_i386 < HIGHEST)
            index[1][calls[i].number_i386] = (uint16_t)(i + 1);
    }
    made = true;
    if (number < 0 || number >= HIGHEST || index[i386][number] == 0)
        return NULL;
    return &calls[index[i386][number] - 1];
}

const struct linux_call *linux_call_of_socketcall(unsigned number)
{
    static const char *const names[] = {
        [SYS_SOCKET] = "socket",
        [SYS_BIND] = "bind",
        [SYS_CONNECT] = "connect",
        [SYS_LISTEN] = "listen",
        [SYS_ACCEPT] = "accept",
        [SYS_GETSOCKNAME] = "getsockname",
        [SYS_GETPEERNAME] = "getpeername",
        [SYS_SOCKETPAIR] = "socketpair",
        [SYS_SEND] = "sendto",
        [SYS_RECV] = "recvfrom",
        [SYS_SENDTO] = "sendto",
        [SYS_RECVFROM] = "recvfrom",
        [SYS_SHUTDOWN] = "shutdown",
        [SYS_SETSOCKOPT] = "setsockopt",
        [SYS_GETSOCKOPT] = "getsockopt",
        [SYS_SENDMSG] = "sendmsg",
        [SYS_RECVMSG] = "recvmsg",
        [SYS_ACCEPT4] = "accept4",
        [SYS_RECVMMSG] = "recvmmsg",
        [SYS_SENDMMSG] = "sendmmsg",
    };
    if (number >= sizeof names / sizeof *names || names[number] == NULL)
        return NULL;
    return linux_call_find(names[number]);
}

bool ioctl_only_asks(unsigned request)
{
    static const unsigned asks[] = {TCGETS,   TCGETA,   TIOCGWINSZ, TIOCGPGRP, TIOCGSID, FIONREAD,
                                    TIOCOUTQ, FIOCLEX,  FIONCLEX,   FIONBIO,   FIOASYNC, FIOQSIZE,
                                    TIOCGETD, TIOCMGET, TIOCGPTN,   TIOCGDEV,  TIOCGEXCL};
    for (size_t i = 0; i < sizeof asks / sizeof *asks; i++)
        if (asks[i] == request)
            return true;
    return false;
}
