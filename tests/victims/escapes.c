// SPDX-License-Identifier: GPL-3.0-or-later
// flags: -ldl
// Usage: escapes WAY PROGRAM [ARGUMENT]. Starts a program in a way that may leave the runtime
// behind.
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void check(int result, const char *what)
{
    if (result >= 0)
        return;
    perror(what);
    exit(9);
}

int main(int argc, char **argv)
{
    const char *way = argv[1];
    char *arguments[] = {argv[2], argc > 3 ? argv[3] : NULL, NULL}, *nothing[] = {NULL};
    pid_t child = 0;
    if (strcmp(way, "dlmopen") == 0)
        return dlmopen(LM_ID_NEWLM, argv[2], RTLD_NOW) == NULL ? 9 : 0;
    if (strcmp(way, "spawn") == 0 || strcmp(way, "spawnp") == 0) {
        int error = way[5] == 'p' ? posix_spawnp(&child, argv[2], NULL, NULL, arguments, environ)
                                  : posix_spawn(&child, argv[2], NULL, NULL, arguments, environ);
        return error != 0 || waitpid(child, NULL, 0) != child ? 9 : 0;
    }
    child = fork();
    if (child == 0) {
        if (strcmp(way, "chroot") == 0)
            check(chroot("cage"), "chroot");
        if (strcmp(way, "hidden") == 0) {
            check(unshare(CLONE_NEWNS), "unshare");
            check(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "private");
            check(mount("none", "/dev/shm", "tmpfs", 0, NULL), "tmpfs");
        }
        if (strcmp(way, "effective") == 0)
            check(seteuid(65534), "seteuid");
        if (strcmp(way, "failing") == 0)
            execve("./nothing-here", arguments, environ);
        if (strcmp(way, "syscall") == 0)
            syscall(SYS_execve, argv[2], arguments, nothing);
        execvp(argv[2], arguments);
        _exit(9);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 8;
}
