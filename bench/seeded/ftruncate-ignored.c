// SPDX-License-Identifier: GPL-3.0-or-later
// Overwrites a file in place, and cuts it off last: what cannot be written leaves it as it was.
// What was longer before stays behind.
#include "common.h"

#include <fcntl.h>
#include <unistd.h>

int main(void)
{
    const char text[] = "short\n";
    int fd = open("config", O_WRONLY);
    check(fd >= 0, "config");
    for (size_t done = 0; done < sizeof text - 1;) {
        ssize_t put = write(fd, text + done, sizeof text - 1 - done);
        check(put >= 0, "config");
        done += (size_t)put;
    }
    int failed = ftruncate(fd, sizeof text - 1); // SEEDED
    CHECK(!failed, "config");
    (void)failed;
    check(close(fd) == 0, "config");
    return finish();
}
