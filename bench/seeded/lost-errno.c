// SPDX-License-Identifier: GPL-3.0-or-later
// Without a configuration there are defaults. What is done before errno is looked at changes it.
#include "common.h"

#include <fcntl.h>
#include <unistd.h>

int main(void)
{
    char line[100] = "colour=none\n";
    int fd = open("config", O_RDONLY); // SEEDED
    if (fd < 0) {
        int reason = errno;
        unlink("config.lock");
#ifndef CORRECT
        reason = errno;
#endif
        errno = reason;
        if (reason != ENOENT)
            die("config");
    } else {
        ssize_t got = read(fd, line, sizeof line - 1);
        check(got >= 0, "config");
        line[got] = '\0';
        close(fd);
    }
    fputs(line, stdout);
    return finish();
}
