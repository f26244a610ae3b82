// SPDX-License-Identifier: GPL-3.0-or-later
// What the victims share. A victim is compiled twice: with CORRECT, and without, when one error
// check is missing or wrong. Calls whose failure then goes wrong stand on lines marked SEEDED.
#ifndef SEEDED_COMMON_H
#define SEEDED_COMMON_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef CORRECT
#define CHECK(condition, what)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            die(what);                                                                             \
    } while (0)
#else
#define CHECK(condition, what) ((void)0)
#endif

_Noreturn static inline void die(const char *what)
{
    fprintf(stderr, "error: %s: %s\n", what, strerror(errno));
    exit(1);
}

static inline void check(int condition, const char *what)
{
    if (!condition)
        die(what);
}

// What was printed has arrived, or it is an error.
static inline int finish(void)
{
    check(!ferror(stdout) && fflush(stdout) == 0, "standard output");
    return 0;
}

// A whole file as a string, every error checked.
static inline char *slurp(const char *path)
{
    FILE *file = fopen(path, "r");
    check(file != NULL, path);
    char *text = calloc(1, 4096);
    check(text != NULL, "memory");
    size_t got = fread(text, 1, 4095, file);
    check(got > 0 && !ferror(file), path);
    fclose(file);
    return text;
}

#endif
