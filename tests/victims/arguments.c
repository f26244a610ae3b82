// Calls with many kinds of arguments, for conditions on them.
#include "victim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static void attempt(const char *path, int flags)
{
    errno = 0;
    int file = open(path, flags, 0600);
    say("open %s %#o: %s errno %d\n", path, flags, file >= 0 ? "ok" : "failed", errno);
    if (file >= 0)
        close(file);
}
static void try_read(const char *what, int file, size_t size)
{
    static char data[8192];
    errno = 0;
    ssize_t got = read(file, data, size);
    say("read %s %zu: %zd errno %d\n", what, size, got, errno);
}

int main(int argc, char **argv)
{
    attempt("/dev/null", O_RDONLY);
    attempt("/etc/passwd", O_RDONLY);
    attempt("./new", O_WRONLY | O_CREAT);
    attempt("/etc/../etc/hostname", O_RDONLY);
    attempt("/dev/full", O_RDWR);

    int pipes[2], sockets[2], datagrams[2], file = open("/etc/passwd", O_RDONLY),
                                            directory = open("/", O_RDONLY);
    if (pipe(pipes) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0)
        return 1;
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams) != 0 || write(datagrams[1], "0", 1) != 1)
        return 1;
    if (write(pipes[1], "0123456789", 10) != 10 || write(sockets[1], "0123456789", 10) != 10)
        return 1;
    try_read("pipe", pipes[0], 4);
    fcntl(pipes[0], F_SETFL, O_NONBLOCK);
    try_read("nonblocking-pipe", pipes[0], 4);
    try_read("socket", sockets[0], 4);
    try_read("file", file, 4);
    try_read("directory", directory, 4);
    try_read("closed", -1, 4);
    int zero = open("/dev/zero", O_RDONLY);
    for (size_t size = 1000; size <= 5000; size += 1000)
        try_read("zero", zero, size);
    try_read("datagram", datagrams[0], 4);
    say("abs %d %d\n", abs(-3), abs(5));
    say("strtol %ld\n", strtol("123", NULL, 10));
    return 0;
}
