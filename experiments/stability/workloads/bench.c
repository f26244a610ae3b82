// SPDX-License-Identifier: GPL-3.0-or-later
// What system benchmarks measure, a fixed number of rounds of each: calls, pipes, switches between
// processes, fork, exec, copies of files with small and large blocks, shell scripts.
// Usage: bench [FACTOR]
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void calls(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        close(dup(1));
        getppid();
        umask(022);
    }
}
static void pipes(int rounds)
{
    int ends[2];
    char block[512] = "";
    if (pipe(ends) != 0)
        exit(1);
    for (int i = 0; i < rounds; i++)
        if (write(ends[1], block, sizeof block) != 512 || read(ends[0], block, sizeof block) != 512)
            exit(2);
}
static void switches(int rounds)
{
    int there[2], back[2], status, number = 0;
    if (pipe(there) != 0 || pipe(back) != 0)
        exit(1);
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < rounds; i++)
            if (read(there[0], &number, 4) != 4 || number != i || write(back[1], &number, 4) != 4)
                _exit(3);
        _exit(0);
    }
    for (int i = 0; i < rounds; i++)
        if (write(there[1], &i, 4) != 4 || read(back[0], &number, 4) != 4 || number != i)
            exit(3);
    if (waitpid(child, &status, 0) != child || status != 0)
        exit(4);
}
static void spawn(int rounds, const char *const *command)
{
    for (int i = 0; i < rounds; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            if (command == NULL)
                _exit(0);
            execv(command[0], (char *const *)command + 1);
            _exit(9);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
            exit(5);
    }
}
static void copy(size_t block, size_t total)
{
    static char data[65536];
    int from = open("bench-from", O_RDWR | O_CREAT | O_TRUNC, 0600);
    int to = open("bench-to", O_RDWR | O_CREAT | O_TRUNC, 0600);
    memset(data, 'x', sizeof data);
    for (size_t size = 0; size < total; size += block)
        if (write(from, data, block) != (ssize_t)block)
            exit(6);
    lseek(from, 0, SEEK_SET);
    for (size_t size = 0; size < total; size += block)
        if (read(from, data, block) != (ssize_t)block || write(to, data, block) != (ssize_t)block)
            exit(7);
    close(from);
    close(to);
    unlink("bench-from");
    unlink("bench-to");
}

int main(int count, char **words)
{
    static const char *const program[] = {"/bin/busybox", "true", NULL};
    static const char *const script[] = {
        "/bin/busybox", "sh", "-c",
        "seq 1 50 | sort -r | grep 1 | wc -l >/dev/null; ls / >/dev/null", NULL};
    int factor = count > 1 ? atoi(words[1]) : 1;
    calls(2000 * factor);
    puts("calls");
    pipes(1000 * factor);
    puts("pipes");
    switches(200 * factor);
    puts("switches");
    spawn(20 * factor, NULL);
    puts("forks");
    spawn(5 * factor, program);
    puts("programs");
    copy(256, 64 * 1024 * (size_t)factor);
    puts("small blocks");
    copy(4096, 1024 * 1024 * (size_t)factor);
    puts("large blocks");
    spawn(2 * factor, script);
    puts("scripts");
    return 0;
}
