// SPDX-License-Identifier: GPL-3.0-or-later
// Copies a file to the standard output by way of memory and looks at every result there is.
#include <stdio.h>
#include <stdlib.h>

static int give_up(const char *what)
{
    perror(what);
    return 1;
}

int main(int count, char **arguments)
{
    FILE *file = count > 1 ? fopen(arguments[1], "r") : NULL;
    if (file == NULL)
        return give_up("open");
    char *text = malloc(4096);
    if (text == NULL)
        return give_up("memory");
    size_t size = fread(text, 1, 4096, file);
    if (size == 0 || ferror(file))
        return give_up("read");
    if (fclose(file) != 0)
        return give_up("close");
    if (fwrite(text, 1, size, stdout) != size)
        return give_up("write");
    free(text);
    return fclose(stdout) != 0 ? give_up("write") : 0;
}
