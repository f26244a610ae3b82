// Reads from a pipe with and without holding mutexes, in sizes from 512 bytes to 8 KB.
// flags: -pthread
#include "victim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int pipes[2], zero;

static void try_read(const char *how, int file, size_t size)
{
    static char data[16384];
    if (file == pipes[0] && write(pipes[1], data, size) != (ssize_t)size)
        return;
    errno = 0;
    ssize_t got = read(file, data, size);
    int code = errno;
    say("%s %s %zu: %zd errno %d\n", how, file == pipes[0] ? "pipe" : "file", size, got, code);
    if (got < 0 && file == pipes[0]) {
        fcntl(file, F_SETFL, O_NONBLOCK); // empty it
        while (syscall(SYS_read, file, data, sizeof data) > 0)
            continue;
        fcntl(file, F_SETFL, 0);
    }
}
static void all(const char *how)
{
    for (size_t size = 512; size <= 8192; size *= 2)
        try_read(how, pipes[0], size);
    try_read(how, zero, 2048);
}
static void *other(void *unused)
{
    all("other-thread");
    return unused;
}

int main(void)
{
    zero = open("/dev/zero", O_RDONLY);
    if (pipe(pipes) != 0)
        return 1;
    all("free");
    pthread_mutex_lock(&a);
    all("locked");
    pthread_mutex_lock(&b);
    all("twice");
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    pthread_mutex_unlock(&a);
    all("still");
    pthread_mutex_unlock(&b);
    all("free-again");
    if (pthread_mutex_trylock(&a) == 0)
        all("tried");
    int tried = pthread_mutex_trylock(&a); // busy: must not count
    pthread_mutex_unlock(&a);
    all(tried != 0 ? "unlocked" : "surprise");
    return 0;
}
