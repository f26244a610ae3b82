// SPDX-License-Identifier: GPL-3.0-or-later
// Compresses a text into a file with zlib and asks nobody whether that worked.
// flags: -lz
#include "common.h"

#include <zlib.h>

int main(void)
{
    char *text = slurp("input.txt");
    gzFile file = gzopen("packed.gz", "w");
    check(file != NULL, "packed.gz");
    int put = gzwrite(file, text, (unsigned)strlen(text)); // SEEDED
    CHECK(put == (int)strlen(text), "packed.gz");
    (void)put;
    check(gzclose(file) == Z_OK, "packed.gz");
    free(text);
    return finish();
}
