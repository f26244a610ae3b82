// A plug-in trigger that is never true and leaves nothing as it was: the vector and x87 registers,
// the flags of what floating-point operations met, how they round and which of them trap.
#include <ordeal.h>

#include <immintrin.h>

__attribute__((target("avx"), noinline)) static void clobber_avx(void)
{
    __asm__ volatile("vpcmpeqd %%xmm0, %%xmm0, %%xmm0\n vinsertf128 $1, %%xmm0, %%ymm0, %%ymm0\n"
                     "vmovaps %%ymm0, %%ymm1\n vmovaps %%ymm0, %%ymm2\n vmovaps %%ymm0, %%ymm3\n"
                     "vmovaps %%ymm0, %%ymm4\n vmovaps %%ymm0, %%ymm5\n vmovaps %%ymm0, %%ymm6\n"
                     "vmovaps %%ymm0, %%ymm7\n vmovaps %%ymm0, %%ymm15"
                     :
                     :
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm15");
}

// As fesetround() and feenableexcept(); and an inexact result stays where it is, about to trap.
static void clobber_modes(void)
{
    const unsigned short upward = 0x800, inexact = 0x20;
    static const double three = 3;
    unsigned short control;
    __asm__ volatile("fnclex\n fnstcw %0" : "=m"(control));
    control = (unsigned short)((control | upward) & ~inexact);
    __asm__ volatile("fldcw %0\n fld1\n fdivl %1" : : "m"(control), "m"(three));
    _mm_setcsr(_mm_getcsr() | _MM_ROUND_UP);
}

static int eval(void *state, const struct ordeal_call *call)
{
    volatile long double x = 2;
    volatile double y = 1;
    x = (x * 3 + 1) / 3;
    y /= 3;
    if (__builtin_cpu_supports("avx"))
        clobber_avx();
    else
        __asm__ volatile("pcmpeqd %%xmm0, %%xmm0\n movaps %%xmm0, %%xmm1" ::: "xmm0", "xmm1");
    clobber_modes();
    (void)state, (void)call;
    return 0;
}

ORDEAL_TRIGGER(clobber, NULL, eval);
