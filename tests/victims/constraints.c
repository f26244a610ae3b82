// Where the constraints on software faults hold, and where they are violated: one function each.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int kept;
static int seen;

static int count(int x)
{
    seen += x;
    return seen;
}
// C01: the result is not used
void c01_holds(int x)
{
    kept = x;
    count(x);
}
int c01_violated(int x)
{
    kept = 1;
    return count(x);
}
// C02: not the only statement
void c02_holds(int x)
{
    while (x-- > 0) {
        kept = x;
        count(x);
    }
}
void c02_violated(int x)
{
    while (x-- > 0)
        count(x * 3 + kept / 2 - 1);
    while (kept-- > 0) {
        count((kept + 1) * (kept - 1));
    }
}
// C03: local
int c03_holds(int x)
{
    int local = 5;
    count(x);
    return local + x;
}
int c03_violated(int x)
{
    static int lasting;
    kept = 5;
    lasting = 6;
    return kept + x + lasting;
}
// C04: first assignment
int c04_holds(int x)
{
    int value;
    value = 4;
    count(x);
    return value;
}
int c04_violated(int x)
{
    int value = x;
    value = 4;
    count(x);
    return value;
}
int c04_parameter(int x)
{
    x = 4;
    count(x);
    return x;
}
// C05: not in a loop
int c05_holds(int x)
{
    int step = 2;
    int other;
    int sum = x;
    other = 3;
    while (x-- > 0)
        sum += step + other;
    return sum;
}
int c05_violated(int x)
{
    int sum = x;
    while (x-- > 0) {
        int step = 2;
        int other;
        other = 3;
        sum += step + other;
    }
    return sum;
}
// C06: not part of a for
int c06_holds(int x)
{
    int i, sum = x;
    i = 0;
    for (; i < 3;) {
        sum += i;
        i += 2;
    }
    return sum;
}
int c06_violated(int x)
{
    int i, sum = x;
    for (i = 0; i < 3; i += 2)
        sum += i;
    for (int j = 1; j < 4; j++)
        sum += j;
    return sum;
}
// C07: not the first assignment
int c07_holds(int x)
{
    int value = 1;
    count(value);
    value = x + 2;
    return value;
}
int c07_violated(int x)
{
    int value;
    count(1);
    value = x + 2;
    return value;
}
// C08: no else
int c08_holds(int x)
{
    kept = 0;
    if (x > 3)
        kept = 1;
    return kept;
}
int c08_violated(int x)
{
    kept = 0;
    if (x > 3)
        kept = 1;
    else
        kept = 2;
    return kept;
}
// C09: at most five statements, no loop
int c09_holds(int x)
{
    kept = 0;
    if (x > 3) {
        kept = 1;
        kept += x;
        kept *= 2;
        kept -= 3;
        seen = kept;
    }
    return kept;
}
int c09_six(int x)
{
    kept = 0;
    if (x > 3) {
        kept = 1;
        kept += x;
        kept *= 2;
        kept -= 3;
        seen = kept;
        seen++;
    }
    return kept;
}
int c09_nested(int x)
{
    kept = 0;
    if (x > 3) {
        kept = 1;
        if (x > 4) {
            kept += x;
            kept *= 2;
        }
        seen = kept;
        seen++;
    }
    return kept;
}
int c09_loop(int x)
{
    kept = 0;
    if (x > 3) {
        while (x-- > 0)
            kept++;
    }
    return kept;
}
// C10: consecutive statements of one block, none of them control
int c10_holds(int x)
{
    kept = x;
    seen = 2;
    return kept;
}
int c10_violated(int x)
{
    kept = x;
    if (x > 3)
        seen = 2;
    count(x);
    return kept;
}
// C11: two variables
void c11_holds(int x, int y)
{
    kept = y;
    count(x);
}
void c11_violated(int x)
{
    kept = 1;
    count(x);
}
// What looks alike and is none.
const char *returns(int x)
{
    if (count(x) > 1000)
        return NULL;
    return x > 3 ? "more" : "less";
}
int loops(int a, int b)
{
    while (a > 0 && b > 0)
        a -= count(1);
    return a;
}
int either(int a, int b, int c)
{
    kept = 0;
    if (a > 1 || b > 2)
        kept = 1;
    if (!a || !b || !c)
        return kept;
    return 5;
}
int whole(int a, int b)
{
    kept = 0;
    if (a > 3 && b > 4)
        kept = a;
    return kept;
}
void copies(char *to, const char *from)
{
    kept = 1;
    memcpy(to, from, 4);
    memset(to, 0, 2);
}

int main(int argc, char **argv)
{
    int x = argc > 1 ? atoi(argv[1]) : 4, y = argc > 2 ? atoi(argv[2]) : 5;
    char to[8] = "abcdefg";
    c01_holds(x);
    c01_violated(x);
    c02_holds(x);
    c02_violated(x);
    c11_holds(x, y);
    c11_violated(x);
    copies(to, "wxyz");
    printf("%d %d %s\n", kept, seen, to);
    printf("%d %d\n", c03_holds(x), c03_violated(x));
    printf("%d %d %d\n", c04_holds(x), c04_violated(x), c04_parameter(x));
    printf("%d %d\n", c05_violated(x), c06_violated(x));
    printf("%d %d %d %d\n", c05_holds(x), c06_holds(x), c07_holds(x), c07_violated(x));
    printf("%d %d\n", c08_holds(x), c08_violated(x));
    printf("%d %d %d %d\n", c09_holds(x), c09_six(x), c09_nested(x), c09_loop(x));
    printf("%d %d\n", c10_holds(x), c10_violated(x));
    printf("%s %d %d %d\n", returns(x), loops(x, y), either(x, y, 1), whole(x, y));
    printf("%d %d\n", kept, seen);
    return 0;
}
