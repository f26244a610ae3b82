// SPDX-License-Identifier: GPL-3.0-or-later
// The end of a directory and an error while reading it look alike unless errno is asked.
#include "common.h"

#include <dirent.h>

int main(void)
{
    struct dirent *entry;
    unsigned long sum = 0;
    DIR *directory = opendir("dir");
    check(directory != NULL, "dir");
    for (;;) {
        errno = 0;
        entry = readdir(directory); // SEEDED
        if (entry == NULL)
            break;
        sum += strlen(entry->d_name);
    }
    CHECK(errno == 0, "dir");
    closedir(directory);
    printf("%lu letters\n", sum);
    return finish();
}
