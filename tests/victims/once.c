// SPDX-License-Identifier: GPL-3.0-or-later
// Missing checks, each reached in several ways: `once caller`, `once copy`, `once two`, `once say`.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// One missing check with many callers.
__attribute__((noinline)) static char *make(int letter)
{
    char *text = malloc(16);
    text[0] = (char)letter;
    text[1] = '\0';
    return text;
}
#define CALLER(name, letter)                                                                       \
    __attribute__((noinline)) static void name(void)                                               \
    {                                                                                              \
        char *text = make(letter);                                                                 \
        puts(text);                                                                                \
        free(text);                                                                                \
    }
CALLER(first, 'a')
CALLER(second, 'b')
CALLER(third, 'c')
CALLER(fourth, 'd')

// The malloc() inside strdup() is the same failure.
__attribute__((noinline)) static void copy(const char *name)
{
    char *text = strdup(name);
    printf("%zu\n", strlen(text));
    free(text);
}

// Two missing checks that crash in the same function of the C library.
__attribute__((noinline)) static void clear_one(size_t size)
{
    char *one = malloc(size);
    memset(one, 1, size);
    printf("%d\n", one[size - 1]);
    free(one);
}
__attribute__((noinline)) static void clear_other(size_t size)
{
    char *other = malloc(size);
    memset(other, 2, size);
    printf("%d\n", other[size - 1]);
    free(other);
}

// Reports its failures, in several places.
static int say(const char *name)
{
    FILE *file = fopen(name, "r");
    char *room = malloc(64);
    if (file == NULL || room == NULL || fgets(room, 64, file) == NULL) {
        fprintf(stderr, "once: cannot say %s\n", name);
        return 3;
    }
    fputs(room, stdout);
    free(room);
    return fclose(file) == 0 && fflush(stdout) == 0 ? 0 : 4;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "caller") == 0) {
        first();
        second();
        third();
        fourth();
    } else if (strcmp(mode, "copy") == 0) {
        copy(argv[0]);
    } else if (strcmp(mode, "two") == 0) {
        clear_one(3000u + (unsigned)argc);
        clear_other(5000u + (unsigned)argc);
    } else if (strcmp(mode, "say") == 0) {
        return say("in");
    }
    return 0;
}
