// SPDX-License-Identifier: GPL-3.0-or-later
// From a stub near a system call to inside_call() and back. Works on a stack of its own, uses the
// program's only for a return address below the red zone, and changes no register but rax, rcx and
// r11, which the kernel changes too. Whenever a signal arrives the tracer puts the program back to the
// call, or behind it; for that it has to know from the address what has happened so far.
#include "observe/inside/layout.h"

        .section ordeal_inside, "ax", @progbits
        .global inside_entry, inside_made, inside_kept, inside_return_done
        .global inside_return_undone, inside_started, inside_real, inside_kernel
        .hidden inside_entry, inside_made, inside_kept, inside_return_done
        .hidden inside_return_undone, inside_started, inside_real, inside_kernel

        .balign 16
inside_entry:
        mov     $186, %eax // gettid
        syscall
        movzbl  %al, %ecx
        shl     $INSIDE_SLOT_BITS, %rcx
        add     first_slot(%rip), %rcx
        cmp     %eax, INSIDE_TID(%rcx)
        jne     no_slot
        cmpl    $0, INSIDE_PHASE(%rcx)
        jne     no_slot
        mov     (%rsp), %rax
        mov     %rax, INSIDE_NEAR(%rcx)
        mov     %rdi, INSIDE_RDI(%rcx)
        mov     %rsi, INSIDE_RSI(%rcx)
        mov     %rdx, INSIDE_RDX(%rcx)
        mov     %r10, INSIDE_R10(%rcx)
        mov     %r8, INSIDE_R8(%rcx)
        mov     %r9, INSIDE_R9(%rcx)
        mov     %rbx, INSIDE_RBX(%rcx)
        mov     %rbp, INSIDE_RBP(%rcx)
        mov     %r12, INSIDE_R12(%rcx)
        mov     %r13, INSIDE_R13(%rcx)
        mov     %r14, INSIDE_R14(%rcx)
        mov     %r15, INSIDE_R15(%rcx)
        mov     %rsp, INSIDE_RSP(%rcx)
        movl    $1, INSIDE_PHASE(%rcx)
inside_started:
        mov     %rcx, %rbx
        lea     INSIDE_STACK(%rbx), %rsp
        mov     %rbx, %rdi
        mov     (INSIDE_STUB_NUMBER - INSIDE_STUB_BACK)(%rax), %esi
        call    inside_call
        test    %eax, %eax
        mov     %rbx, %rcx
        mov     INSIDE_RDI(%rcx), %rdi
        mov     INSIDE_RSI(%rcx), %rsi
        mov     INSIDE_RDX(%rcx), %rdx
        mov     INSIDE_R10(%rcx), %r10
        mov     INSIDE_R8(%rcx), %r8
        mov     INSIDE_R9(%rcx), %r9
        mov     INSIDE_RBX(%rcx), %rbx
        mov     INSIDE_RBP(%rcx), %rbp // C gave the others back
        mov     INSIDE_RESULT(%rcx), %rax
        mov     INSIDE_RSP(%rcx), %rsp
        jz      undone
        movl    $0, INSIDE_PHASE(%rcx)
inside_return_done:
        ret
undone:
        movl    $0, INSIDE_PHASE(%rcx)
no_slot:
        mov     (%rsp), %rcx
        mov     (INSIDE_STUB_NUMBER - INSIDE_STUB_BACK)(%rcx), %eax
        lea     (INSIDE_STUB_UNDONE - INSIDE_STUB_BACK)(%rcx), %rcx
        mov     %rcx, (%rsp)
inside_return_undone:
        ret

// void inside_real(struct inside_slot *slot, uint64_t number): makes the program's call.
        .balign 16
inside_real:
        push    %rbx
        mov     %rdi, %rbx
        mov     %esi, %eax
        mov     INSIDE_RDI(%rbx), %rdi
        mov     INSIDE_RSI(%rbx), %rsi
        mov     INSIDE_RDX(%rbx), %rdx
        mov     INSIDE_R10(%rbx), %r10
        mov     INSIDE_R8(%rbx), %r8
        mov     INSIDE_R9(%rbx), %r9
        syscall
inside_made:
        mov     %rax, INSIDE_RESULT(%rbx)
        movl    $2, INSIDE_PHASE(%rbx)
inside_kept:
        pop     %rbx
        ret

// int64_t inside_kernel(uint64_t number, uint64_t first, void *second): a call of our own.
        .balign 16
inside_kernel:
        mov     %edi, %eax
        mov     %rsi, %rdi
        mov     %rdx, %rsi
        syscall
        ret

        .balign 8
first_slot:
        .quad   INSIDE_BASE + INSIDE_SLOT_AT

        .section .note.GNU-stack, "", @progbits
