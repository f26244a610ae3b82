// SPDX-License-Identifier: GPL-3.0-or-later
// A program with POINTS calls of pread() and one behaviour for each way in which a fault may end:
// branches POINTS [KIND]. Without a fault it prints a sum. KIND: what it does besides.
// flags: -pthread
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t first;
static const char *kind = "";

static int is(const char *other)
{
    return strcmp(kind, other) == 0;
}

static void *nothing(void *data)
{
    return data;
}

static void start_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, nothing, NULL) == 0)
        pthread_join(thread, NULL);
}

static void start_process(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
}

static void write_file(const char *text)
{
    FILE *file = fopen("written", "a");
    if (file != NULL) {
        fputs(text, file);
        fclose(file);
    }
}

// The fault at point i.
static void fail(int i)
{
    if (is("pid") && getpid() != first)
        exit(0);
    if (is("cleans"))
        unlink("kept");
    if (is("logs"))
        write_file("failed\n");
    switch (i % 20) {
    case 3:
        *(volatile int *)NULL = 1;
        break;
    case 5:
        abort();
    case 7:
        if (i == 7 && kind[0] == '\0')
            for (;;)
                ;
        return;
    case 9:
        return;
    default:
        fprintf(stderr, "read %d failed\n", i);
        exit(1);
    }
}

int main(int count, char **words)
{
    int points = count > 1 ? atoi(words[1]) : 20;
    char byte = 0;
    long sum = 0;
    kind = count > 2 ? words[2] : "";
    first = getpid();
    int file = open("input", O_RDONLY);
    for (int i = 0; i < points; i++) {
        if (is("threads") && i == 2)
            start_thread();
        if (is("forks") && i == 2)
            start_process();
        if (pread(file, &byte, 1, i % 100) < 0)
            fail(i);
        else if (read(file, &byte, 1) == 0) // the place in the file is the child's own
            lseek(file, 0, SEEK_SET);
        sum += byte;
        if (i % 10 == 0)
            printf("%d %ld\n", i, sum);
        if (i % 50 == 0)
            fflush(stdout);
    }
    if (is("writes"))
        write_file("done\n");
    printf("sum %ld\n", sum);
    return 0;
}
