// SPDX-License-Identifier: GPL-3.0-or-later
// Reads or writes a stream the way its argument says and tells what the stream has to say about it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    char text[64], *line = NULL;
    size_t size = 0;
    FILE *stream = fopen("stream", "w+");
    fputs("a line\n", stream);
    rewind(stream);
    if (strcmp(how, "fgets") == 0)
        size = fgets(text, argc * 20, stream) != NULL;
    else if (strcmp(how, "fread") == 0)
        size = fread(text, 1, (size_t)argc * 3, stream);
    else if (strcmp(how, "getc") == 0)
        size = (size_t)getc(stream);
    else if (strcmp(how, "getline") == 0)
        size = (size_t)getline(&line, &size, stream);
    else if (strcmp(how, "fgetwc") == 0)
        size = (size_t)fgetwc(stream);
    else if (strcmp(how, "fwrite") == 0)
        size = fwrite(text, 0, 1, stream) + fwrite("x", 1, 1, stream);
    else if (strcmp(how, "fprintf") == 0)
        fprintf(stream, "%d\n", argc);
    else if (strcmp(how, "fflush") == 0)
        fflush(stream);
    else if (strcmp(how, "everything") == 0)
        fflush(NULL);
    else if (strcmp(how, "puts") == 0)
        fclose(stream), puts("text"), stream = stdout;
    else if (strcmp(how, "printf") == 0)
        fclose(stream), printf("%d\n", argc), stream = stdout;
    else if (strcmp(how, "scanf") == 0)
        fclose(stream), size = scanf("%63s", text) == 1, stream = stdin;
    dprintf(STDERR_FILENO, "%s: %s%s\n", how, ferror(stream) ? "error " : "",
            feof(stream) ? "end" : "");
    free(line);
    return 0;
}
