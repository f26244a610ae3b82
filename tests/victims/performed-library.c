// SPDX-License-Identifier: GPL-3.0-or-later
// A function with arguments of every kind in every place, and one that does not come back the usual
// way.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

double seen[32];

int mixed(int a, double b, long c, float d, char *e, int f, int g, int h, long double i, int j,
          double k, double l, double m, double n, double o, double p, double q, int r)
{
    double all[] = {a, b, (double)c, d, e[0], f, g, h, (double)i, j, k, l, m, n, o, p, q, r};
    for (unsigned at = 0; at < sizeof all / sizeof *all; at++)
        seen[at] = all[at];
    return 1;
}

double added(int count, ...)
{
    va_list list;
    va_start(list, count);
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += va_arg(list, double) + va_arg(list, int);
    va_end(list);
    seen[0] = sum;
    return sum;
}

long double wide(long double x)
{
    seen[0] = (double)x;
    return x;
}

void fall(void)
{
    *(volatile int *)0 = 1;
}

void leap(jmp_buf *where)
{
    longjmp(*where, 1);
}
