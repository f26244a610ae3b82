// SPDX-License-Identifier: GPL-3.0-or-later
// Says what goes wrong, and destroys the user's files while it does: "original" is deleted when
// memory is short, "config" is empty when its changed content cannot be written. What it makes anew
// of what is there ("made") or replaces as a whole ("message") is no such loss.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void save(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    if (file == NULL)
        exit(1);
    int failed = fputs(text, file) == EOF;
    failed |= fclose(file) == EOF;
    if (failed)
        exit(2);
}

int main(void)
{
    char *memory = malloc(100);
    if (memory == NULL) {
        unlink("original");
        return 3;
    }
    free(memory);
    save("made", "as ever\n");
    save("config", "kept\nnew\n");
    save("message", "this time\n");
    return 0;
}
