// Makes THREADS x CALLS calls of getppid at once; says how many failed.
// flags: -pthread
#include "victim.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_long failed, made;
static long calls;
static pthread_barrier_t start;

static void *run(void *unused)
{
    pthread_barrier_wait(&start);
    for (long i = 0; i < calls; i++) {
        if (getppid() == -5)
            failed++;
        made++;
    }
    return unused;
}

int main(int argc, char **argv)
{
    long threads = argc > 1 ? atol(argv[1]) : 200;
    calls = argc > 2 ? atol(argv[2]) : 1000;
    pthread_barrier_init(&start, NULL, (unsigned)threads);
    pthread_t *handles = calloc((size_t)threads, sizeof *handles);
    for (long i = 0; i < threads; i++)
        if (pthread_create(&handles[i], NULL, run, NULL) != 0)
            return 3;
    for (long i = 0; i < threads; i++)
        pthread_join(handles[i], NULL);
    say("made %ld failed %ld\n", made, failed);
    return 0;
}
