// A program to try Ordeal on: appends a line to a file, in two functions, and checks one of the two
// calls that can fail.
//
//   cc -g -o save save.c
//   ordeal run --inject 'write=-1/ENOSPC when stack(save_footer)' -- ./save notes.txt
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int save_text(int file, const char *text)
{
    if (write(file, text, strlen(text)) < 0) {
        perror("save");
        return 1;
    }
    return 0;
}

static void save_footer(int file)
{
    write(file, "-- end\n", 7); // the result is not checked
}

int main(int argc, char **argv)
{
    int file = open(argc > 1 ? argv[1] : "notes.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0) {
        perror("save");
        return 1;
    }
    if (save_text(file, "Something worth keeping.\n") != 0)
        return 1;
    save_footer(file);
    puts("saved");
    return close(file) == 0 ? 0 : 1;
}
