// SPDX-License-Identifier: GPL-3.0-or-later
// Uses a library with a bug.
#include <stdio.h>

size_t library_measure(const char *text);

int main(int argc, char **argv)
{
#ifdef OTHER
    char text[64];
    snprintf(text, sizeof text, "%d arguments", argc);
    printf("%zu\n", library_measure(text));
#else
    return argc > 0 && library_measure(argv[0]) > 0 ? 0 : 1;
#endif
}
