// SPDX-License-Identifier: GPL-3.0-or-later
// What the seeds of fuzz-elf, fuzz-resolve and fuzz-faults are made of; fuzz-resolve.c asks for its
// names. Never run, and not linked with anything.
extern long read(int file, void *into, unsigned long size);
struct inner {
    char a, b, c;
};
struct node {
    struct node *next;
    struct inner in[4];
    union {
        int value;
        float other;
    };
    unsigned bits : 3, more : 5;
};
struct node *list;
int kept, matrix[3][4];
__thread int per_thread;

static inline __attribute__((always_inline)) long inlined(int file)
{
    char byte;
    long r = read(file, &byte, 1);
    return r < 0 ? -1 : r;
}
__attribute__((noinline)) static long leaf(int given)
{
    struct node local = {.value = given};
    struct node *node = &local;
    for (int i = 0; i < given; i++)
        kept += matrix[i % 3][i % 4] + node->value;
    return inlined(given) + per_thread;
}
__attribute__((noinline)) long middle(int given)
{
    switch (given) {
    case 0:
        return leaf(1);
    case 1:
        return -1;
    case 2:
        return inlined(2) + 7;
    case 3:
        return list != 0 ? list->in[2].c : -5;
    case 4:
        return matrix[given][1];
    default:
        return leaf(given);
    }
}
