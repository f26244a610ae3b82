// SPDX-License-Identifier: GPL-3.0-or-later
// Does not look whether memory, a file and its content can be had; looks at everything else.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline))

APART static void remember(const char *text)
{
    char *copy = malloc(strlen(text) + 1); // unchecked
    strcpy(copy, text);
    if (printf("%s\n", copy) < 0)
        exit(1);
    free(copy);
}

APART static int first_of(const char *path)
{
    FILE *file = fopen(path, "r"); // unchecked
    int byte = fgetc(file);
    if (byte == EOF || fclose(file) == EOF)
        exit(1);
    return byte;
}

APART static void show(const char *path)
{
    char text[64] = "";
    int file = open(path, O_RDONLY);
    if (file < 0)
        exit(1);
    ssize_t size = read(file, text, sizeof text); // unchecked
    if (printf("%.*s\n", (int)size, text) < 0 || close(file) < 0)
        exit(1);
}

int main(void)
{
    char *name = strdup("input");
    if (name == NULL)
        return 1;
    remember(name);
    if (printf("%d\n", first_of(name)) < 0)
        return 1;
    show(name);
    free(name);
    return fclose(stdout) == EOF;
}
