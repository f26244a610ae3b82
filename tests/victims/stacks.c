// Makes intercepted calls on the smallest stacks there are: a signal stack and a thread's.
// flags: -pthread
#include "victim.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

static void call(const char *where)
{
    errno = 0;
    pid_t parent = getppid();
    int code = errno;
    char text[64]; // snprintf needs more stack than there is
    int n = 0;
    for (const char *c = where; *c; c++)
        text[n++] = *c;
    text[n++] = parent == -5 && code == EIO ? '!' : '.';
    text[n++] = '\n';
    syscall(SYS_write, 1, text, n);
}
static void handle(int number)
{
    (void)number;
    call("handler");
}
static void *run(void *unused)
{
    call("thread");
    return unused;
}

int main(void)
{
    // The kernel's frame and 4 KB for the program, above a page that must not be touched.
    size_t size = ((size_t)sysconf(_SC_MINSIGSTKSZ) + 4096 + 4095) & ~4095ul;
    char *memory =
        mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory, 4096, PROT_NONE);
    stack_t stack = {.ss_sp = memory + 4096, .ss_size = size};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 3; i++)
        raise(SIGUSR1);
    for (int i = 0; i < 3; i++) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
        pthread_t thread;
        if (pthread_create(&thread, &attributes, run, NULL) != 0)
            return 1;
        pthread_join(thread, NULL);
    }
    return 0;
}
