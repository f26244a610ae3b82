// SPDX-License-Identifier: GPL-3.0-or-later
// Prints the token that it has in the environment, and its arguments, on both streams and into a
// file. Without memory it says so and crashes.
#include <stdio.h>
#include <stdlib.h>

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value != NULL ? value : "nothing";
}

int main(int argc, char **argv)
{
    printf("token %s, argument %s, setting %s\n", variable("DEPLOY_TOKEN"), argc > 1 ? argv[1] : "",
           variable("SETTING"));
    char *memory = malloc(100);
    if (memory == NULL) {
        fprintf(stderr, "no memory for %s\n", variable("DEPLOY_TOKEN"));
        *(volatile char *)memory = 0;
    }
    fprintf(stderr, "hidden %s\n", variable("HIDDEN"));
    FILE *file = fopen("made", "w");
    if (file == NULL)
        return 1;
    fprintf(file, "%s\n%s\n", variable("DEPLOY_TOKEN"), memory != NULL ? "written" : "");
    free(memory);
    return fclose(file) != 0;
}
