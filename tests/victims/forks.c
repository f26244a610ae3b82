// Forks COUNT children that each make one call, some at once.
#include "victim.h"

#include <stdlib.h>
#include <sys/wait.h>

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 1000, failed = 0, status;
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(getppid() == -5 ? 5 : 6);
        if (child < 0)
            return 2;
        if (i >= 20) {
            wait(&status);
            failed += WIFEXITED(status) && WEXITSTATUS(status) == 5;
        }
    }
    while (wait(&status) > 0)
        failed += WIFEXITED(status) && WEXITSTATUS(status) == 5;
    say("failed %d of %d\n", failed, count);
    return 0;
}
