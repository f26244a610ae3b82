// SPDX-License-Identifier: GPL-3.0-or-later
// A child gives a file to a group and does not look whether that worked. Content, mode and output
// are the same without it.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// With `wrongly` it goes on with the wrong bytes, but as many, after a write that did a part.
static int write_all(int file, const char *text, int wrongly)
{
    for (size_t size = strlen(text); size > 0;) {
        ssize_t done = write(file, text, size);
        if (done < 0)
            return -1;
        text += wrongly ? 0 : done;
        size -= (size_t)done;
    }
    return 0;
}

// The uptime is not the same in two runs.
static int note_uptime(void)
{
    char text[64];
    int from = open("/proc/uptime", O_RDONLY), to = open("uptime", O_WRONLY | O_CREAT, 0600);
    ssize_t size = from >= 0 && to >= 0 ? read(from, text, sizeof text) : -1;
    return size < 0 || write(to, text, (size_t)size) != size || close(from) < 0 || close(to) < 0;
}

int main(int count, char **words)
{
    int status = 1, wrongly = count > 1 && strcmp(words[1], "wrongly") == 0;
    if (count > 1 && strcmp(words[1], "varies") == 0 && note_uptime() != 0)
        return 4;
    pid_t child = fork();
    if (child < 0)
        return 2;
    if (child == 0) {
        int file = open("file", O_RDWR | O_CREAT, 0600);
        if (file < 0)
            _exit(3);
        if (fchown(file, (uid_t)-1, getgid()) < 0) {
            // ignored
        }
        _exit(write_all(file, "content of the file\n", wrongly) < 0 ? 3 : 0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        return 3;
    return 0;
}
