// SPDX-License-Identifier: GPL-3.0-or-later
// Handles every failure of what it does; but what it does to handle one is not checked itself.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Reached only when there is no memory.
static int work_on_disk(void)
{
    char line[64] = "";
    FILE *spare = fopen("spare", "w+"); // nobody looks at this
    fputs("result\n", spare);
    rewind(spare);
    if (fgets(line, sizeof line, spare) == NULL) {
        fclose(spare);
        remove("spare");
        return 1;
    }
    fclose(spare);
    remove("spare");
    return puts(line) == EOF || fflush(stdout) == EOF;
}

int main(void)
{
    char *line = malloc(64);
    if (line == NULL)
        return work_on_disk();
    strcpy(line, "result\n");
    int status = puts(line) == EOF || fflush(stdout) == EOF;
    free(line);
    return status;
}
