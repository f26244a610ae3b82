// SPDX-License-Identifier: GPL-3.0-or-later
// Goes through a lazily bound call one instruction at a time; the handler of each step makes a call
// itself while the program is in the procedure linkage table. Prints where that was and what came.
// flags: -O1 -fomit-frame-pointer -fcf-protection=none -Wl,-z,lazy
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

static uintptr_t entry, first; // of getsid, and the one that all lead to
static struct {
    const char *name;
    unsigned offset;
    int result;
} steps[16];
static unsigned count;

void on_step(int number, siginfo_t *info, void *context)
{
    uintptr_t pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    (void)number, (void)info;
    if ((pc - entry >= 16 && pc - first >= 16) || count == 16)
        return;
    steps[count].name = pc - entry < 16 ? "entry" : "first";
    steps[count].offset = (unsigned)(pc & 15);
    steps[count++].result = getppid() == -7 ? -7 : 0;
}

__attribute__((noinline)) void walker(void)
{
    __asm__ volatile("sub $136, %%rsp\n"
                     ".cfi_adjust_cfa_offset 136\n"
                     "pushfq\n"
                     "orq $0x100, (%%rsp)\n"
                     "popfq\n"
                     "xor %%edi, %%edi\n"
                     "call getsid@PLT\n"
                     "pushfq\n"
                     "andq $~0x100, (%%rsp)\n"
                     "popfq\n"
                     "add $136, %%rsp\n"
                     ".cfi_adjust_cfa_offset -136\n"
                     :
                     :
                     : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    int32_t distance;
    __asm__("lea getsid@PLT(%%rip), %0" : "=r"(entry));
    memcpy(&distance, (const char *)entry + 12, sizeof distance);
    first = entry + 16 + (uintptr_t)(intptr_t)distance;
    sigaction(SIGTRAP, &action, NULL);
    walker();
    for (unsigned i = 0; i < count; i++)
        printf("%s+%u: %d\n", steps[i].name, steps[i].offset, steps[i].result);
    return 0;
}
