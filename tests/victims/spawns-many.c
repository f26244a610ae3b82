// SPDX-License-Identifier: GPL-3.0-or-later
// Makes two processes that spawn a program many times, and a third one that spawns a reader: its
// ancestry is 1.3.1. Usage: spawns-many PROGRAM TIMES wait|waitid
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void spawn(const char *how, char **arguments)
{
    pid_t child;
    siginfo_t facts;
    int status;
    if (posix_spawn(&child, arguments[0], NULL, NULL, arguments, environ) != 0)
        exit(1);
    if (strcmp(how, "waitid") == 0)
        waitid(P_PID, (id_t)child, &facts, WEXITED);
    else
        waitpid(child, &status, 0);
}

int main(int argc, char **argv)
{
    char byte = 0;
    if (argc == 2) {
        printf("%zd\n", read(open("/dev/zero", O_RDONLY), &byte, 1));
        return 0;
    }
    if (argc == 5) {
        char *program[] = {argv[1], NULL}, *reader[] = {argv[0], "read", NULL};
        for (int i = 0; i < atoi(argv[2]); i++)
            spawn(argv[3], program);
        if (strcmp(argv[4], "last") == 0)
            spawn(argv[3], reader);
        return 0;
    }
    char *first[] = {argv[0], argv[1], argv[2], argv[3], "first", NULL};
    char *last[] = {argv[0], argv[1], "0", argv[3], "last", NULL};
    spawn(argv[3], first);
    spawn(argv[3], first);
    spawn(argv[3], last);
    return 0;
}
