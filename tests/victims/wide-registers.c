// SPDX-License-Identifier: GPL-3.0-or-later
// flags: -O1 -g
// Clears all registers of a kind, passes a place at which faults are injected, and prints those
// that are not 0 afterwards. Argument: ymm, zmm, k, st or mxcsr, of which 0x1f80 is what is
// expected.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static unsigned char out[32 * 64];

#define PLACE(name)                                                                                \
    ".globl stop_" name "\n\t.type stop_" name ", @function\nstop_" name ":\n\tnop\n\t"
#define EIGHT(text)   ".irp n,0,1,2,3,4,5,6,7\n\t" text "\n\t.endr\n\t"
#define SIXTEEN(text) ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n\t" text "\n\t.endr\n\t"
#define THIRTY_TWO(text)                                                                           \
    SIXTEEN(text)                                                                                  \
    ".irp n,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t" text "\n\t.endr\n\t"
#define VECTORS                                                                                    \
    "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",      \
        "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

static void pass_ymm(void)
{
    __asm__ volatile(SIXTEEN("vpxor %%ymm\\n, %%ymm\\n, %%ymm\\n") PLACE("ymm")
                         SIXTEEN("vmovdqu %%ymm\\n, 32*\\n(%0)") "vzeroupper\n\t"
                     :
                     : "r"(out)
                     : VECTORS);
}

static void pass_zmm(void)
{
    __asm__ volatile(THIRTY_TWO("vpxorq %%zmm\\n, %%zmm\\n, %%zmm\\n") PLACE("zmm")
                         THIRTY_TWO("vmovdqu64 %%zmm\\n, 64*\\n(%0)") "vzeroupper\n\t"
                     :
                     : "r"(out)
                     : VECTORS);
}

static void pass_k(void)
{
    __asm__ volatile(EIGHT("kxorq %%k\\n, %%k\\n, %%k\\n") PLACE("k")
                         EIGHT("kmovq %%k\\n, 8*\\n(%0)")
                     :
                     : "r"(out)
                     : "memory");
}

static void pass_st(void)
{
    __asm__ volatile("fninit\n\t" EIGHT("fldz") PLACE("st") EIGHT("fstpt 10*\\n(%0)")
                     :
                     : "r"(out)
                     : "memory");
}

static void pass_mxcsr(void)
{
    const uint32_t usual = 0x1f80;
    __asm__ volatile("ldmxcsr %1\n\t" PLACE("mxcsr") "stmxcsr (%0)\n\tldmxcsr %1\n\t"
                     :
                     : "r"(out), "m"(usual)
                     : "memory");
}

int main(int count, char **words)
{
    static const struct {
        const char *name;
        void (*pass)(void);
        int registers, size;
    } kinds[] = {{"ymm", pass_ymm, 16, 32},
                 {"zmm", pass_zmm, 32, 64},
                 {"k", pass_k, 8, 8},
                 {"st", pass_st, 8, 10},
                 {"mxcsr", pass_mxcsr, 1, 4}};
    for (int i = 0; count > 1 && i < 5; i++) {
        if (strcmp(words[1], kinds[i].name) != 0)
            continue;
        kinds[i].pass();
        for (int j = 0; j < kinds[i].registers; j++) {
            const unsigned char *bytes = out + j * kinds[i].size;
            int used = 0;
            for (int k = 0; k < kinds[i].size; k++)
                used |= bytes[k];
            if (used == 0)
                continue;
            printf("%s%d ", kinds[i].name, j);
            for (int k = kinds[i].size; k-- > 0;)
                printf("%02x", bytes[k]);
            printf("\n");
        }
    }
    return 0;
}
