// SPDX-License-Identifier: GPL-3.0-or-later
// Starts three programs at once: `spawner fork|vfork|spawn`.
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

int main(int argc, char **argv)
{
    static char digits[3][2] = {"0", "1", "2"};
    const char *how = argc > 1 ? argv[1] : "fork";
    for (int i = 0; i < 3; i++) {
        char *words[] = {"echo", digits[i], NULL};
        pid_t child;
        if (strcmp(how, "spawn") == 0) {
            if (posix_spawn(&child, "/bin/echo", NULL, NULL, words, environ) != 0)
                return 1;
            continue;
        }
        child = strcmp(how, "vfork") == 0 ? vfork() : fork();
        if (child == 0) {
            execve("/bin/echo", words, environ);
            _exit(1);
        }
    }
    while (wait(NULL) > 0)
        ;
    return 0;
}
