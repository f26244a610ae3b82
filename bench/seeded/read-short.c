// SPDX-License-Identifier: GPL-3.0-or-later
// Reads from a pipe once, as if read() always gave all that was sent.
#include "common.h"

#include <sys/wait.h>
#include <unistd.h>

static void send_all(int fd, const char *text)
{
    for (size_t length = strlen(text), done = 0; done < length;) {
        ssize_t put = write(fd, text + done, length - done);
        check(put >= 0, "pipe");
        done += (size_t)put;
    }
}

int main(void)
{
    int ends[2], status = 0;
    char buffer[4096];
    size_t length = 0;
    ssize_t got = 0;
    check(pipe(ends) == 0, "pipe");
    pid_t child = fork();
    check(child >= 0, "fork");
    if (child == 0) {
        send_all(ends[1], "first part and second part of a message\n");
        _exit(0);
    }
    close(ends[1]);
    check(waitpid(child, &status, 0) == child && status == 0, "child");
    do {
        got = read(ends[0], buffer + length, sizeof buffer - length); // SEEDED
        check(got >= 0, "pipe");
        length += (size_t)got;
#ifndef CORRECT
        break;
#endif
    } while (got > 0);
    fwrite(buffer, 1, length, stdout);
    return finish();
}
