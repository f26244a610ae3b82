// Statements and conditions of all kinds, for faults that are made in the source and in the
// compiled program and must do the same. Uninitialised variables are not printed.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int calls;
static int g(int x)
{
    calls++;
    printf("g%d ", x);
    return x % 5;
}
static void note(const char *s)
{
    calls += 2;
    printf("%s ", s);
}
// Comes out of macros in three ways.
#define CHECK(x) ((x) > 2)
#define LOG(x)   note(x)
#define BOTH(a, b)                                                                                 \
    do {                                                                                           \
        note(a);                                                                                   \
        note(b);                                                                                   \
    } while (0)
static int f(int a, int b, const char *s)
{
    int x = 0, y;
    char buf[10] = "abcdefg";
    bool flag = false;
    unsigned char small = 255;
    y = 5;
    if (a > 3 && b > 4) {
        g(a);
        x = a + 1;
    }
    memcpy(buf, s, 3);
    note(buf);
    if (!(a || !b))
        x = 7;
    else
        y += 2;
    while (a > 0 && b > 0) {
        a--;
        b -= 2;
        g(a ? b : x);
    }
    for (int i = 0; i < 4 && x < 100; i++) {
        if (g(i) == 3)
            continue;
        if (g(i + x) == 4 || g(i * 2) == 2)
            break;
        g(x);
        x += i;
    }
    if (CHECK(x) || (y > 3 && !flag)) {
        LOG("log");
        flag = true;
    }
    LOG("two");
    BOTH("p", "q");
    printf("%d %d %d %d %d\n", x, g(y / 2), flag, small, g(x - y));
    return x;
}
static int h(int n)
{
    int total = 0, count = 0, i;
    do {
        count++;
        total += n;
        if (total > 50 || count > 9)
            break;
    } while (total < 100 && n != 0);
    switch (n % 3) {
    case 0:
        note("zero");
        total = 1;
        break;
    case 1:
        note("one");
        total = 2;
        count = 3;
        g(total + count);
        break;
    default:
        if (n < 0) {
            return -1;
        }
        g(n);
    }
    for (i = 0; i < 3; i++)
        total += i;
    if (n == 4)
        goto out;
    total++;
    g(total % 7);
    if (n > 2) {
        note("big");
    } else if (n > 1 || count > 2) {
        note("middle");
    } else {
        note("small");
    }
out:
    printf("%d %d\n", total, count);
    return total;
}
static int value(int a, int b)
{
    int result = -1;
    bool both = a && b;
    int pick = a > b ? a : b;
    if ((result = g(a)) == 3)
        note("three");
    if (({
            int t = a * 2;
            t;
        }) > 6) {
        note("six");
        g(pick);
    }
    if (a > 1) {
        if (b > 1) {
            note("in");
            note("ner");
        }
        note("outer");
        g(both);
    }
    note("end");
    return result;
}
int main(int argc, char **argv)
{
    int a = atoi(argv[1]), b = atoi(argv[2]);
    int r = f(a, b, "hello");
    r += h(a);
    r += h(b);
    r += value(a, b);
    printf("%d %d\n", r, calls);
    return 0;
}
