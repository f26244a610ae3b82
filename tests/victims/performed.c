// SPDX-License-Identifier: GPL-3.0-or-later
// Says what calls returned and whether they happened all the same.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

extern double seen[32];
int mixed(int a, double b, long c, float d, char *e, int f, int g, int h, long double i, int j,
          double k, double l, double m, double n, double o, double p, double q, int r);
double added(int count, ...);
long double wide(long double x);
void leap(jmp_buf *where);
void fall(void);

static void files(void)
{
    int fd = open("/", O_RDONLY);
    errno = 0;
    int result = close(fd), error = errno;
    printf("close %d errno %d %s\n", result, error, fcntl(fd, F_GETFD) < 0 ? "closed" : "open");
    DIR *directory = opendir("/");
    fd = dirfd(directory);
    result = closedir(directory);
    printf("closedir %d %s\n", result, fcntl(fd, F_GETFD) < 0 ? "closed" : "open");
    FILE *file = fopen("written", "w");
    fd = fileno(file);
    fputs("text", file);
    result = fclose(file);
    printf("fclose %d %s\n", result, fcntl(fd, F_GETFD) < 0 ? "closed" : "open");
    errno = 0;
    result = rename("written", "renamed");
    error = errno;
    printf("rename %d errno %d %s\n", result, error,
           access("renamed", F_OK) == 0 ? "renamed" : "still there");
}

static void connection(void)
{
    int ends[2];
    char byte = 'x';
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 || send(ends[1], "xy", 2, 0) != 2)
        return;
    errno = 0;
    ssize_t first = recv(ends[0], &byte, 1, 0);
    int error = errno;
    bool lost = send(ends[1], "z", 1, MSG_NOSIGNAL) < 0;
    printf("recv %zd errno %d, then %s\n", first, error, lost ? "lost" : "connected");
    close(ends[0]);
    close(ends[1]);
}

// As if somebody else had given it to this process.
static void given_connection(void)
{
    int ends[2], before = dup(0);
    char byte = 'x';
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 || dup2(ends[0], 0) != 0)
        return;
    recv(ends[0], &byte, 1, MSG_DONTWAIT);
    printf("stdin %s\n", send(ends[1], "z", 1, MSG_NOSIGNAL) < 0 ? "lost" : "kept");
    dup2(before, 0);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        fall();
    files();
    connection();
    given_connection();
    int result = mixed(1, 2, 3, 4, "\5", 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18);
    printf("mixed %d:", result);
    for (int i = 0; i < 18; i++)
        printf(" %g", seen[i]);
    double sum = added(6, 1.5, 1, 1.5, 2, 1.5, 3, 1.5, 4, 1.5, 5, 1.5, 6);
    printf("\nadded %g really %g\n", sum, seen[0]);
    // A long double that is left on the register stack spoils a later computation.
    long double last = 0;
    for (int i = 1; i <= 20; i++)
        last = wide(i);
    volatile long double x = 1.5L, y = x * x + x;
    printf("wide %Lg really %g, then %Lg\n", last, seen[0], y);
    jmp_buf where;
    if (setjmp(where) == 0)
        leap(&where);
    printf("leapt\n");
    return 0;
}
