// Makes calls in the main flow and, much of the time amid one, in a signal handler.
#include "victim.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static volatile long in_handler, in_main, failed, errno_changed;

static void handle(int number)
{
    (void)number;
    in_handler++;
    if (getppid() == -5)
        failed++;
}

int main(int argc, char **argv)
{
    long calls = argc > 1 ? atol(argv[1]) : 200000;
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval every = {{0, 50}, {0, 50}};
    setitimer(ITIMER_REAL, &every, NULL);
    while (in_main < calls || in_handler < 50) {
        errno = 4321;
        in_main++;
        if (getppid() == -5)
            failed++;
        errno_changed += errno != 4321;
    }
    memset(&every, 0, sizeof every);
    setitimer(ITIMER_REAL, &every, NULL);
    say("calls %ld failed %ld errno-changed %ld\n", in_main + in_handler, failed, errno_changed);
    return 0;
}
