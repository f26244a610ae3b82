// What a caller sees of each action: values, errno, signals, time, short transfers, outputs.
#include "victim.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

static volatile sig_atomic_t signals;

static void handle(int number)
{
    signals = number;
}
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(void)
{
    signal(SIGUSR1, handle);
    char data[100];
    int file = open("/dev/zero", O_RDONLY);
    errno = 0;
    ssize_t got = read(file, data, 100);
    say("read %zd errno %d\n", got, errno);
    int output = open("./written", O_CREAT | O_WRONLY | O_TRUNC, 0644);
    for (int i = 0; i < 100; i++)
        data[i] = (char)('0' + i % 10);
    errno = 0;
    ssize_t put = write(output, data, 100);
    say("write %zd errno %d\n", put, errno);
    errno = 0;
    long parent = getppid();
    say("getppid %s errno %d\n", parent == -5 ? "-5" : parent > 0 ? "ok" : "odd", errno);
    double before = now();
    getpgrp();
    say("getpgrp %s\n", now() - before > 0.2 ? "slow" : "fast");
    getsid(0);
    say("signal %d\n", (int)signals);
    int pipes[2] = {-1, -1};
    int piped = pipe(pipes);
    say("pipe %d %d %d\n", piped, pipes[0] == 77 ? 77 : 0, pipes[1] == 78 ? 78 : 0);
    char *end = NULL;
    double number = strtod("2.5", &end);
    say("strtod %g end %d\n", number, end != NULL && *end == '\0');
    return 0;
}
