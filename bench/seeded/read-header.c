// SPDX-License-Identifier: GPL-3.0-or-later
// Reads a header into a buffer and believes what stands there.
#include "common.h"

#include <fcntl.h>
#include <unistd.h>

int main(void)
{
    char header[8] = "";
    int fd = open("input.txt", O_RDONLY);
    check(fd >= 0, "input.txt");
    ssize_t got = read(fd, header, 7); // SEEDED
    CHECK(got == 7, "input.txt");
    (void)got;
    printf("header '%s'\n", header);
    close(fd);
    return finish();
}
