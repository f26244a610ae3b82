// SPDX-License-Identifier: GPL-3.0-or-later
// Dies in many ways: crashes WAY.
// flags: -O0 -fno-omit-frame-pointer -pthread -Wno-infinite-recursion -Wno-unused-result
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int zero;
static int *volatile nowhere = NULL;
static void (*volatile no_function)(void) = NULL;

static void inner(void)
{
    *nowhere = 1;
}
static void outer(void)
{
    inner();
}
static void *in_thread(void *argument)
{
    outer();
    return argument;
}
static int deep(int n)
{
    volatile char room[4096];
    room[n % 4096] = (char)n;
    return deep(n + 1) + room[0];
}
static void handler(int number)
{
    write(1, "handled\n", 8);
    _exit(number == SIGSEGV ? 3 : 4);
}
static void handler_that_dies(int number)
{
    write(1, "handled\n", 8);
    signal(number, SIG_DFL);
    raise(number);
}
static struct sigaction previous;
static void handler_that_restores(int number)
{
    (void)number;
    write(1, "handled\n", 8);
    sigaction(SIGSEGV, &previous, NULL);
}
static sigjmp_buf escape;
static void handler_that_ignores(int number)
{
    signal(number, SIG_IGN);
}

static void handler_that_escapes(int number)
{
    siglongjmp(escape, number);
}

static void query(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
    for (int i = 0; i < 7; i++) {
        struct sigaction old;
        memset(&old, 0x55, sizeof old);
        sigaction(numbers[i], NULL, &old);
        printf("%d", old.sa_handler == SIG_DFL && old.sa_flags == 0);
        printf("%d", signal(numbers[i], SIG_IGN) == SIG_DFL);
        fflush(stdout);
        raise(numbers[i]); // sent, so it is ignored
        printf("%d", signal(numbers[i], SIG_DFL) == SIG_IGN);
        printf("%d ", sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL);
    }
    printf("\n");
}

static void children(const char *self, const char *way)
{
    int status = 0;
    pid_t pid = strcmp(way, "vfork") == 0 ? vfork() : fork();
    if (pid == 0) {
        if (strcmp(way, "exec") == 0)
            execl(self, self, "null", NULL);
        if (strcmp(way, "vfork") == 0)
            raise(SIGABRT);
        outer();
    }
    waitpid(pid, &status, 0);
    printf("child died of %d\n", WTERMSIG(status));
    fflush(stdout);
    if (strcmp(way, "family") == 0)
        abort();
}

static void map_past_the_end(void)
{
    FILE *file = tmpfile();
    volatile char *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);
    putchar(map[100]);
}

static void by_handler(const char *way)
{
    struct sigaction action = {.sa_handler = handler};
    if (strcmp(way, "dies") == 0)
        action.sa_handler = handler_that_dies;
    if (strcmp(way, "restores") == 0)
        action.sa_handler = handler_that_restores;
    if (strcmp(way, "ignores") == 0)
        action.sa_handler = handler_that_ignores;
    if (strcmp(way, "escapes") == 0)
        action.sa_handler = handler_that_escapes;
    sigaction(SIGSEGV, &action, &previous);
    if (sigsetjmp(escape, 1) != 0) {
        printf("escaped\n");
        exit(0);
    }
    outer();
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    pthread_t threads[4];
    if (strcmp(way, "null") == 0)
        outer();
    else if (strcmp(way, "divide") == 0)
        return 100 / zero;
    else if (strcmp(way, "illegal") == 0)
        __builtin_trap();
    else if (strcmp(way, "trap") == 0)
        __asm__ volatile("int3");
    else if (strcmp(way, "abort") == 0)
        abort();
    else if (strcmp(way, "bus") == 0)
        map_past_the_end();
    else if (strcmp(way, "overflow") == 0)
        return deep(0);
    else if (strcmp(way, "call") == 0)
        no_function();
    else if (strncmp(way, "raise-", 6) == 0)
        raise(atoi(way + 6));
    else if (strcmp(way, "thread") == 0 || strcmp(way, "threads") == 0) {
        for (int i = 0; i < (way[6] == 's' ? 4 : 1); i++)
            pthread_create(&threads[i], NULL, in_thread, NULL);
        pause();
    } else if (strcmp(way, "query") == 0)
        query();
    else if (strncmp(way, "handler-", 8) == 0)
        by_handler(way + 8);
    else if (strcmp(way, "smashed") == 0)
        __asm__ volatile("mov $0x1230, %rbp; mov $0x10008, %rsp; ret");
    else
        children(argv[0], way);
    return 0;
}
