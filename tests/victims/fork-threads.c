// Threads that fork while other threads make intercepted calls: no child may hang or misbehave.
// flags: -pthread
#include "victim.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>

static atomic_int good, bad;
static atomic_bool stop;

static void *caller(void *unused)
{
    while (!stop)
        getppid();
    return unused;
}
static void *forker(void *unused)
{
    for (int i = 0; i < 40; i++) {
        pid_t child = fork();
        if (child == 0) {
            int failed = 0;
            for (int k = 0; k < 10; k++)
                failed += getsid(0) == -5;
            _exit(failed == 1 ? 0 : 1); // the rule hits one call of each child
        }
        int status;
        if (child > 0 && waitpid(child, &status, 0) == child && status == 0)
            good++;
        else
            bad++;
    }
    return unused;
}

int main(void)
{
    pthread_t callers[4], forkers[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&callers[i], NULL, caller, NULL);
    for (int i = 0; i < 4; i++)
        pthread_create(&forkers[i], NULL, forker, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(forkers[i], NULL);
    stop = true;
    for (int i = 0; i < 4; i++)
        pthread_join(callers[i], NULL);
    say("good %d bad %d\n", good, bad);
    return 0;
}
