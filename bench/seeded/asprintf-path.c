// SPDX-License-Identifier: GPL-3.0-or-later
// Puts a path together and prints what is behind its last slash.
#include "common.h"

int main(void)
{
    char *path = NULL;
    int length = asprintf(&path, "%s/%s", "dir", "first"); // SEEDED
    CHECK(length >= 0, "memory");
    (void)length;
    printf("%s of %zu\n", strrchr(path, '/') + 1, strlen(path));
    free(path);
    return finish();
}
