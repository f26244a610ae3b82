// A program with functions, lines and variables to name in conditions. The line numbers matter:
// tests refer to this file's lines by the comments at their ends.
#include "victim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

struct server {
    int connections;
    unsigned char level;
    short small;
    unsigned flag : 3, mode : 5;
    struct server *next;
    char name[8];
    long table[4];
};

int connections, limit = 3;
unsigned char byte_value = 250;
long long big_value = -7000000000;
static int hidden = 17;
struct server first, second = {.connections = 50, .table = {10, 11, 12, 13}};
struct server *current = &first;
int *pointer = &connections;
int file;

__attribute__((noinline)) static ssize_t leaf(const char *who, int step)
{
    char data[16];
    volatile int local = step * 10;
    errno = 0;
    ssize_t size = read(file, data, sizeof data); // leaf-read
    say("%s %d: %zd errno %d\n", who, step, size, errno);
    return size + (local - step * 10);
}
__attribute__((noinline)) static ssize_t by_middle(int step)
{
    volatile int depth = 1;
    ssize_t size = leaf("middle", step);
    return size + depth - 1;
}
__attribute__((noinline)) ssize_t outer(int step)
{
    volatile int depth = step + 100;
    ssize_t size = by_middle(step);
    return size + depth - step - 100;
}
__attribute__((noinline)) ssize_t other(int step)
{
    ssize_t size = leaf("other", step);
    __asm__ volatile("");
    return size;
}
__attribute__((noinline)) static ssize_t recursive(int depth, int step)
{
    ssize_t size = depth == 0 ? leaf("recursive", step) : recursive(depth - 1, step);
    __asm__ volatile("");
    return size;
}
__attribute__((noinline)) static ssize_t direct(int step)
{
    char data[16];
    errno = 0;
    ssize_t size = read(file, data, sizeof data); // direct-read
    say("direct %d: %zd errno %d\n", step, size, errno);
    return size;
}

int main(void)
{
    file = open("/dev/zero", O_RDONLY);
    first.next = &second;
    strcpy(first.name, "alpha");
    for (int step = 1; step <= 4; step++) {
        connections = step;
        byte_value++;
        first.connections = step * 2;
        first.level = (unsigned char)(step + 200);
        first.small = (short)-step;
        first.flag = (unsigned)step;
        first.mode = (unsigned)step * 4;
        hidden++;
        big_value++;
        outer(step);
        other(step);
        recursive(step, step);
        direct(step);
    }
    return hidden == 21 && limit == 3 ? 0 : 1;
}
