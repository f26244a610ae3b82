// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a file, closes it, then writes to a command, through a FILE at the same address: all
// memory that is given back is the next to be used.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char pool[1 << 20], first[1 << 12];
static size_t used;
static int busy;

void *malloc(size_t size)
{
    if (size > 200 && size < sizeof first && !busy) {
        busy = 1;
        return first;
    }
    void *memory = pool + used;
    used += (size + 15) / 16 * 16;
    return used <= sizeof pool ? memory : NULL;
}

void free(void *memory)
{
    if (memory == first)
        busy = 0;
}

void *calloc(size_t count, size_t size)
{
    void *memory = malloc(count * size);
    return memory != NULL ? memset(memory, 0, count * size) : NULL;
}

void *realloc(void *memory, size_t size)
{
    void *larger = malloc(size);
    return memory != NULL && larger != NULL ? memmove(larger, memory, size) : larger;
}

int main(void)
{
    static char buffers[2][4096];
    FILE *file = fopen("file", "w");
    FILE *before = file;
    setvbuf(file, buffers[0], _IOFBF, sizeof buffers[0]);
    if (fputs("file\n", file) < 0 || fclose(file) != 0)
        return 1;
    FILE *pipe = popen("cat >piped", "w");
    setvbuf(pipe, buffers[1], _IOFBF, sizeof buffers[1]);
    if (fputs("pipe\n", pipe) < 0 || pclose(pipe) != 0)
        return 1;
    return before == pipe ? 0 : 3;
}
