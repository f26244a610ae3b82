// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a log beside its result. That the log can be opened is taken for granted.
#include "common.h"

int main(void)
{
    char *text = slurp("input.txt");
    FILE *log = fopen("log", "a"); // SEEDED
    CHECK(log != NULL, "log");
    check(fprintf(log, "%zu bytes\n", strlen(text)) > 0, "log");
    check(fclose(log) == 0, "log");
    printf("%zu\n", strlen(text));
    free(text);
    return finish();
}
