// SPDX-License-Identifier: GPL-3.0-or-later
// Copies as many bytes as stat() says there are.
#include "common.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int main(void)
{
    struct stat info = {0};
    char buffer[4096];
    int failed = stat("input.txt", &info); // SEEDED
    CHECK(!failed, "input.txt");
    (void)failed;
    int fd = open("input.txt", O_RDONLY);
    check(fd >= 0, "input.txt");
    off_t left = info.st_size;
    while (left > 0) {
        ssize_t got = read(fd, buffer, sizeof buffer);
        check(got > 0, "input.txt");
        check(fwrite(buffer, 1, (size_t)got, stdout) == (size_t)got, "standard output");
        left -= got;
    }
    close(fd);
    return finish();
}
