// Allocates, writes and frees; says how often it was refused, and whose malloc it had.
#include "victim.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    int refused = 0;
    void *kept[16] = {NULL};
    for (int i = 0; i < 1000; i++) {
        void **place = &kept[i % 16];
        free(*place);
        errno = 0;
        *place = i % 3 ? malloc((size_t)i + 1) : calloc(1, (size_t)i + 1);
        if (*place == NULL)
            refused += errno == ENOMEM ? 1 : 1000;
        else
            memset(*place, i, (size_t)i + 1);
    }
    for (int i = 0; i < 16; i++)
        free(kept[i]);
    Dl_info info = {0};
    dladdr((void *)malloc, &info);
    say("refused %d\n", refused);
    return 0;
}
