// Labels as values, switches, setjmp, musttail, assembly, vectors, atomics: what is hard to clone.
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static jmp_buf back;
static atomic_int shared;
typedef int vec __attribute__((vector_size(16)));
static int interpret(const unsigned char *code)
{
    static const void *const table[] = {&&add, &&twice, &&stop};
    int value = 1;
    goto *table[*code];
add:
    value += 3;
    goto *table[*++code];
twice:
    value *= 2;
    goto *table[*++code];
stop:
    return value;
}
static int choose(int x)
{
    switch (x) {
    case 0:
        return 5;
    case 1:
        x += 2; /* fall through */
    case 2:
        return x * 3;
    case 100:
        return 7;
    default:
        return x > 50 && x < 60 ? -x : x;
    }
}
static int fail_sometimes(int x)
{
    if (x % 3 == 0)
        longjmp(back, x + 1);
    return x;
}
static int jumps(void)
{
    volatile int sum = 0;
    for (volatile int i = 1; i < 8; i++) {
        int got = setjmp(back);
        if (got == 0)
            sum += fail_sometimes(i);
        else
            sum += 100 * got;
    }
    return sum;
}
static int even(int n);
static int odd(int n)
{
    if (n == 0)
        return 0;
    __attribute__((musttail)) return even(n - 1);
}
static int even(int n)
{
    if (n == 0)
        return 1;
    __attribute__((musttail)) return odd(n - 1);
}
static int assembly(int x)
{
    int result;
    __asm__("leal (%1,%1,2), %0" : "=r"(result) : "r"(x));
    __asm__ goto("testl %0, %0\n\tjz %l[zero]" : : "r"(x) : "cc" : zero);
    return result;
zero:
    return -1;
}
static vec vectors(vec a, vec b)
{
    vec c = a * b;
    c[2] += 7;
    return c + a;
}
static int atomics(int x)
{
    atomic_fetch_add(&shared, x);
    int expected = x;
    atomic_compare_exchange_strong(&shared, &expected, 42);
    return atomic_load(&shared);
}
static double floats(double x, float y)
{
    return x / y - x * 0.5 + (x > y ? x : y);
}
static long long wide(long long a, unsigned char b)
{
    return (a << (b & 31)) ^ (a >> 3) % 7;
}
struct pair {
    int a;
    char name[12];
    double d;
};
static struct pair pairs(struct pair p)
{
    struct pair q = p;
    q.a++;
    strcpy(q.name, "copied");
    return q;
}
static int vla(int n)
{
    int a[n];
    for (int i = 0; i < n; i++)
        a[i] = i * i;
    int s = 0;
    for (int i = 0; i < n; i++)
        s += a[i];
    return s;
}
static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}
int weak_one(int x) __attribute__((weak));
int weak_one(int x)
{
    return x + 11;
}
inline __attribute__((always_inline)) static int always(int x)
{
    return x * 2 + 1;
}
__attribute__((noinline)) int variadic(int n, ...)
{
    __builtin_va_list l;
    __builtin_va_start(l, n);
    int s = 0;
    while (n--)
        s += __builtin_va_arg(l, int);
    __builtin_va_end(l);
    return s;
}
__attribute__((constructor)) static void early(void)
{
    shared = 3;
}
static __int128 huge(__int128 x)
{
    return x * x + 1;
}
static _Bool truth(int a, int b)
{
    return a && (b || !a);
}
int main(int argc, char **argv)
{
    printf("%d\n", interpret((const unsigned char[]){0, 1, 0, 2}));
    for (int i = -1; i < 60; i += 7)
        printf("%d ", choose(i));
    printf("%d %d %d\n", choose(0), choose(1), choose(100));
    printf("%d\n%d %d\n", jumps(), even(10), odd(7));
    printf("%d %d\n", assembly(5), assembly(0));
    vec v = vectors((vec){1, 2, 3, 4}, (vec){5, 6, 7, 8});
    printf("%d %d %d %d\n", v[0], v[1], v[2], v[3]);
    printf("%d %d\n", atomics(4), atomics(38));
    printf("%.6f %lld\n", floats(3.25, 1.5f), wide(123456789, 5));
    struct pair p = pairs((struct pair){1, "orig", 2.5});
    printf("%d %s %g %d\n", p.a, p.name, p.d, vla(10));
    int a[] = {3, 1, 2, 9, -4};
    qsort(a, 5, sizeof *a, compare);
    for (int i = 0; i < 5; i++)
        printf("%d ", a[i]);
    char *copy = malloc(32);
    memset(copy, 'x', 31);
    copy[31] = 0;
    printf("%s %d %d %d %lld %d\n", copy, weak_one(argc), always(4), variadic(3, 1, 2, 3),
           (long long)huge(12), truth(argc, 0));
    free(copy);
    return 0;
}
