// Becomes a daemon: forks twice, leaves its directory, closes every descriptor, empties its
// environment; then opens, and writes what happened to the file it was given.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char *report = realpath(argv[1], NULL);
    if (report == NULL)
        return 2;
    if (fork() != 0) {
        // Wait for the daemon's report, so that the trial does not end before it.
        struct stat now;
        for (int i = 0; i < 1000 && (stat(report, &now) != 0 || now.st_size == 0); i++)
            usleep(10000);
        return 0;
    }
    setsid();
    if (fork() != 0)
        _exit(0);
    if (chdir("/") != 0)
        return 3;
    close_range(0, ~0u, 0);
    clearenv();
    umask(0);
    char text[128];
    int size = 0;
    for (int i = 1; i <= 3; i++) {
        int file = open("/dev/null", O_RDWR);
        size += snprintf(text + size, sizeof text - (size_t)size, "open %d: %d errno %d\n", i, file,
                         file < 0 ? errno : 0);
        if (file >= 0)
            close(file);
    }
    int output = open(report, O_WRONLY);
    return write(output, text, (size_t)size) == size ? 0 : 4;
}
