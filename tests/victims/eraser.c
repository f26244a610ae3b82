// Has recovery code of two calls. With "erase", it writes zeros over every mapping of a file of
// Ordeal's but the region of its own trial, and over the file itself, when it ends.
#include "victim.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static unsigned erased;

static void erase(unsigned long from, unsigned long to, const char *path)
{
    size_t size = to - from;
    if (mprotect((void *)from, size, PROT_READ | PROT_WRITE) == 0) {
        memset((void *)from, 0, size);
        erased++;
    }
    int file = open(path, O_RDWR);
    if (file < 0)
        return;
    erased += pwrite(file, calloc(1, size), size, 0) > 0;
    erased += ftruncate(file, 0) == 0;
}

static void erase_all(void)
{
    const char *own = getenv("ORDEAL_REGION");
    char line[4096], path[4096];
    unsigned long from, to;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        if (sscanf(line, "%lx-%lx %*s %*s %*s %*s %4095s", &from, &to, path) == 3 &&
            strstr(path, "/ordeal-") != NULL && strstr(path, "/region-") != NULL &&
            (own == NULL || strcmp(path, own) != 0))
            erase(from, to, path);
}

int main(int argc, char **argv)
{
    int status = 0;
    char *memory = malloc(100);
    if (memory == NULL) {
        say("no memory\n");
        status = 1;
    }
    if (access("/dev/null", R_OK) != 0) {
        say("no access\n");
        status = 2;
    }
    free(memory);
    if (argc > 1 && strcmp(argv[1], "erase") == 0)
        erase_all();
    if (erased != 0)
        say("erased\n");
    return status;
}
