// Reads in several processes and over some time, for `time`, `process` and timeouts.
#include "victim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int pause_ms = argc > 1 ? atoi(argv[1]) : 100, file = open("/dev/zero", O_RDONLY);
    char data[4];
    for (int i = 1; i <= 6; i++) {
        errno = 0;
        ssize_t size = read(file, data, 4);
        say("read %d: %zd errno %d\n", i, size, errno);
        usleep((useconds_t)pause_ms * 1000);
    }
    return 0;
}
