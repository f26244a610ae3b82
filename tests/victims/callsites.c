// SPDX-License-Identifier: GPL-3.0-or-later
// Calls of library functions, each with what is true of it in a comment in its line: class, and
// what becomes of the result. The first argument chooses what is run.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline))

int kept = -1;
char path[] = "callsites.txt";

APART static void by_sign(void)
{
    int file = open(path, O_RDONLY); // expect: checked
    if (file < 0) {
        puts("no file");
        return;
    }
    printf("file %d\n", file);
}

APART static void against_null(size_t size)
{
    char *text = malloc(size); // expect: checked
    if (text == NULL)
        exit(3);
    memset(text, 'x', size - 1);
    text[size - 1] = '\0';
    puts(text);
}

APART static void dereferences(const char *text)
{
    char *copy = strdup(text); // expect: unchecked dereferenced
    copy[0] = '<';
    puts(copy);
}

APART static void passes_on(const char *text)
{
    FILE *file = fopen(text, "r"); // expect: unchecked passed on
    printf("%d\n", fgetc(file));
}

APART static void stores(void)
{
    kept = dup(1); // expect: unchecked stored in a global
}

APART static void ignores(void)
{
    unlink(path); // expect: unchecked ignored
    puts("gone");
}

APART static void *must_allocate(size_t size)
{
    void *memory = calloc(size, 2); // expect: checked
    if (memory == NULL)
        abort();
    return memory;
}

APART static int opened(const char *name)
{
    puts(name);
    return creat(name, 0600); // expect: checked
}

APART static void caller_checks(void)
{
    int file = opened(path);
    if (file == -1)
        puts("not made");
    else
        printf("made %d\n", file);
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "";
    if (strcmp(what, "unlink") == 0)
        ignores();
    if (strcmp(what, "strdup") == 0)
        dereferences(what);
    if (strcmp(what, "fopen") == 0)
        passes_on(words[0]);
    if (strcmp(what, "other") == 0) {
        by_sign();
        against_null((size_t)count * 4);
        stores();
        caller_checks();
        printf("%p\n", must_allocate((size_t)count));
    }
    return 0;
}
