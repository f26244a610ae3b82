// A plug-in trigger that is never true and leaves nothing in the vector and x87 registers, nor in
// the flags of what floating-point operations met.
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
    (void)state, (void)call;
    return 0;
}

ORDEAL_TRIGGER(clobber, NULL, eval);
