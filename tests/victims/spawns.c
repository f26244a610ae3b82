// Starts ./reader in the ways named by its arguments and waits for it.
#include "victim.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;
static char *arguments[] = {"./reader", "3", NULL};
static char *no_environment[] = {NULL};

static pid_t by_fork(void)
{
    pid_t child = fork();
    if (child == 0) {
        execv("./reader", arguments);
        _exit(127);
    }
    return child;
}
static pid_t by_vfork(void)
{
    pid_t child = vfork();
    if (child == 0) {
        execv("./reader", arguments);
        _exit(127);
    }
    return child;
}
static pid_t by_vfork_failing(void)
{
    pid_t child = vfork();
    if (child == 0) {
        execv("./no-such-program", arguments);
        _exit(getppid() == -5 ? 55 : 56);
    }
    return child;
}
static pid_t by_posix_spawn(void)
{
    pid_t child = -1;
    posix_spawn(&child, "./reader", NULL, NULL, arguments, environ);
    return child;
}
static pid_t by_posix_spawnp_empty(void)
{
    pid_t child = -1;
    posix_spawnp(&child, "./reader", NULL, NULL, arguments, no_environment);
    return child;
}
static int cloned(void *unused)
{
    (void)unused;
    execv("./reader", arguments);
    return 127;
}
static pid_t by_clone(void)
{
    static char stack[65536] __attribute__((aligned(16)));
    return clone(cloned, stack + sizeof stack, SIGCHLD, NULL);
}
static pid_t by_clone_vfork(void)
{
    static char stack[65536] __attribute__((aligned(16)));
    return clone(cloned, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
}
static pid_t by_empty_environment(void)
{
    pid_t child = fork();
    if (child == 0) {
        execve("./reader", arguments, no_environment);
        _exit(127);
    }
    return child;
}
static pid_t by_clearenv(void)
{
    pid_t child = fork();
    if (child == 0) {
        clearenv();
        execv("./reader", arguments);
        _exit(127);
    }
    return child;
}
static pid_t by_null_environment(void)
{
    pid_t child = fork();
    if (child == 0) {
        environ = NULL;
        execvp("./reader", arguments);
        _exit(127);
    }
    return child;
}
static pid_t by_execle(void)
{
    pid_t child = fork();
    if (child == 0) {
        execle("./reader", "./reader", "3", (char *)NULL, no_environment);
        _exit(127);
    }
    return child;
}
static pid_t by_execl(void)
{
    pid_t child = fork();
    if (child == 0) {
        unsetenv("LD_PRELOAD");
        execl("./reader", "./reader", "3", (char *)NULL);
        _exit(127);
    }
    return child;
}
static pid_t by_fexecve(void)
{
    pid_t child = fork();
    if (child == 0) {
        FILE *program = fopen("./reader", "re");
        fexecve(fileno(program), arguments, no_environment);
        _exit(127);
    }
    return child;
}
static pid_t by_execveat(void)
{
    pid_t child = fork();
    if (child == 0) {
        int program = open("./reader", O_RDONLY | O_CLOEXEC);
        char *volatile nowhere[] = {NULL, (char *)1, (char *)-4096};
        for (int i = 0; i < 3; i++)
            if (execveat(program, nowhere[i], arguments, no_environment, 0) != -1 ||
                errno != EFAULT)
                _exit(126);
        execveat(program, "", arguments, no_environment, AT_EMPTY_PATH);
        _exit(127);
    }
    return child;
}
static pid_t by_system(void)
{
    fflush(NULL);
    say("system %d\n", system("./reader 3") >> 8);
    return 0;
}
static pid_t by_popen(void)
{
    FILE *pipe = popen("env -i ./reader 3", "r");
    char line[100];
    while (fgets(line, sizeof line, pipe) != NULL)
        say("%s", line);
    say("popen %d\n", pclose(pipe) >> 8);
    return 0;
}

static pid_t by_dying(void) // starts nothing
{
    return kill(getpid(), SIGKILL);
}

static const struct way {
    const char *name;
    pid_t (*start)(void);
} ways[] = {
    {"fork", by_fork},
    {"vfork", by_vfork},
    {"vfork-failing", by_vfork_failing},
    {"posix_spawn", by_posix_spawn},
    {"posix_spawnp-empty", by_posix_spawnp_empty},
    {"clone", by_clone},
    {"clone-vfork", by_clone_vfork},
    {"empty-environment", by_empty_environment},
    {"clearenv", by_clearenv},
    {"null-environment", by_null_environment},
    {"execle", by_execle},
    {"execl", by_execl},
    {"fexecve", by_fexecve},
    {"execveat", by_execveat},
    {"system", by_system},
    {"popen", by_popen},
    {"dying", by_dying},
};

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
            if (strcmp(argv[i], ways[w].name) != 0)
                continue;
            pid_t child = ways[w].start();
            int status = 0;
            if (child > 0 && waitpid(child, &status, 0) == child)
                say("%s: %d\n", argv[i],
                    WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
            else if (child < 0)
                say("%s: %s\n", argv[i], strerror(errno));
        }
    return 0;
}
