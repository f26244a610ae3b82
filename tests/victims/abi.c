// Calls every function of abi.h three times and prints what came back.
#include "abi.h"

#include <stdio.h>

__attribute__((target("avx"), noinline)) static void call_avx(float by)
{
    __m256 a = _mm256_setr_ps(1, 2, 3, 4, 5, 6, 7, by);
    __m256 b = _mm256_set1_ps(by);
    float out[8];
    _mm256_storeu_ps(out, vector8(a, b, _mm256_setr_ps(8, 7, 6, 5, 4, 3, 2, 1)));
    printf("vector8 %g %g %g %g %g %g %g %g\n", out[0], out[1], out[2], out[3], out[4], out[5],
           out[6], out[7]);
}

static void call_vectors(float by)
{
    float out[4];
    _mm_storeu_ps(out, vector4(_mm_setr_ps(1, 2, 3, by), _mm_set1_ps(by)));
    printf("vector4 %g %g %g %g\n", out[0], out[1], out[2], out[3]);
    if (__builtin_cpu_supports("avx"))
        call_avx(by);
}

static void call_structs(long by)
{
    struct pair pair = swap_pair((struct pair){by, -by});
    printf("swap_pair %ld %ld\n", pair.a, pair.b);
    struct mixed mixed = twist_mixed((struct mixed){2.5 * (double)by, 7}, 3);
    printf("twist_mixed %g %ld\n", mixed.d, mixed.l);
    struct big big = reverse_big((struct big){{1, 2, 3, 4, 5, 6, 7, 8, by}});
    printf("reverse_big");
    for (int i = 0; i < 9; i++)
        printf(" %ld", big.words[i]);
    printf("\n");
}

// What floating-point operations met since the flags were last cleared: inexact, in one of them;
// how they round and what traps; how full the x87 stack is.
static void call_between_flags(int sse, int x87)
{
    volatile double a = 1, b = 3;
    volatile long double c = 1, d = 3;
    unsigned short status, control;
    __asm__ volatile("fnclex");
    _mm_setcsr(_mm_getcsr() & ~0x3fu);
    if (sse)
        a /= b;
    if (x87)
        c /= d;
    struct pair pair = swap_pair((struct pair){1, 2});
    __asm__ volatile("fnstsw %0\n fnstcw %1" : "=m"(status), "=m"(control));
    unsigned sse_state = _mm_getcsr();
    printf("flags %x %x control %x top %d around %ld\n", sse_state, status & 0x3f, control,
           status >> 11 & 7, pair.a);
    c = 1 / d;
    printf("a third %La\n", c);
}

int main(void)
{
    for (int i = 1; i <= 3; i++) {
        printf("sum9 %ld\n", sum9(1, 2, 3, 4, 5, 6, 7, 8, i));
        printf("sum_varargs %ld\n", sum_varargs(8, 1L, 2L, 3L, 4L, 5L, 6L, 7L, (long)i));
        printf("sum_doubles %g\n", sum_doubles(9, 1., 2., 3., 4., 5., 6., 7., 8., i / 2.));
        printf("ten_doubles %g\n", ten_doubles(1, 2, 3, 4, 5, 6, 7, 8, 9, i / 4.));
        printf("one_float %g\n", one_float((float)i));
        printf("two_long_doubles %.18Lg\n", two_long_doubles(i, 3));
        printf("mixture %g\n", mixture(1, 2.5, 3, 4.5f, 5, 6.25L, 7, 8.5, 9, 10, i));
        call_structs(i);
        _Complex double number = conjugate(i + 2i);
        printf("conjugate %g %g\n", __real__ number, __imag__ number);
        __int128 product = wide_product(((__int128)i << 80) + 5, 3);
        printf("wide_product %llx %llx\n", (unsigned long long)(product >> 64),
               (unsigned long long)product);
        call_vectors((float)i);
        call_between_flags(i & 1, i & 2);
    }
    return 0;
}
