// Makes one call and then dies at once in the way it is told.
#include "victim.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int parent = getppid();
    if (strcmp(argv[1], "kill") == 0)
        syscall(SYS_kill, getpid(), SIGKILL);
    if (strcmp(argv[1], "crash") == 0)
        *(volatile int *)(long)(parent == -5 ? 8 : 16) = 1;
    if (strcmp(argv[1], "abort") == 0)
        abort();
    if (strcmp(argv[1], "exit") == 0)
        syscall(SYS_exit_group, 7);
    return 0;
}
