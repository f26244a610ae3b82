// SPDX-License-Identifier: GPL-3.0-or-later
// Two children: one works, and waits for ever in another function for each call that fails; the
// other, which is newer, has nothing to do until the work is done.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static __attribute__((noinline)) void without_memory(void)
{
    for (;;)
        pause();
}

static __attribute__((noinline)) void without_file(void)
{
    for (;;)
        pause();
}

static void work(void)
{
    char *line = malloc(100);
    if (line == NULL)
        without_memory();
    FILE *file = fopen("greeting", "r");
    if (file == NULL)
        without_file();
    if (fgets(line, 100, file) != NULL)
        fputs(line, stdout);
    fclose(file);
    free(line);
}

static __attribute__((noinline)) void help(int done)
{
    char any;
    while (read(done, &any, 1) > 0)
        ;
}

int main(void)
{
    int done[2];
    if (pipe(done) < 0)
        return 1;
    pid_t worker = fork();
    if (worker == 0) {
        close(done[1]);
        work();
        return 0;
    }
    pid_t helper = fork();
    if (helper == 0) {
        close(done[1]);
        help(done[0]);
        return 0;
    }
    waitpid(worker, NULL, 0);
    close(done[1]);
    waitpid(helper, NULL, 0);
    return 0;
}
