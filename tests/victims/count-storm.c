// flags: -pthread -fno-builtin
// Threads that call abs(), whose calls are to be counted exactly. An injected call returns 77.
// Usage: count-storm MODE THREADS CALLS [FILE]
//   steps     all threads make CALLS calls; then main calls until it is hit, and prints how many
//             hits there were before, and how many calls main needed
//   kill, exit-group   the process ends by SIGKILL or the bare system call when all calls are made
//   endless   goes on until it is killed; FILE has, for each thread, calls begun and calls made
//   signals   like steps; a timer's handler makes calls, too, in whatever it interrupts
//   fork      every thread forks in the middle; each child makes CALLS calls more, and the process
//             prints the children's hits, too
//   raw-fork  forks by the bare system call; parent and child call at the same time, and the child
//             ends by the bare system call, too
//   clone     a thread that clone() made calls at the same time, with the same thread-local memory
//   churn     like steps, in THREADS threads at a time, of which each makes 1000 calls
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define HIT 77

static volatile int minus_one = -1; // so that every call is made

static const char *mode;
static long threads, calls;
static atomic_long hits, handled, child_hits;
static pthread_barrier_t barrier;

static struct progress {
    volatile long begun, made;
    char rest[48];
} * progress;

static void call(void)
{
    if (abs(minus_one) == HIT)
        hits++;
}

static void on_timer(int number)
{
    (void)number;
    for (int i = 0; i < 10; i++)
        call();
    handled += 10;
}

static void in_child(void)
{
    long own = 0;
    for (long i = 0; i < calls; i++)
        own += abs(minus_one) == HIT;
    _exit((int)own);
}

static void *run(void *argument)
{
    long number = (long)argument;
    pthread_barrier_wait(&barrier);
    if (strcmp(mode, "endless") == 0)
        for (;;) {
            progress[number].begun++;
            call();
            progress[number].made++;
        }
    for (long i = 0; i < calls; i++) {
        call();
        if (strcmp(mode, "fork") == 0 && i == calls / 2) {
            int status;
            pid_t child = fork();
            if (child == 0)
                in_child();
            if (waitpid(child, &status, 0) == child && WIFEXITED(status))
                child_hits += WEXITSTATUS(status);
        }
    }
    return NULL;
}

static void *run_short(void *argument)
{
    (void)argument;
    for (int i = 0; i < 1000; i++)
        call();
    return NULL;
}

static void churn(void)
{
    pthread_t ids[64];
    for (long made = 0; made < calls * threads; made += 1000 * threads) {
        for (long i = 0; i < threads; i++)
            if (pthread_create(&ids[i], NULL, run_short, NULL) != 0)
                abort();
        for (long i = 0; i < threads; i++)
            pthread_join(ids[i], NULL);
    }
}

static void all_threads(void)
{
    pthread_t ids[512];
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (long i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, run, (void *)i) != 0)
            abort();
    for (long i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
}

static void raw_fork(void)
{
    int status;
    for (int i = 0; i < 10; i++)
        call();
    long child = syscall(SYS_fork);
    for (long i = 0; i < calls; i++)
        call();
    if (child == 0)
        syscall(SYS_exit_group, 0);
    waitpid((pid_t)child, &status, 0);
}

static int run_cloned(void *argument)
{
    (void)argument;
    for (long i = 0; i < calls; i++)
        call();
    syscall(SYS_exit, 0);
    return 0;
}

static void by_clone(void)
{
    static char stack[65536] __attribute__((aligned(16)));
    int status;
    call();
    pid_t child = clone(run_cloned, stack + sizeof stack, CLONE_VM | CLONE_FILES | SIGCHLD, NULL);
    for (long i = 0; i < calls; i++)
        call();
    waitpid(child, &status, 0);
}

static void start_timer(long microseconds)
{
    struct itimerval interval = {{0, microseconds}, {0, microseconds}};
    signal(SIGALRM, on_timer);
    setitimer(ITIMER_REAL, &interval, NULL);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    mode = argv[1];
    threads = atol(argv[2]);
    calls = atol(argv[3]);
    if (argc > 4) {
        int file = open(argv[4], O_RDWR | O_CREAT | O_TRUNC, 0600);
        size_t size = (size_t)threads * sizeof *progress;
        if (file < 0 || ftruncate(file, (off_t)size) < 0)
            return 2;
        progress = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }
    if (strcmp(mode, "signals") == 0)
        start_timer(300);
    if (strcmp(mode, "raw-fork") == 0)
        raw_fork();
    else if (strcmp(mode, "clone") == 0)
        by_clone();
    else if (strcmp(mode, "churn") == 0)
        churn();
    else
        all_threads();
    if (strcmp(mode, "signals") == 0)
        start_timer(0);
    if (strcmp(mode, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (strcmp(mode, "exit-group") == 0)
        syscall(SYS_exit_group, 0);
    printf("hits %ld of %ld calls, %ld in handlers, %ld in children\n", hits,
           threads * calls + handled, handled, child_hits);
    long before = hits, more = 0;
    while (hits == before && more < 100000000) {
        call();
        more++;
    }
    printf("more %ld\n", more);
    return 0;
}
