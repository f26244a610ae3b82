// SPDX-License-Identifier: GPL-3.0-or-later
// A small report; whether its last bytes reached the disk is known when the file is closed.
#include "common.h"

int main(void)
{
    FILE *file = fopen("report", "w");
    check(file != NULL, "report");
    check(fprintf(file, "all is well\n") > 0, "report");
    int failed = fclose(file); // SEEDED
    CHECK(failed == 0, "report");
    (void)failed;
    puts("done");
    return finish();
}
