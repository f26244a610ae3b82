// SPDX-License-Identifier: GPL-3.0-or-later
// A signal may interrupt a read: not the end of the file, though taken for it.
#include "common.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t asked;

static void note(int number)
{
    (void)number;
    asked = 1;
}

int main(void)
{
    struct sigaction action = {.sa_handler = note};
    check(sigaction(SIGUSR1, &action, NULL) == 0, "signal");
    char letter;
    unsigned letters = 0;
    int fd = open("input.txt", O_RDONLY);
    check(fd >= 0, "input.txt");
    for (;;) {
        ssize_t got = read(fd, &letter, 1); // SEEDED
        if (got < 0 && errno != EINTR)
            die("input.txt");
#ifdef CORRECT
        if (got < 0)
            continue;
#endif
        if (got <= 0)
            break;
        letters++;
    }
    close(fd);
    printf("%u letters%s\n", letters, asked ? " so far" : "");
    return finish();
}
