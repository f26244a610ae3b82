// SPDX-License-Identifier: GPL-3.0-or-later
// flags: -O0 -g -fno-pie -no-pie
// Memory of all kinds that is read, overwritten or left alone after a fault: what to do with it is
// the argument. Prints what it got.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint32_t counter = 1000;
char buffer[64] = "0123456789abcdef";

__attribute__((noinline)) void stop(uint32_t *stack, uint32_t *heap)
{
    __asm__ volatile("nop" : : "D"(stack), "S"(heap) : "memory");
}

__attribute__((noinline)) int answer(void)
{
    return 42;
}

int main(int count, char **arguments)
{
    uint32_t local = 7, *heap = malloc(sizeof *heap);
    const char *what = count > 1 ? arguments[1] : "read";
    if (heap == NULL)
        return 2;
    *heap = 9;
    stop(&local, heap);
    if (strcmp(what, "read") == 0)
        printf("counter %u local %u heap %u\n", counter, local, *heap);
    else if (strcmp(what, "overwrite") == 0)
        counter = 5;
    else if (strcmp(what, "increment") == 0)
        counter++;
    else if (strcmp(what, "fill") == 0) { // by the kernel
        int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
        if (read(zero, buffer, sizeof buffer) != sizeof buffer)
            return 2;
    } else if (strcmp(what, "show") == 0) { // by the kernel, too
        if (write(1, buffer, 16) != 16)
            return 2;
    } else if (strcmp(what, "call") == 0)
        printf("answer %d\n", answer());
    free(heap);
    return 0;
}
