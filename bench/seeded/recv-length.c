// SPDX-License-Identifier: GPL-3.0-or-later
// The result of recv() is a length, it thinks.
#include "common.h"

#include <sys/socket.h>
#include <unistd.h>

int main(void)
{
    int ends[2];
    char message[64], *copy;
    check(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0, "socketpair");
    check(send(ends[0], "a message", 9, 0) == 9, "send");
    ssize_t got = recv(ends[1], message, sizeof message, 0); // SEEDED
    CHECK(got >= 0, "recv");
    copy = malloc(sizeof message + 1);
    check(copy != NULL, "memory");
    memcpy(copy, message, (size_t)got);
    copy[got] = '\0';
    puts(copy);
    free(copy);
    return finish();
}
