// SPDX-License-Identifier: GPL-3.0-or-later
// Overwrites a file in place; what was longer before stays behind.
#include "common.h"

#include <fcntl.h>
#include <unistd.h>

int main(void)
{
    const char text[] = "short\n";
    int fd = open("config", O_WRONLY);
    check(fd >= 0, "config");
    int failed = ftruncate(fd, 0); // SEEDED
    CHECK(!failed, "config");
    (void)failed;
    for (size_t done = 0; done < sizeof text - 1;) {
        ssize_t put = write(fd, text + done, sizeof text - 1 - done);
        check(put >= 0, "config");
        done += (size_t)put;
    }
    check(close(fd) == 0, "config");
    return finish();
}
