// SPDX-License-Identifier: GPL-3.0-or-later
// Tries again until it works, whatever the reason. A full disk stays full.
#include "common.h"

#include <fcntl.h>
#include <unistd.h>

int main(void)
{
    char *text = slurp("input.txt");
    size_t length = strlen(text);
    int fd = open("saved", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    check(fd >= 0, "saved");
    for (size_t done = 0; done < length;) {
        ssize_t put = write(fd, text + done, length - done); // SEEDED
#ifdef CORRECT
        if (put < 0 && errno != EINTR)
            die("saved");
#endif
        if (put > 0)
            done += (size_t)put;
    }
    check(close(fd) == 0, "saved");
    free(text);
    return finish();
}
