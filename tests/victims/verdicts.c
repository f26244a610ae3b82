// SPDX-License-Identifier: GPL-3.0-or-later
// Reads ./in with one read(), prints it and writes it to ./copy. What it does when the read fails
// is its first argument: one way for each verdict.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int counter;

__attribute__((noinline)) static void spin(void)
{
    for (;;)
        counter++;
}

static void *work(void *data)
{
    spin();
    return data;
}

__attribute__((noinline)) static void block(void)
{
    int ends[2];
    char byte;
    if (pipe(ends) == 0 && read(ends[0], &byte, 1) == 1)
        counter++;
}

__attribute__((noinline)) static void store(int *where)
{
    *where = 1;
}

static void in_child(void (*act)(void))
{
    pid_t child = fork();
    if (child == 0) {
        act();
        _exit(0);
    }
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}

static void crash(void)
{
    store(NULL);
}

// What is left of the text, or -1 to end with status 1.
static int handle(const char *how, char *text)
{
    if (strcmp(how, "pass") == 0)
        return (int)strlen(strcpy(text, "some text\n")); // another source for it
    if (strcmp(how, "retry") == 0)
        fputs("verdicts: trying again\n", stderr);
    if (strcmp(how, "retry") == 0)
        return (int)strlen(strcpy(text, "some text\n"));
    if (strcmp(how, "graceful") == 0)
        perror("verdicts: cannot read in");
    if (strcmp(how, "graceful") == 0)
        return -1;
    if (strcmp(how, "warn") == 0)
        fputs("verdicts: in is empty\n", stderr);
    if (strcmp(how, "crash") == 0)
        crash();
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "crash-child") == 0)
        in_child(crash);
    if (strcmp(how, "spin") == 0)
        spin();
    if (strcmp(how, "block") == 0)
        block();
    if (strcmp(how, "hang-child") == 0)
        in_child(spin);
    if (strcmp(how, "hang-thread") == 0) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL) == 0)
            pthread_join(thread, NULL);
    }
    if (strcmp(how, "deaf") == 0) {
        signal(SIGTERM, SIG_IGN);
        setsid();
        spin();
    }
    if (strcmp(how, "lock") == 0)
        close(open("lock", O_CREAT | O_WRONLY, 0600));
    if (strcmp(how, "delete") == 0)
        unlink("in");
    if (strcmp(how, "closed") == 0)
        fclose(stdout);
    if (strcmp(how, "undefined") == 0)
        counter = 2147483647 + (counter + 1);
    if (strcmp(how, "escape") == 0)
        fputs("\033[31mred\033[0m\a\n", stderr);
    if (strcmp(how, "success") == 0)
        exit(0);
    return strcmp(how, "lock") == 0 || strcmp(how, "delete") == 0 ||
                   strcmp(how, "undefined") == 0 || strcmp(how, "crash-child") == 0
               ? (int)strlen(strcpy(text, "some text\n"))
               : 0;
}

int main(int count, char **words)
{
    static char text[4096];
    const char *how = count > 1 ? words[1] : "graceful";
    int in = open("in", O_RDONLY);
    if (in < 0)
        return 3;
    int size = (int)read(in, text, sizeof text - 1);
    if (size < 0)
        size = handle(how, text);
    if (size < 0)
        return 1;
    int out = open("copy", O_CREAT | O_TRUNC | O_WRONLY, 0644);
    if (out < 0 || write(out, text, (size_t)size) != size)
        return 3;
    printf("%.*s", size, text);
    return strcmp(how, "success") == 0 ? 2 : 0;
}
