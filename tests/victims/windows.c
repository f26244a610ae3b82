// Calls read after getppid, in two threads, for after().
// flags: -pthread
#include "victim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>

static int file;

static void reads(const char *where, int count)
{
    char data[4];
    for (int i = 1; i <= count; i++) {
        errno = 0;
        ssize_t size = read(file, data, 4);
        say("%s %d: %zd errno %d\n", where, i, size, errno);
    }
}
static void *other(void *unused)
{
    reads("thread", 2);
    getppid();
    reads("thread-after", 3);
    return unused;
}

int main(void)
{
    file = open("/dev/zero", O_RDONLY);
    reads("before", 2);
    getppid();
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    reads("after", 4);
    getppid();
    reads("again", 3);
    return 0;
}
