// Writes a file and reads it back again and again for about a second, and then says in `result`
// whether all was as it should be. disk-user careful: ends with an error at the first call that
// fails.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

int main(int count, char **words)
{
    static char text[65536], back[65536];
    int careful = count > 1 && strcmp(words[1], "careful") == 0;
    unsigned wrong = 0;
    double end = now() + 1.1;
    memset(text, 'x', sizeof text);
    while (now() < end) {
        memset(back, 0, sizeof back);
        int file = open("scratch", O_RDWR | O_CREAT, 0644);
        int failed = file < 0 || pwrite(file, text, sizeof text, 0) != sizeof text;
        failed |= pread(file, back, sizeof back, 0) != sizeof back;
        failed |= close(file) != 0;
        if (failed && careful) {
            perror("disk-user");
            return 1;
        }
        wrong |= failed || memcmp(text, back, sizeof text) != 0;
    }
    for (int done = 0; !done;) { // errors come here as well
        int file = open("result", O_WRONLY | O_CREAT | O_TRUNC, 0644);
        done = file >= 0 && write(file, wrong ? "wrong\n" : "right\n", 6) == 6;
        close(file);
    }
    return 0;
}
