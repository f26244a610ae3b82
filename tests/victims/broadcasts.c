// SPDX-License-Identifier: GPL-3.0-or-later
// Usage: broadcasts HOW SIGNAL [raw]
// Signals every process (HOW: all), its process group (group, groupname), or the processes that a
// failed fork() leads to (fork). Never run it outside a PID namespace of its own.
// Two children wait for the signal; the parent says how they ended. One of them has its own group.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child(int apart)
{
    int ready[2];
    char byte;
    if (pipe(ready) < 0)
        exit(9);
    pid_t pid = fork();
    if (pid == 0) {
        if (apart)
            setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        signal(SIGUSR1, SIG_DFL);
        write(ready[1], "", 1);
        for (;;)
            pause();
    }
    read(ready[0], &byte, 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static int end_of(pid_t pid)
{
    int status = 0;
    for (int i = 0; i < 100; i++) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return WTERMSIG(status);
        usleep(10000);
    }
    return 0;
}

int main(int argc, char **argv)
{
    int number = atoi(argv[2]), raw = argc > 3;
    pid_t near = child(0), far = child(1);
    signal(SIGUSR1, SIG_IGN);
    pid_t pid = strcmp(argv[1], "all") == 0     ? -1
                : strcmp(argv[1], "group") == 0 ? 0
                : strcmp(argv[1], "fork") == 0  ? fork()
                                                : -getpgrp();
    if (pid == 0 && strcmp(argv[1], "fork") == 0)
        return 0;
    int result = strcmp(argv[1], "groupname") == 0 ? killpg(getpgrp(), number)
                 : raw                             ? (int)syscall(SYS_kill, pid, number)
                                                   : kill(pid, number);
    printf("result %d", result);
    if (result < 0)
        printf(" %s", strerrorname_np(errno));
    fflush(stdout);
    printf(", children %d %d\n", end_of(near), end_of(far));
    fflush(stdout);
    kill(far, SIGKILL);
    kill(near, SIGKILL);
    return 0;
}
