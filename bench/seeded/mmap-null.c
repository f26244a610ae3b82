// SPDX-License-Identifier: GPL-3.0-or-later
// Maps a file and takes NULL for the way in which that fails.
#include "common.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

int main(void)
{
    struct stat info;
    int fd = open("input.txt", O_RDONLY);
    check(fd >= 0, "input.txt");
    check(fstat(fd, &info) == 0, "input.txt");
    char *text = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0); // SEEDED
    check(text != NULL, "input.txt");
    CHECK(text != MAP_FAILED, "input.txt");
    unsigned lines = 0;
    for (off_t i = 0; i < info.st_size; i++)
        lines += text[i] == '\n';
    printf("%u lines\n", lines);
    return finish();
}
