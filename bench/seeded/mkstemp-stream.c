// SPDX-License-Identifier: GPL-3.0-or-later
// A stream on a temporary file; both steps may fail, and the second notices only half.
#include "common.h"

#include <unistd.h>

int main(void)
{
    char name[] = "temporary-XXXXXX";
    int fd = mkstemp(name);
    check(fd >= 0, "temporary file");
    check(unlink(name) == 0, name);
    FILE *file = fdopen(fd, "w+"); // SEEDED
    CHECK(file != NULL, "temporary file");
    check(fputs("kept for a moment\n", file) >= 0 && fflush(file) == 0, "temporary file");
    long size = ftell(file);
    check(size >= 0, "temporary file");
    printf("%ld bytes\n", size);
    fclose(file);
    return finish();
}
