// What every type of software fault can be seen in: one line for each, by a function of its own.
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline))
static int kept, other;
static char room[64] = "................................";

APART static void overflow(void)
{
    static const char from[32] = "abcdefghijklmnopqrstuvwxyz";
    volatile size_t size = 4;
    memcpy(room, from, size);
}
APART static int element(const int *table, int i)
{
    return table[i];
}
APART static int integer(int x)
{
    return x * 10;
}
APART static int operator_(int x, int y)
{
    return x * y;
}
APART static int pointer(const int *p)
{
    return *p;
}
APART static size_t allocation(size_t size)
{
    void *block = malloc(size);
    size_t got = malloc_usable_size(block);
    free(block);
    return got;
}
APART static int boolean(int x)
{
    int larger = x > 3;
    return larger;
}
APART static int branch(int x)
{
    if (x > 3)
        return 1;
    return 2;
}
APART static void release(void *block)
{
    kept = 0;
    free(block);
}
APART static void store(int x)
{
    kept = 1;
    other = x;
}
APART static int loop(int n)
{
    int sum = 0;
    for (int i = 0; i < n && sum < 50; i++)
        sum += 5;
    return sum;
}
APART static int difference(int x, int y)
{
    return x - y;
}
APART static void note(int x)
{
    other = other * 10 + x;
}
APART static int call(int x)
{
    other = x;
    note(4);
    return other;
}
APART static int initial(void)
{
    int value = 5;
    return value + 1;
}
APART static int again(int x)
{
    int value = x;
    value = 7;
    return value;
}
APART static int expression(int x)
{
    int value = x;
    value = x * 3;
    return value;
}
APART static int guarded(int x)
{
    other = 1;
    if (x > 3)
        other = 2;
    return other;
}
APART static int either(int x)
{
    if (x > 3)
        other = 1;
    else
        other = 2;
    return other;
}
APART static int both(int x, int y)
{
    if (x > 3 && y > 3)
        return 1;
    return 2;
}
APART static int any(int x, int y)
{
    if (x > 3 || y > 3)
        return 1;
    return 2;
}
APART static int part(void)
{
    other = 1;
    kept = 2;
    other = 3;
    return other + kept;
}
APART static int passed(int x, int y)
{
    other = x;
    other = 0;
    note(y);
    return other;
}
APART static int worked_out(int x)
{
    other = 0;
    note(x + 2);
    return other;
}
APART static int begun(void)
{
    int value = 5;
    if (kept > 1000)
        other = 0;
    return value + 1;
}
APART static int assigned(void)
{
    int value;
    value = 5;
    if (kept > 1000)
        other = 0;
    return value + 1;
}

int main(void)
{
    volatile int four = 4, two = 2;
    static const int table[] = {10, 11, 12, 13, 14, 15};
    overflow();
    printf("%s %d %d %d %d\n", room, element(table, four), integer(four), operator_(four, two),
           pointer(&table[2]));
    printf("%d %d %d\n", allocation(128) >= 128, boolean(four), branch(four));
    void *block = malloc(3000);
    size_t used = mallinfo2().uordblks;
    release(block);
    store(four);
    printf("%d %d %d %d\n", mallinfo2().uordblks < used, kept, other, loop(four));
    printf("%d %d %d %d %d\n", difference(four, two), call(2), initial(), again(two),
           expression(two));
    printf("%d %d %d %d %d\n", guarded(two), either(four), both(two, four), any(four, two), part());
    printf("%d %d\n", passed(four, two), worked_out(four));
    printf("%d\n", begun());
    printf("%d\n", assigned());
    return 0;
}
