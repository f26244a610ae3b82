// SPDX-License-Identifier: GPL-3.0-or-later
// A library with functions of which the code alone does not say what a failure is.
#include <stdlib.h>

struct box {
    int count, kinds[4];
    char *name;
};

// Negative numbers are answers: the function only looks.
int box_kind(const struct box *box, int number)
{
    return number < box->count ? box->kinds[number & 3] : -1;
}

// NULL is for NULL and for nothing; without memory the program ends.
char *box_text(const char *text, size_t size)
{
    if (text == NULL || size == 0)
        return NULL;
    char *copy = malloc(size);
    if (copy == NULL)
        abort();
    for (size_t i = 0; i < size; i++)
        copy[i] = text[i];
    return copy;
}

// The same, but the program asks.
char *box_name(const struct box *box, int number)
{
    if (number >= box->count)
        return NULL;
    return box->name + number;
}

// A failure for sure.
int box_close(int descriptor)
{
    extern int close(int);
    return close(descriptor);
}
