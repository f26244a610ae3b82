// Reads 64 bytes of /dev/zero COUNT times (default 5) and says what it got.
#include "victim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 5, failures = 0;
    int file = open("/dev/zero", O_RDONLY);
    char data[64];
    for (int i = 1; i <= count; i++) {
        errno = 0;
        ssize_t size = read(file, data, sizeof data);
        int code = errno;
        say("read %d: %zd errno %d\n", i, size, code);
        failures += size < 0;
    }
    return failures;
}
