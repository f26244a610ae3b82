// Calls IFUNCs: one of its own library, and libc's strlen, memcpy and time.
#include "victim.h"

#include <string.h>
#include <time.h>

int picked(int value);
int (*volatile pointer)(int) = picked;

int main(void)
{
    char text[16];
    for (int i = 1; i <= 3; i++) {
        size_t (*volatile length)(const char *) = strlen;
        void *(*volatile copy)(void *, const void *, size_t) = memcpy;
        void *end = copy(text, "hello", 6);
        int direct = picked(i), indirect = pointer(10 * i);
        say("%d: picked %d %d strlen %zu memcpy %d time %d\n", i, direct, indirect, length(text),
            end == text, time(NULL) > 1000000);
    }
    return 0;
}
