// See abi.h.
#include "abi.h"

#include <stdarg.h>

long sum9(long a, long b, long c, long d, long e, long f, long g, long h, long i)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}
long sum_varargs(int count, ...)
{
    va_list args;
    va_start(args, count);
    long sum = 0;
    for (int i = 0; i < count; i++)
        sum = sum * 3 + va_arg(args, long);
    va_end(args);
    return sum;
}
double sum_doubles(int count, ...)
{
    va_list args;
    va_start(args, count);
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum = sum * 3 + va_arg(args, double);
    va_end(args);
    return sum;
}
double ten_doubles(double a, double b, double c, double d, double e, double f, double g, double h,
                   double i, double j)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j;
}
float one_float(float value)
{
    return value * 1.5f;
}
long double two_long_doubles(long double a, long double b)
{
    return a / b;
}
double mixture(int a, double b, long c, float d, char e, long double f, short g, double h, long i,
               long j, long k)
{
    return a + 2 * b + 3 * (double)c + 4 * d + 5 * e + 6 * (double)f + 7 * g + 8 * h +
           9 * (double)i + 10 * (double)j + 11 * (double)k;
}
struct pair swap_pair(struct pair value)
{
    return (struct pair){value.b, value.a};
}
struct mixed twist_mixed(struct mixed value, int more)
{
    return (struct mixed){(double)value.l + more, (long)value.d};
}
struct big reverse_big(struct big value)
{
    struct big result;
    for (int i = 0; i < 9; i++)
        result.words[i] = value.words[8 - i];
    return result;
}
_Complex double conjugate(_Complex double value)
{
    return __real__ value - 1i * __imag__ value;
}
__int128 wide_product(__int128 a, long b)
{
    return a * b;
}
__m128 vector4(__m128 a, __m128 b)
{
    return _mm_sub_ps(_mm_mul_ps(a, a), b);
}
__attribute__((target("avx"))) __m256 vector8(__m256 a, __m256 b, __m256 c)
{
    return _mm256_sub_ps(_mm256_mul_ps(a, b), c);
}
