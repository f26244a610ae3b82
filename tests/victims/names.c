// Three named threads, one after the other, and a forked child, each make a call.
// flags: -pthread
#include "victim.h"

#include <pthread.h>
#include <sys/wait.h>

static void *run(void *name)
{
    pthread_setname_np(pthread_self(), name);
    say("%s %s\n", (char *)name, getppid() == -5 ? "failed" : "worked");
    return NULL;
}

int main(void)
{
    say("main %s\n", getppid() == -5 ? "failed" : "worked");
    static const char *names[] = {"worker-a", "worker-b", "logger"};
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, run, (void *)names[i]);
        pthread_join(thread, NULL);
    }
    if (fork() == 0) {
        say("child %s\n", getppid() == -5 ? "failed" : "worked");
        _exit(0);
    }
    wait(NULL);
    return 0;
}
