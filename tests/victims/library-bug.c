// SPDX-License-Identifier: GPL-3.0-or-later
// A library with a missing check. With MOVED, another build, in which everything stands elsewhere.
#include <stdlib.h>
#include <string.h>

size_t library_other(const char *text);
size_t library_measure(const char *text);

#ifdef MOVED
size_t library_other(const char *text)
{
    size_t sum = 0;
    for (; *text != '\0'; text++)
        sum = sum * 31 + (unsigned char)*text;
    return sum;
}
#endif

__attribute__((noinline)) static size_t measure(const char *text)
{
    char *room = malloc(strlen(text) + 1);
    strcpy(room, text);
    size_t size = strlen(room);
    free(room);
    return size;
}

size_t library_measure(const char *text)
{
    return measure(text) + 1;
}
