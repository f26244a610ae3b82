// A library whose functions use every part of the x86-64 calling convention.
#ifndef ABI_H
#define ABI_H

#include <immintrin.h>

struct pair { // in two integer registers
    long a, b;
};
struct mixed { // one vector and one integer register
    double d;
    long l;
};
struct big { // in memory; returned through a hidden pointer
    long words[9];
};

long sum9(long a, long b, long c, long d, long e, long f, long g, long h, long i);
long sum_varargs(int count, ...);
double sum_doubles(int count, ...);
double ten_doubles(double a, double b, double c, double d, double e, double f, double g, double h,
                   double i, double j);
float one_float(float value);
long double two_long_doubles(long double a, long double b);
double mixture(int a, double b, long c, float d, char e, long double f, short g, double h, long i,
               long j, long k);
struct pair swap_pair(struct pair value);
struct mixed twist_mixed(struct mixed value, int more);
struct big reverse_big(struct big value);
_Complex double conjugate(_Complex double value);
__int128 wide_product(__int128 a, long b);
__m128 vector4(__m128 a, __m128 b);
__attribute__((target("avx"))) __m256 vector8(__m256 a, __m256 b, __m256 c);

#endif
