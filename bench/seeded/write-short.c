// SPDX-License-Identifier: GPL-3.0-or-later
// Saves a text. Errors of write() are noticed; that it may write less than it was given is not.
#include "common.h"

#include <fcntl.h>
#include <unistd.h>

int main(void)
{
    char *text = slurp("input.txt");
    size_t length = strlen(text), done = 0;
    int fd = open("saved", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    check(fd >= 0, "saved");
    while (done < length) {
        ssize_t put = write(fd, text + done, length - done); // SEEDED
        check(put >= 0, "saved");
#ifdef CORRECT
        done += (size_t)put;
#else
        done = length;
#endif
    }
    check(close(fd) == 0, "saved");
    free(text);
    return finish();
}
