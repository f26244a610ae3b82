// SPDX-License-Identifier: GPL-3.0-or-later
// Counts the entries of a directory that it does not expect to be unreadable.
#include "common.h"

#include <dirent.h>

int main(void)
{
    unsigned count = 0;
    DIR *directory = opendir("dir"); // SEEDED
    CHECK(directory != NULL, "dir");
    for (errno = 0; readdir(directory) != NULL; errno = 0)
        count++;
    check(errno == 0, "dir");
    closedir(directory);
    printf("%u entries\n", count);
    return finish();
}
