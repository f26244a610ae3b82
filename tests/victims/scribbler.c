// Reads once, then writes over the region of the trial, as a wild pointer might. "strings": only
// where the plan says its strings are, and reads again. "all": everything that is never to change.
#include "victim.h"

#include "wire/region.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static void scribble(int file, uint64_t from, uint64_t to)
{
    static char noise[65536];
    memset(noise, 0xfe, sizeof noise);
    if (to - from > sizeof noise || pwrite(file, noise, to - from, (off_t)from) < 0)
        _exit(99);
}

int main(int argc, char **argv)
{
    int zero = open("/dev/zero", O_RDONLY), file = open(getenv(WIRE_ENVIRONMENT), O_RDWR);
    struct wire_region header;
    char byte;
    ssize_t got = read(zero, &byte, 1);
    say("read %zd\n", got);
    if (pread(file, &header, sizeof header, 0) != sizeof header)
        return 99;
    if (argc > 1 && strcmp(argv[1], "strings") == 0) {
        uint64_t at = header.plan + offsetof(struct wire_plan, strings);
        uint32_t far_away = 0x70000000;
        if (pwrite(file, &far_away, sizeof far_away, (off_t)at) < 0)
            return 99;
        got = read(zero, &byte, 1);
        say("read %zd\n", got);
    } else {
        scribble(file, 0, offsetof(struct wire_region, requests));
        scribble(file, offsetof(struct wire_region, command), header.rules);
    }
    // Without the runtime's help, which may be confused by now.
    syscall(SYS_exit_group, 7);
}
