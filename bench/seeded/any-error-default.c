// SPDX-License-Identifier: GPL-3.0-or-later
// A file that cannot be opened is taken for one that is not there.
#include "common.h"

int main(void)
{
    char line[100] = "nobody\n";
    FILE *file = fopen("users.txt", "r"); // SEEDED
    if (file == NULL) {
#ifdef CORRECT
        check(errno == ENOENT, "users.txt");
#endif
    } else {
        check(fgets(line, sizeof line, file) != NULL, "users.txt");
        fclose(file);
    }
    printf("first user: %s", line);
    return finish();
}
