// SPDX-License-Identifier: GPL-3.0-or-later
// Opens what it rewrites before it has the new content.
#include "common.h"

static char *make(void)
{
    return strdup("colour=yellow\nsize=7\n"); // SEEDED
}

int main(void)
{
#ifdef CORRECT
    char *text = make();
    check(text != NULL, "memory");
    FILE *file = fopen("config.new", "w");
    check(file != NULL, "config.new");
#else
    FILE *file = fopen("config", "w");
    check(file != NULL, "config");
    char *text = make();
    check(text != NULL, "memory");
#endif
    int failed = fputs(text, file) < 0; // SEEDED
    failed |= fclose(file) != 0;        // SEEDED
    check(!failed, "config");
#ifdef CORRECT
    check(rename("config.new", "config") == 0, "config");
#endif
    free(text);
    return finish();
}
