// SPDX-License-Identifier: GPL-3.0-or-later
// flags: -O1 -g -fno-inline
// Puts known values into registers, passes a place at which faults are injected, and prints what is
// there afterwards. Argument: which kind of register.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint64_t general[16]; // rax rdx rcx rbx rsi rdi rbp rsp r8 .. r15, as they came out
static uint64_t flags;
static unsigned char vectors[16][32];
static unsigned char top[16];
uint64_t stack_before;

// Every register has 0x1111111111111111 times its number, but rsp.
__attribute__((noinline)) static void pass_general(void)
{
    __asm__ volatile(
        "push %%rbp\n\tpush %%rbx\n\tpush %%r12\n\tpush %%r13\n\tpush %%r14\n\t"
        "push %%r15\n\t"
        "mov %%rsp, stack_before(%%rip)\n\t"
        "mov $0x0, %%eax\n\t"
        "movabs $0x1111111111111111, %%rdx\n\t"
        "movabs $0x2222222222222222, %%rcx\n\t"
        "movabs $0x3333333333333333, %%rbx\n\t"
        "movabs $0x4444444444444444, %%rsi\n\t"
        "movabs $0x5555555555555555, %%rdi\n\t"
        "movabs $0x6666666666666666, %%rbp\n\t"
        "movabs $0x8888888888888888, %%r8\n\t"
        "movabs $0x9999999999999999, %%r9\n\t"
        "movabs $0xaaaaaaaaaaaaaaaa, %%r10\n\t"
        "movabs $0xbbbbbbbbbbbbbbbb, %%r11\n\t"
        "movabs $0xcccccccccccccccc, %%r12\n\t"
        "movabs $0xdddddddddddddddd, %%r13\n\t"
        "movabs $0xeeeeeeeeeeeeeeee, %%r14\n\t"
        "movabs $0xffffffffffffffff, %%r15\n\t"
        ".globl stop_general\n\t.type stop_general, @function\nstop_general:\n\t"
        "nop\n\t"
        "mov %%rax, general(%%rip)\n\tmov %%rdx, 8+general(%%rip)\n\t"
        "mov %%rcx, 16+general(%%rip)\n\tmov %%rbx, 24+general(%%rip)\n\t"
        "mov %%rsi, 32+general(%%rip)\n\tmov %%rdi, 40+general(%%rip)\n\t"
        "mov %%rbp, 48+general(%%rip)\n\tmov %%rsp, 56+general(%%rip)\n\t"
        "mov %%r8, 64+general(%%rip)\n\tmov %%r9, 72+general(%%rip)\n\t"
        "mov %%r10, 80+general(%%rip)\n\tmov %%r11, 88+general(%%rip)\n\t"
        "mov %%r12, 96+general(%%rip)\n\tmov %%r13, 104+general(%%rip)\n\t"
        "mov %%r14, 112+general(%%rip)\n\tmov %%r15, 120+general(%%rip)\n\t"
        "mov stack_before(%%rip), %%rsp\n\t"
        "pop %%r15\n\tpop %%r14\n\tpop %%r13\n\tpop %%r12\n\tpop %%rbx\n\tpop %%rbp\n\t"
        :
        :
        : "rax", "rdx", "rcx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
}

__attribute__((noinline)) static void pass_flags(void)
{
    uint64_t now;
    __asm__ volatile("push $0x202\n\tpopf\n\t"
                     ".globl stop_flags\n\t.type stop_flags, @function\nstop_flags:\n\t"
                     "nop\n\tpushf\n\tcld\n\tpop %0\n\t"
                     : "=r"(now)
                     :
                     : "cc", "memory");
    flags = now;
}

__attribute__((noinline)) static void pass_vectors(int wide)
{
    memset(vectors, 0, sizeof vectors);
    if (wide)
        __asm__ volatile("vpxor %%ymm0, %%ymm0, %%ymm0\n\tvpxor %%ymm7, %%ymm7, %%ymm7\n\t"
                         "vpxor %%ymm15, %%ymm15, %%ymm15\n\t"
                         ".globl stop_wide\n\t.type stop_wide, @function\nstop_wide:\n\tnop\n\t"
                         "vmovdqu %%ymm0, (%0)\n\tvmovdqu %%ymm7, 224(%0)\n\t"
                         "vmovdqu %%ymm15, 480(%0)\n\tvzeroupper\n\t"
                         :
                         : "r"(vectors)
                         : "xmm0", "xmm7", "xmm15", "memory");
    else
        __asm__ volatile(
            "pxor %%xmm0, %%xmm0\n\tpxor %%xmm7, %%xmm7\n\tpxor %%xmm15, %%xmm15\n\t"
            ".globl stop_vector\n\t.type stop_vector, @function\nstop_vector:\n\tnop\n\t"
            "movdqu %%xmm0, (%0)\n\tmovdqu %%xmm7, 224(%0)\n\tmovdqu %%xmm15, 480(%0)\n\t"
            :
            : "r"(vectors)
            : "xmm0", "xmm7", "xmm15", "memory");
}

__attribute__((noinline)) static void pass_x87(void)
{
    __asm__ volatile("fld1\n\t"
                     ".globl stop_x87\n\t.type stop_x87, @function\nstop_x87:\n\tnop\n\t"
                     "fstpt (%0)\n\t"
                     :
                     : "r"(top)
                     : "memory", "st");
}

static void print_bytes(const char *name, const unsigned char *bytes, int size)
{
    printf("%s ", name);
    while (size-- > 0)
        printf("%02x", bytes[size]);
    printf("\n");
}

int main(int count, char **arguments)
{
    static const char *const names[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
                                        "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
    const char *kind = count > 1 ? arguments[1] : "general";
    if (strcmp(kind, "general") == 0) {
        pass_general();
        general[7] -= stack_before;
        for (int i = 0; i < 16; i++)
            printf("%s %016llx\n", names[i], (unsigned long long)general[i]);
    } else if (strcmp(kind, "flags") == 0) {
        pass_flags();
        printf("flags %03llx\n", (unsigned long long)flags);
    } else if (strcmp(kind, "x87") == 0) {
        pass_x87();
        print_bytes("st0", top, 10);
    } else {
        int wide = strcmp(kind, "wide") == 0;
        pass_vectors(wide);
        print_bytes("v0", vectors[0], wide ? 32 : 16);
        print_bytes("v7", vectors[7], wide ? 32 : 16);
        print_bytes("v15", vectors[15], wide ? 32 : 16);
    }
    return 0;
}
