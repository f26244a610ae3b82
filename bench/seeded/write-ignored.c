// SPDX-License-Identifier: GPL-3.0-or-later
// Saves a text with write() and says that it did.
#include "common.h"

#include <fcntl.h>
#include <unistd.h>

int main(void)
{
    char *text = slurp("input.txt");
    int fd = open("saved", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    check(fd >= 0, "saved");
    ssize_t put = write(fd, text, strlen(text)); // SEEDED
    CHECK(put == (ssize_t)strlen(text), "saved");
    (void)put;
    check(close(fd) == 0, "saved");
    puts("saved");
    free(text);
    return finish();
}
