// SPDX-License-Identifier: GPL-3.0-or-later
// Calls a function where its interceptor must fail. `edge stack STEP`: children with 0, STEP,
// 2*STEP … bytes of stack left. `edge unmap SECONDS`: with a text that another thread takes away
// and gives back all the time. `edge kill N`: N children that do nothing else, killed at any
// moment. All make three calls before, in peace; children's fates are printed: died, survived, all.
// flags: -O1 -fno-omit-frame-pointer -pthread
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LARGEST 6144

__attribute__((noinline)) static int call_at(char *stack)
{
    int result;
    __asm__ volatile("mov %%rsp, %%rbx\n"
                     "mov %1, %%rsp\n"
                     "call getppid@PLT\n"
                     "mov %%rbx, %%rsp\n"
                     : "=a"(result)
                     : "r"(stack)
                     : "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
    return result;
}

static int exhaust_stacks(size_t step)
{
    char *pages = mmap(NULL, 4096 + 2 * LARGEST, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned died = 0, survived = 0;
    if (pages == MAP_FAILED || mprotect(pages + 4096, 2 * LARGEST, PROT_READ | PROT_WRITE) != 0)
        return 2;
    for (size_t left = 0; left < LARGEST; left += step) {
        int status;
        pid_t child = fork();
        if (child == 0)
            _exit(call_at(pages + 4096 + 16 + left) == -7 ? 0 : 1);
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 2;
        died += WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
        survived += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    printf("%u %u %u\n", died, survived, (unsigned)(LARGEST / step));
    return 0;
}

static char *text;

static void *take_away(void *unused)
{
    (void)unused;
    for (;;) {
        munmap(text, 4096);
        mmap(text, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        text[0] = '/';
    }
    return NULL;
}

static int read_what_goes(int seconds)
{
    pthread_t thread;
    time_t end = time(NULL) + seconds;
    text = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == MAP_FAILED || pthread_create(&thread, NULL, take_away, NULL) != 0)
        return 2;
    while (time(NULL) < end)
        for (int i = 0; i < 1000; i++)
            access(text, F_OK);
    return 0;
}

static int kill_children(unsigned children)
{
    unsigned died = 0;
    for (unsigned i = 0; i < children; i++) {
        int status;
        pid_t child = fork();
        if (child == 0)
            for (;;)
                getppid();
        usleep(300 + 17 * i % 400);
        if (child < 0 || kill(child, SIGKILL) != 0 || waitpid(child, &status, 0) != child)
            return 2;
        died += WIFSIGNALED(status);
    }
    printf("%u 0 %u\n", died, children);
    return 0;
}

int main(int argc, char **argv)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (argc < 3)
        return 2;
    for (int i = 0; i < 3; i++) {
        getppid();
        access("/nothing", F_OK);
    }
    int number = atoi(argv[2]);
    if (strcmp(argv[1], "stack") == 0)
        return exhaust_stacks((size_t)number);
    return strcmp(argv[1], "kill") == 0 ? kill_children((unsigned)number) : read_what_goes(number);
}
