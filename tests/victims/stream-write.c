// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a file through a buffered stream and says what every call returned, so that an injected
// failure can be compared with a real one.
//   stream-write PATH MODE full|line|none LINES [wide|fork|exit|all]
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

static int put(FILE *file, int number, int wide)
{
    static const char text[] = "a line that is written as a whole\n";
    if (wide)
        return fputws(L"a line of wide characters\n", file) < 0;
    switch (number % 4) {
    case 0:
        return fprintf(file, "this is line %d\n", number) < 0;
    case 1:
        return fputs("the next one, and a longer one\n", file) < 0;
    case 2:
        return fwrite(text, 1, sizeof text - 1, file) != sizeof text - 1;
    default:
        return putc('\n', file) < 0;
    }
}

int main(int argc, char **argv)
{
    const char *way = argc > 5 ? argv[5] : "";
    int mode = strcmp(argv[3], "full") == 0   ? _IOFBF
               : strcmp(argv[3], "line") == 0 ? _IOLBF
                                              : _IONBF;
    FILE *file = fopen(argv[1], argv[2]);
    if (file == NULL || setvbuf(file, NULL, mode, 4096) != 0)
        return 2;
    int failed = 0, last = 0, lines = atoi(argv[4]), wide = strcmp(way, "wide") == 0;
    for (int i = 0; i < lines; i++) {
        errno = 0;
        if (put(file, i, wide)) {
            failed++;
            last = errno;
        }
    }
    fprintf(stderr, "%d calls failed, errno %d, ferror %d\n", failed, last, ferror(file) != 0);
    if (strcmp(way, "fork") == 0) {
        pid_t child = fork();
        if (child == 0)
            exit(0); // writes its copy of the buffer
        waitpid(child, NULL, 0);
    }
    if (strcmp(way, "exit") == 0)
        return 0;
    errno = 0;
    int flushed = fflush(strcmp(way, "all") == 0 ? NULL : file);
    fprintf(stderr, "fflush %d, errno %d\n", flushed, errno);
    if (flushed == 0 || strcmp(way, "all") == 0)
        fputs("the end\n", file);
    errno = 0;
    int closed = fclose(file);
    fprintf(stderr, "fclose %d, errno %d\n", closed, errno);
    return 0;
}
