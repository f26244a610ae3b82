// SPDX-License-Identifier: GPL-3.0-or-later
// Code that a debugger disturbs easily. machine-state red-zone|string|vector|modified [COUNT]
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// Keeps a value below the stack pointer, where a signal frame or a stub must not write; rdi comes
// back from there.
long red_zone(long value);
__asm__(".text\n.globl red_zone, red_place\n.type red_zone, @function\n"
        "red_zone: movq %rdi, -8(%rsp)\n movq %rdi, -128(%rsp)\n"
        "red_place: nopl 0(%rax, %rax)\n nopl 0(%rax, %rax)\n"
        "movq -8(%rsp), %rax\n cmpq -128(%rsp), %rax\n je 1f\n movq $-1, %rax\n 1: ret\n"
        ".size red_zone, . - red_zone\n");

// rep stosb, then rep scasb: returns how many bytes were written.
long fill(char *text, long count);
__asm__(".globl fill, fill_place\n.type fill, @function\n"
        "fill: movq %rsi, %rcx\n movb $'x', %al\n movq %rdi, %rdx\n"
        "fill_place: rep stosb\n movq %rdi, %rax\n subq %rdx, %rax\n ret\n"
        ".size fill, . - fill\n");

// Adds 1 to the four numbers of a vector register, count times, which stays in the register all the
// time.
void spin(long count, int *numbers);
__asm__(".globl spin, spin_place\n.type spin, @function\n"
        "spin: pxor %xmm9, %xmm9\n pcmpeqd %xmm8, %xmm8\n"
        "spin_place: psubd %xmm8, %xmm9\n nopl 0(%rax, %rax)\n decq %rdi\n jnz spin_place\n"
        "movdqu %xmm9, (%rsi)\n ret\n.size spin, . - spin\n");

static long rounds;

static void *vector(void *result)
{
    spin(rounds, result);
    return NULL;
}

static int vectors(void)
{
    enum { THREADS = 6 };
    pthread_t threads[THREADS];
    int numbers[THREADS][4], wrong = 0;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, vector, numbers[i]) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        for (int j = 0; j < 4; j++)
            wrong += numbers[i][j] != (int)rounds;
    printf("%d wrong\n", wrong);
    return 0;
}

long answer(void);
__asm__(".globl answer\n.type answer, @function\nanswer: movl $42, %eax\n ret\n nop\n nop\n"
        ".size answer, . - answer\n");

// Calls code, writes it anew, and calls it again.
static int modified(void)
{
    static const unsigned char code[] = {0xb8, 43, 0, 0, 0, 0xc3};
    unsigned char *page =
        (unsigned char *)((unsigned long)answer & ~((unsigned long)sysconf(_SC_PAGESIZE) - 1));
    long first = answer();
    if (mprotect(page, 2 * (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return 77;
    memcpy((void *)(unsigned long)answer, code, sizeof code);
    printf("%ld %ld\n", first, answer());
    return 0;
}

int main(int count, char **words)
{
    static char text[5000];
    const char *mode = count > 1 ? words[1] : "";
    long sum = 0;
    rounds = count > 2 ? atol(words[2]) : 1;
    if (strcmp(mode, "vector") == 0)
        return vectors();
    if (strcmp(mode, "modified") == 0)
        return modified();
    for (long i = 0; i < rounds; i++)
        if (strcmp(mode, "red-zone") == 0)
            sum += red_zone(i) != i;
        else
            sum += fill(text, 1000);
    printf("%ld\n", sum);
    return 0;
}
