// SPDX-License-Identifier: GPL-3.0-or-later
// The program under measurement: calls one library function in a loop and prints, for every batch
// of calls, the nanoseconds per call, one line each: of the thread's processor time, which other
// work on the machine disturbs least, or with `wall` of real time.
// Usage: loops KERNEL CALLS BATCHES [THREADS [wall]]
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 16
#define BATCHES_MAX 1024

#ifndef RULED_SITES
#define RULED_SITES 1
#endif
#define FREE_SITES 1000

static int zero_fd;
static __thread volatile int sink; // threads that share it would measure that

static void kernel_read(long calls)
{
    char byte;
    for (long i = 0; i < calls; i++)
        if (read(zero_fd, &byte, 1) != 1)
            abort();
}

// One malloc and one free are one call here.
static void kernel_malloc(long calls)
{
    for (long i = 0; i < calls; i++) {
        void *volatile block = malloc(24);
        free(block);
    }
}

// The cheapest function there is (-fno-builtin makes it a real call): what interception adds shows.
static void kernel_abs(long calls)
{
    for (long i = 0; i < calls; i++)
        sink = abs((int)i);
}

// Never called, but a place that rules can name.
__attribute__((noinline)) int elsewhere(int i)
{
    return abs(i) + 1;
}

__attribute__((noinline)) int deep_d(int i)
{
    return abs(i) + 1;
}
__attribute__((noinline)) int deep_c(int i)
{
    return deep_d(i) + 1;
}
__attribute__((noinline)) int deep_b(int i)
{
    return deep_c(i) + 1;
}
__attribute__((noinline)) int deep_a(int i)
{
    return deep_b(i) + 1;
}

// The call comes with four frames between the loop and the library.
static void kernel_deep(long calls)
{
    for (long i = 0; i < calls; i++)
        sink = deep_a((int)i);
}

// Rows of calls of abs, each a call site of its own: five bytes and one between them, since an
// offset names the call that begins there and the one that returns there. Rules name those of the
// second row, which starts at `ruled_start`.
void free_sites(void);
void ruled_sites(void);
#define TEXT(x)  #x
#define VALUE(x) TEXT(x)
#define ROW(name, count)                                                                           \
    __asm__(".text\n"                                                                              \
            ".globl " #name "_sites, " #name "_start\n"                                            \
            ".type " #name "_sites, @function\n" #name "_sites: sub $8, %rsp\n" #name "_start:\n"  \
            ".rept " VALUE(count) "\ncall abs@PLT\nnop\n.endr\n"                                   \
                                  "add $8, %rsp\n"                                                 \
                                  "ret\n"                                                          \
                                  ".size " #name "_sites, . - " #name "_sites\n")
ROW(free, FREE_SITES);
ROW(ruled, RULED_SITES);

static void kernel_free_sites(long calls)
{
    for (long i = 0; i < calls; i += FREE_SITES)
        free_sites();
}

static void kernel_ruled_sites(long calls)
{
    for (long i = 0; i < calls; i += RULED_SITES)
        ruled_sites();
}

#ifdef MANY
int many_first(int i);
void many_all(void); // imports the others; never called

static void kernel_many(long calls)
{
    for (long i = 0; i < calls; i++)
        sink = many_first((int)i);
    if (sink == -1)
        many_all();
}
#endif

static const struct kernel {
    const char *name;
    void (*run)(long calls);
} kernels[] = {
    {"read", kernel_read}, {"malloc", kernel_malloc},         {"abs", kernel_abs},
    {"deep", kernel_deep}, {"free-sites", kernel_free_sites}, {"ruled-sites", kernel_ruled_sites},
#ifdef MANY
    {"many", kernel_many},
#endif
};

static const struct kernel *kernel;
static long calls;
static int batches, threads = 1;
static clockid_t clock_id = CLOCK_THREAD_CPUTIME_ID;
static pthread_barrier_t barrier;
static double per_call[THREADS_MAX][BATCHES_MAX];

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(clock_id, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void *run_batches(void *data)
{
    double *ret_ns = data;
    kernel->run(calls);
    for (int batch = 0; batch < batches; batch++) {
        if (threads > 1)
            pthread_barrier_wait(&barrier);
        double start = now_ns();
        kernel->run(calls);
        ret_ns[batch] = (now_ns() - start) / (double)calls;
    }
    return NULL;
}

static void run_threads(void)
{
    pthread_t ids[THREADS_MAX];
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    for (int i = 0; i < threads; i++)
        if (pthread_create(&ids[i], NULL, run_batches, per_call[i]) != 0)
            abort();
    for (int i = 0; i < threads; i++)
        pthread_join(ids[i], NULL);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        if (strcmp(argv[1], kernels[i].name) == 0)
            kernel = &kernels[i];
    calls = atol(argv[2]);
    batches = atoi(argv[3]);
    if (argc > 4)
        threads = atoi(argv[4]);
    if (argc > 5)
        clock_id = CLOCK_MONOTONIC;
    zero_fd = open("/dev/zero", O_RDONLY);
    if (kernel == NULL || calls < 1 || batches < 1 || batches > BATCHES_MAX || threads < 1 ||
        threads > THREADS_MAX || zero_fd < 0)
        return 2;
    if (threads > 1)
        run_threads();
    else
        run_batches(per_call[0]);
    for (int batch = 0; batch < batches; batch++) {
        double sum = 0;
        for (int i = 0; i < threads; i++)
            sum += per_call[i][batch];
        printf("%.4f\n", sum / threads);
    }
    return 0;
}
