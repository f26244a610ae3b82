// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a report of more than a buffer, with many calls, and a line to standard output. With
// CHECKED it asks whether all of that arrived.
#include <stdio.h>
#include <stdlib.h>

static void check(int good)
{
#ifdef CHECKED
    if (!good) {
        fprintf(stderr, "error: cannot write\n");
        exit(1);
    }
#else
    (void)good;
#endif
}

static void head(FILE *file)
{
    fputs("report", file);
    putc(' ', file);
    fprintf(file, "%d", 7);
    putc('\n', file);
}

static void entry(FILE *file, int number)
{
    putc('-', file);
    putc(' ', file);
    fprintf(file, "entry %d", number);
    fputs(": ", file);
    fwrite("all is well", 1, 11, file);
    putc('\n', file);
}

static FILE *start(const char *path)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    return file;
}

int main(void)
{
    FILE *report = start("report");
    head(report);
    for (int i = 0; i < 500; i++)
        entry(report, i);
    putc('.', report);
    check(!ferror(report));
    check(fclose(report) == 0);
    FILE *note = fopen("note", "a"); // small: written when it is closed
    if (note == NULL) {
        perror("note");
        return 1;
    }
    fputs("done", note);
    putc('\n', note);
    check(!ferror(note));
    check(fclose(note) == 0);
    printf("%d entries", 500);
    putchar('\n');
    check(fflush(stdout) == 0 && !ferror(stdout));
    return 0;
}
