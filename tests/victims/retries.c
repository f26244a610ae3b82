// SPDX-License-Identifier: GPL-3.0-or-later
// Writes until it succeeds, without a thought for errors that stay: directly, or through a helper.
#include <string.h>
#include <unistd.h>

static __attribute__((noinline)) ssize_t put(const char *text)
{
    return write(1, text, strlen(text));
}

static __attribute__((noinline)) void insist(const char *text)
{
    while (put(text) < 0)
        ;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "helper") == 0) {
        insist("one\n");
        insist("two\n");
        return 0;
    }
    for (int i = 0; i < 4; i++)
        while (write(1, "line\n", 5) < 0)
            ;
    return 0;
}
