// SPDX-License-Identifier: GPL-3.0-or-later
// Waits on a socket that it may not have got.
#include "common.h"

#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void)
{
    struct timeval now = {0, 0};
    fd_set set;
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0); // SEEDED
    CHECK(fd >= 0, "socket");
    FD_ZERO(&set);
    FD_SET(fd, &set);
    int ready = select(fd + 1, &set, NULL, NULL, &now);
    check(ready >= 0, "select");
    printf("%d ready\n", ready);
    close(fd);
    return finish();
}
