// SPDX-License-Identifier: GPL-3.0-or-later
// Starts a command again and again and prints how long each run took, in nanoseconds, one line
// each. Its output goes to /dev/null. Usage: spawn [-f] RUNS COMMAND [ARGUMENT]...
// -f: by fork and exec; otherwise as quickly as the C library can.
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static pid_t start_by_fork(char **command)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    if (dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO) >= 0 &&
        dup2(STDOUT_FILENO, STDERR_FILENO) >= 0)
        execvp(command[0], command);
    _exit(127);
}

int main(int argc, char **argv)
{
    bool by_fork = argc > 1 && strcmp(argv[1], "-f") == 0;
    argv += by_fork;
    if (argc - by_fork < 3)
        return 2;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    for (int left = atoi(argv[1]); left > 0; left--) {
        pid_t pid;
        int status;
        double start = now_ns();
        if (by_fork)
            pid = start_by_fork(argv + 2);
        else if (posix_spawnp(&pid, argv[2], &actions, NULL, argv + 2, environ) != 0)
            return 1;
        if (waitpid(pid, &status, 0) != pid || status != 0)
            return 1;
        printf("%.0f\n", now_ns() - start);
    }
    return 0;
}
