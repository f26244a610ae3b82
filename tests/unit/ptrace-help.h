// SPDX-License-Identifier: GPL-3.0-or-later
// Whether ptrace() may be used here: containers and filters of system calls may refuse it.
#ifndef ORDEAL_TESTS_PTRACE_HELP_H
#define ORDEAL_TESTS_PTRACE_HELP_H

#include "skip.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

// Tries it with a child. Returns why not, or NULL.
static inline const char *no_ptrace(void)
{
    pid_t child = fork();
    if (child == 0)
        for (;;)
            pause();
    long result = ptrace(PTRACE_SEIZE, child, 0, 0);
    int code = errno;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return result == 0 ? NULL : strerror(code);
}

static inline void needs_ptrace(void)
{
    const char *why = no_ptrace();
    if (why != NULL)
        skip_because("no ptrace(): %s", why);
}

#endif
